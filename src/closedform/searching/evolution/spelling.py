"""From tapes to trees and back to pyoperon's nodes, with constants moved outward so that few are
left.

c1*a + c2*b becomes c1*(a + r*b), products and powers pass their factors on, and the outermost
factor is dropped: a gradient's direction does not depend on it. The same pass changes the units of
the inputs.
"""

from collections.abc import Collection
from fractions import Fraction
from math import copysign, isfinite, sqrt

import numpy as np

from closedform.arrays import FloatArray
from closedform.errors import ExpressionError
from closedform.expressions.evaluate import value
from closedform.expressions.operators import BY_CODE, NAMED_CONSTANTS, OPERATORS
from closedform.expressions.sums_and_products import peeled
from closedform.expressions.tape import CONSTANT_CODE, VARIABLE_CODE, TapeBatch
from closedform.expressions.tree import Constant, Token, Tree, Variable, apply, constant, variable

_EQUAL = 1e-9
_ONE = constant(1)
_HALF = Fraction(1, 2)

Affine = tuple[float, Tree | None, float]
"""A factor, what it multiplies, and what is added; without a tree it is a number, the last of the
three.
"""


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
            operator = BY_CODE[code]
            operands = (tapes.first[i], tapes.second[i])[: operator.arity]
            parts.append(apply(operator.name, *(parts[k] for k in operands)))
    return parts[-1]


def tidy(tree: Tree, factors: FloatArray) -> Tree | None:
    """The tree with each input multiplied by its factor, constants gathered and outer functions
    removed.

    None if it is a constant, or if a constant in it is not finite.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> from closedform.expressions.printing import to_text
    >>> to_text(
    ...     tidy(parse("exp(3 + 2*x*x + 6*y)", names=["x", "y"]).tree, np.array([1.0, 0.5])),
    ...     ["x", "y"],
    ... )
    'x*x + 1.5*y'
    """

    def leaf(token: Token) -> Affine:
        if isinstance(token, Variable):
            return float(factors[token.index]), variable(token.index), 0.0
        return 1.0, None, _number(token)

    try:
        with np.errstate(all="ignore"):
            inner = tree.fold(leaf, _combine)[1]
    except (ArithmeticError, ExpressionError):
        return None
    if inner is None:
        return None
    left = peeled(inner)
    return left if left is inner else tidy(left, np.ones(len(factors)))


def to_operon(tree: Tree, functions: Collection[str]) -> list[tuple[str, float]]:
    """Nodes in pyoperon's order, where the first operand stands just before its parent.

    A square that is not among the functions is spelled as a product, a power of 2 as a square.
    """

    def leaf(token: Token) -> list[tuple[str, float]]:
        return (
            [("Variable", float(token.index))]
            if isinstance(token, Variable)
            else [("Constant", _number(token))]
        )

    def node(name: str, *parts: list[tuple[str, float]]) -> list[tuple[str, float]]:
        if name == "neg":
            return (
                [*parts[0], ("Constant", -1.0), ("Mul", 0.0)]
                if "Mul" in functions
                else [*parts[0], ("Constant", 0.0), ("Sub", 0.0)]
            )
        if name == "pow" and parts[1] == [("Constant", 2.0)]:
            return node("square", parts[0])
        if name == "square" and "Square" not in functions:
            return [*parts[0], *parts[0], ("Mul", 0.0)]
        if name == "inv":
            return [*parts[0], ("Constant", 1.0), ("Div", 0.0)]
        if name == "cube":
            return [*parts[0], *parts[0], *parts[0], ("Mul", 0.0), ("Mul", 0.0)]
        return [
            *(item for part in reversed(parts) for item in part),
            (str(OPERATORS[name].operon), 0.0),
        ]

    return tree.fold(leaf, node)


def _number(token: Token) -> float:
    if isinstance(token, Constant):
        return token.value.numerator / token.value.denominator
    return float(NAMED_CONSTANTS[str(token)])


def _combine(name: str, *parts: Affine) -> Affine:
    """Apply an operator; the result's factor and offset stand outside."""
    if all(tree is None for _, tree, _ in parts):
        result = float(value(apply(name, *(_plain(part) for part in parts)), []))
        if not isfinite(result):
            raise ArithmeticError(name)
        return 1.0, None, result
    if name == "neg":
        return _times(-1.0, parts[0])
    if name in ("add", "sub"):
        return _sum(parts[0], _times(-1.0, parts[1]) if name == "sub" else parts[1])
    if name == "mul" and (parts[0][1] is None or parts[1][1] is None):
        number, other = parts if parts[0][1] is None else reversed(parts)
        return _times(number[2], other)
    if name == "div" and parts[1][1] is None:
        return _times(1 / parts[1][2], parts[0])
    if len(parts) == 1:
        return _function(name, parts[0])
    (a, x), (b, y) = (_factored(part) for part in parts)
    if name == "mul":
        return a * b, apply("mul", x, y), 0.0
    if name == "div":
        numerator, outside = (_ONE, a / b) if parts[0][1] is None else (x, a / b)
        return outside, apply("div", numerator, y), 0.0
    if name == "pow":
        return _power(parts[0], parts[1])
    return 1.0, apply(name, *(_plain(part) for part in parts)), 0.0


def _times(factor: float, part: Affine) -> Affine:
    if factor == 0:
        return 1.0, None, 0.0
    return factor * part[0], part[1], factor * part[2]


def _factored(part: Affine) -> tuple[float, Tree]:
    """A factor and what it multiplies, the offset included; a number is its own factor."""
    factor, tree, offset = part
    if tree is None:
        return offset, _ONE
    if offset == 0:
        return factor, tree
    ratio = offset / factor
    return factor, apply("sub" if ratio < 0 else "add", tree, constant(abs(ratio)))


def _function(name: str, part: Affine) -> Affine:
    a, x = _factored(part)
    operator = OPERATORS[name]
    power = operator.power
    if power is not None and (a > 0 or power.denominator == 1):
        return (sqrt(a) if power == _HALF else a ** float(power)), apply(name, x), 0.0
    if operator.homogeneous is not None and operator.parity == "even":
        return abs(a) ** operator.homogeneous, apply(name, x), 0.0
    return 1.0, apply(name, _plain(part)), 0.0


def _power(base: Affine, exponent: Affine) -> Affine:
    a, x = _factored(base)
    b = exponent[2]
    if exponent[1] is None and (a > 0 or b == round(b)):
        return (a, x, 0.0) if b == 1 else (a**b, apply("pow", x, constant(b)), 0.0)
    return 1.0, apply("pow", _plain(base), _plain(exponent)), 0.0


def _sum(first: Affine, second: Affine) -> Affine:
    (a, x, p), (b, y, q) = first, second
    if x is None or b == 0:
        return (b, y, p + q) if x is None else (a, x, p + q)
    if y is None or a == 0:
        return (a, x, p + q) if y is None else (b, y, p + q)
    if x == y:
        return (1.0, None, p + q) if a + b == 0 else (a + b, x, p + q)
    if abs(b) == 1 and abs(a) != 1:
        # The part without a constant leads, so that none is added.
        a, x, b, y = b, y, a, x
    ratio = b / a
    if abs(abs(ratio) - 1) <= _EQUAL:
        ratio = copysign(1.0, ratio)
    return a, apply("sub" if ratio < 0 else "add", x, _multiplied(abs(ratio), y)), p + q


def _plain(part: Affine) -> Tree:
    factor, tree, offset = part
    if tree is None:
        return constant(offset)
    if factor == -1 and offset != 0:
        return apply("sub", constant(offset), tree)
    return _multiplied(*_factored(part))


def _multiplied(factor: float, tree: Tree) -> Tree:
    if factor == 1:
        return tree
    if tree.root == "div" and tree.children[0] == _ONE:
        return apply("div", constant(factor), tree.children[1])
    if factor == -1:
        return apply("sub", *reversed(tree.children)) if tree.root == "sub" else apply("neg", tree)
    return apply("mul", constant(factor), tree)
