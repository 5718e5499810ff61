"""From tapes to trees and back to pyoperon's nodes, with constants moved outward so that few are left.

c1*a + c2*b becomes c1*(a + r*b), products and powers pass their factors on, and the outermost factor is dropped: a gradient's
direction does not depend on it. The same pass changes the units of the inputs.
"""

from math import isfinite, sqrt

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.evaluate import value
from closedform.expressions.operators import NAMED_CONSTANTS, OPERATORS
from closedform.expressions.tape import CODES, CONSTANT_CODE, VARIABLE_CODE, TapeBatch
from closedform.expressions.tree import Constant, Token, Tree, Variable, apply, arity, constant, variable

_NAMES = {code: name for name, code in CODES.items()}
_EQUAL = 1e-9
_ONE = constant(1)

Scaled = tuple[float, Tree | None]
"""A factor and what it multiplies; None stands for 1."""


def to_tree(tapes: TapeBatch, index: int) -> Tree | None:
    """One tree of a batch, None if a constant is not finite."""
    start, stop = tapes.starts[index], tapes.starts[index + 1]
    parts: list[Tree] = []
    for i in range(start, stop):
        code = int(tapes.codes[i])
        if code == VARIABLE_CODE:
            parts.append(variable(int(tapes.inputs[i])))
        elif code == CONSTANT_CODE:
            if not isfinite(tapes.numbers[i]):
                return None
            parts.append(constant(float(tapes.numbers[i])))
        else:
            name = _NAMES[code]
            operands = (tapes.first[i], tapes.second[i])[: OPERATORS[name].arity]
            parts.append(apply(name, *(parts[k] for k in operands)))
    return parts[-1]


def tidy(tree: Tree, factors: FloatArray) -> Tree | None:
    """The tree with each input multiplied by its factor, constants gathered and outer functions removed.

    None if it is a constant, or if a constant in it is not finite.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> from closedform.expressions.printing import to_text
    >>> to_text(tidy(parse("exp(3 + 2*x*x + 6*y)", names=["x", "y"]).tree, np.array([1.0, 0.5])), ["x", "y"])
    'x*x + 1.5*y'
    """

    def leaf(token: Token) -> Scaled:
        if isinstance(token, Variable):
            return float(factors[token.index]), variable(token.index)
        return _number(token), None

    try:
        inner = tree.fold(leaf, _combine)[1]
        if inner is None:
            return None
        peeled = peel(inner)
        return peeled if peeled is inner else tidy(peeled, np.ones(len(factors)))
    except (ArithmeticError, ValueError):
        return None


def peel(tree: Tree) -> Tree:
    """What is left without the functions of one variable around it."""
    while arity(tree.root):
        parts = [part for part in tree.children if not part.is_constant]
        if len(parts) != 1:
            break
        tree = parts[0]
    return tree


def to_operon(tree: Tree) -> list[tuple[str, float]]:
    """Nodes in pyoperon's order, where the first operand stands just before its parent."""

    def leaf(token: Token) -> list[tuple[str, float]]:
        return [("Variable", float(token.index))] if isinstance(token, Variable) else [("Constant", _number(token))]

    def node(name: str, *parts: list[tuple[str, float]]) -> list[tuple[str, float]]:
        if name == "neg":
            return [*parts[0], ("Constant", -1.0), ("Mul", 0.0)]
        if name == "inv":
            return [*parts[0], ("Constant", 1.0), ("Div", 0.0)]
        if name == "cube":
            return [*parts[0], *parts[0], *parts[0], ("Mul", 0.0), ("Mul", 0.0)]
        return [*(item for part in reversed(parts) for item in part), (str(OPERATORS[name].operon), 0.0)]

    return tree.fold(leaf, node)


def open_sum(tree: Tree) -> Tree | None:
    """The tree with a constant in front of every term of its outermost sum but one; None if it is no such sum."""
    terms: list[tuple[float, Tree]] = []
    queue = [(1.0, tree)]
    while queue:
        sign, part = queue.pop()
        if part.root in ("add", "sub"):
            first, second = part.children
            queue += [(-sign if part.root == "sub" else sign, second), (sign, first)]
        elif not part.is_constant:
            terms.append((sign, part))
    if len(terms) < 2:
        return None
    total = terms[0][1]
    for sign, term in terms[1:]:
        product = term.root == "mul" and isinstance(term.children[0].root, Constant)
        factor, rest = (_number(term.children[0].root), term.children[1]) if product else (1.0, term)
        total = apply("add", total, apply("mul", constant(factor * sign * terms[0][0]), rest))
    return total


def _number(token: Token) -> float:
    if isinstance(token, Constant):
        return token.value.numerator / token.value.denominator
    return float(NAMED_CONSTANTS[str(token)])


def _combine(name: str, *parts: Scaled) -> Scaled:
    """Apply an operator to scaled parts; the result's factor stands outside."""
    a, x = parts[0]
    if all(part is None for _, part in parts):
        result = float(
            value(
                apply(name, *(_plain(part) for part in parts)),
                [],
            )
        )
        if not isfinite(result):
            raise ArithmeticError(name)
        return result, None
    if len(parts) == 1:
        assert x is not None
        return _function(name, a, x)
    b, y = parts[1]
    if name == "mul":
        return a * b, y if x is None else x if y is None else apply("mul", x, y)
    if name == "div":
        return a / b, x if y is None else apply("div", _ONE if x is None else x, y)
    if name == "pow":
        return _power(a, x, b, y)
    return _sum(a, x, -b if name == "sub" else b, y)


def _function(name: str, a: float, x: Tree) -> Scaled:
    if name == "neg":
        return -a, x
    if name == "sqrt" and a > 0:
        return sqrt(a), apply("sqrt", x)
    factors = {"square": lambda: a * a, "cube": lambda: a**3, "inv": lambda: 1 / a, "abs": lambda: abs(a)}
    if name in factors:
        return factors[name](), apply(name, x)
    return 1.0, apply(name, _plain((a, x)))


def _power(a: float, x: Tree | None, b: float, y: Tree | None) -> Scaled:
    if y is None and x is not None and (a > 0 or b == round(b)):
        return a**b, x if b == 1 else apply("pow", x, constant(b))
    return 1.0, apply("pow", _plain((a, x)), _plain((b, y)))


def _sum(a: float, x: Tree | None, b: float, y: Tree | None) -> Scaled:
    if x is None:
        a, x, b, y = b, y, a, x
    assert x is not None
    if b == 0:
        return a, x
    if a == 0:
        return b, y
    if x == y:
        return a + b, x
    ratio = b / a
    if abs(abs(ratio) - 1) <= _EQUAL and y is not None:
        ratio = float(np.sign(ratio))
    return a, apply("sub" if ratio < 0 else "add", x, _plain((abs(ratio), y)))


def _plain(part: Scaled) -> Tree:
    factor, tree = part
    if tree is None:
        return constant(factor)
    if factor == 1:
        return tree
    return apply("neg", tree) if factor == -1 else apply("mul", constant(factor), tree)
