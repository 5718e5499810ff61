"""Write sums of functions as trees, fit their constants, and make the constants plain where that
costs nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.complexity import constant_values, with_numbers
from closedform.expressions.evaluate import evaluate
from closedform.expressions.expression import Expression
from closedform.expressions.tape import node_positions
from closedform.expressions.tree import (
    Constant,
    Token,
    Tree,
    Variable,
    apply,
    constant,
    subtrees,
    variable,
)
from closedform.field.alignment.comparison import Comparison
from closedform.field.alignment.refit import Tapes
from closedform.field.alignment.tolerances import ROUNDING
from closedform.searching.products import product_of_powers
from closedform.searching.structure_search.forms import Form, FormTerm
from closedform.searching.structure_search.quantities import USUAL_YARDSTICK, Yardstick

FIRST_STEPS, MOST_FITTED = 6, 10
"""Constants are known roughly at first: a few steps for all forms show which are worth more."""

LOWEST_POWER = Fraction(1, 10)
"""x**p with p closer to zero differs from 1 + p*log(x) by less than a network or noise shows."""

FLATTEST = 0.01
"""exp(u) differs from 1 + u by less than anything shows if u varies by less."""

STEPS, FEW_STEPS = 25, 4
DENOMINATORS = (1, 2, 3, 4)
_FIRST_HOLE = 1000


@dataclass(slots=True)
class Draft:
    """A tree with holes for numbers, which are inputs of high columns until it is done."""

    numbers: list[float] = field(default_factory=list)

    def hole(self, number: float) -> Tree:
        """A place for a number that will be fitted."""
        self.numbers.append(number)
        return variable(_FIRST_HOLE + len(self.numbers) - 1)

    def form(self, form: Form, place: int) -> Tree:
        """A form of the quantity in a place, with holes for its constants."""
        tokens = list(form.tree.tokens)
        for position in form.free:
            token = tokens[position]
            assert isinstance(token, Constant)
            tokens[position] = self.hole(float(token.value)).root
        return Tree(tuple(Variable(place) if token == Variable(0) else token for token in tokens))

    def done(self, tree: Tree) -> tuple[Tree, tuple[int, ...]]:
        """The tree with its numbers, and their positions."""
        holes = [
            place
            for place, token in enumerate(tree.tokens)
            if isinstance(token, Variable) and token.index >= _FIRST_HOLE
        ]
        tokens: list[Token] = list(tree.tokens)
        for place in holes:
            token = tokens[place]
            assert isinstance(token, Variable)
            tokens[place] = constant(self.numbers[token.index - _FIRST_HOLE]).root
        return Tree(tuple(tokens)), tuple(holes)


def written(terms: Sequence[FormTerm]) -> list[tuple[Tree, tuple[int, ...]]]:
    """A sum of forms, or its exponential if there are logarithms: a tree, and the positions of the
    constants to be fitted.
    """
    sizes = [abs(term.coefficient) for term in terms]
    if not np.isfinite(sizes).all() or min(sizes) < 1e-30 or max(sizes) > 1e30:
        return []
    logs = [term for term in terms if term.form.is_log]
    plain = [term for term in terms if not term.form.is_log]
    if not logs:
        draft = Draft()
        return [draft.done(_sum(draft, plain))]
    unit = min((term.coefficient for term in logs), key=abs)
    drafts = []
    for exponents in _exponents(logs, unit):
        draft = Draft()
        tree = _powers(draft, logs, exponents)
        if plain:
            grown = [
                FormTerm(term.form, term.place, term.coefficient / unit, term.sign)
                for term in plain
            ]
            tree = apply("mul", tree, apply("exp", _sum(draft, grown, first_is_one=False)))
        drafts.append(draft.done(tree))
    return drafts


def _exponents(logs: Sequence[FormTerm], unit: float) -> list[list[Fraction] | list[float]]:
    """Exponents of a product; if a base changes its sign, whole ones that are near."""
    exponents = [term.coefficient / unit for term in logs]
    turning = [term for term in logs if not term.sign]
    if not turning:
        return [exponents]
    if len(turning) == 1:
        return [[term.coefficient / turning[0].coefficient for term in logs]]
    found: list[list[Fraction] | list[float]] = []
    for denominator in (1, 2, 3):
        simple = [Fraction(round(exponent * denominator), denominator) for exponent in exponents]
        common = int(np.lcm.reduce([exponent.denominator for exponent in simple]))
        whole = [exponent * common for exponent in simple]
        if all(0 < abs(exponent) <= 6 for exponent in whole):
            found.append(_upright(logs, whole))
    rounded = [
        Fraction(2 * round(exponent / 2)) if abs(exponent) > 1.2 else Fraction(1)
        for exponent in exponents
    ]
    if all(0 < abs(exponent) <= 6 for exponent in rounded):
        found.append(_upright(logs, rounded))
    return [exponents for place, exponents in enumerate(found) if exponents not in found[:place]]


def _upright(logs: Sequence[FormTerm], exponents: Sequence[Fraction]) -> list[Fraction]:
    """The product or its inverse, whichever has what changes its sign above the line: a pole inside
    the data is no map.
    """
    below = any(
        term.sign == 0 and exponent < 0 for term, exponent in zip(logs, exponents, strict=True)
    )
    return [-exponent for exponent in exponents] if below else list(exponents)


def _sum(draft: Draft, terms: Sequence[FormTerm], *, first_is_one: bool = True) -> Tree:
    tree: Tree | None = None
    for number, term in enumerate(terms):
        inner = draft.form(term.form, term.place)
        relative = term.coefficient / (terms[0].coefficient if first_is_one else 1.0)
        part = inner if number == 0 and first_is_one else apply("mul", draft.hole(relative), inner)
        tree = part if tree is None else apply("add", tree, part)
    assert tree is not None
    return tree


def _powers(draft: Draft, logs: Sequence[FormTerm], exponents: Sequence[Fraction | float]) -> Tree:
    tree: Tree | None = None
    for term, exponent in zip(logs, exponents, strict=True):
        base = draft.form(term.form, term.place)
        base = apply("neg", base) if term.sign < 0 else base
        number = constant(exponent) if isinstance(exponent, Fraction) else draft.hole(exponent)
        part = base if exponent == 1 else apply("pow", base, number)
        tree = part if tree is None else apply("mul", tree, part)
    assert tree is not None
    return tree


def fit_plain(
    trees: Sequence[Tree],
    free: Sequence[tuple[int, ...]],
    comparison: Comparison,
    most: int,
    good: float,
    yardstick: Yardstick = USUAL_YARDSTICK,
) -> list[tuple[Tree, float]]:
    """Fit constants, and make those of the shortest descriptions plain where that costs nothing and
    they are good.

    What cannot be judged is left out.
    """
    if not trees:
        return []
    judged = _fitted(trees, free, comparison, FIRST_STEPS)
    if len(judged) > MOST_FITTED:
        judged.sort(key=lambda one: yardstick.of(one[0], one[2]))
    near = judged[:MOST_FITTED]
    judged = _fitted([one[0] for one in near], [one[1] for one in near], comparison, STEPS)
    points = comparison_points(comparison)
    judged = [
        one
        for one in judged
        if np.isfinite(one[2]) and one[2] < 1 and not _is_in_disguise(one[0], points)
    ]
    judged.sort(key=lambda one: yardstick.of(one[0], one[2]))
    found: dict[Tree, float] = {}
    for tree, positions, value in judged[:most]:
        plain, loss = (
            made_plain(tree, positions, value, comparison, yardstick)
            if value < good
            else (tidied(tree, comparison_points(comparison)), value)
        )
        found.setdefault(plain, loss)
    return list(found.items())


def _is_in_disguise(tree: Tree, points: FloatArray) -> bool:
    """Whether a power is so low that it is a logarithm, or an exponential so flat that it is a
    straight line: these stand among the forms themselves.
    """
    has_low_power = any(
        token == "pow" and isinstance(power, Constant) and 0 < abs(power.value) < LOWEST_POWER
        for power, token in pairwise(tree.tokens)
    )
    return has_low_power or any(
        np.ptp(evaluate(part.children[0], points)) < FLATTEST
        for part in subtrees(tree)
        if part.root == "exp"
    )


def _fitted(
    trees: Sequence[Tree], free: Sequence[Sequence[int]], comparison: Comparison, steps: int
) -> list[tuple[Tree, tuple[int, ...], float]]:
    names = tuple(f"q{place}" for place in range(comparison.blocks.shape[1]))
    # Some exponents are plain already, and have no node of their own on a tape.
    movable = []
    for tree, places in zip(trees, free, strict=True):
        nodes = node_positions(tree)
        movable.append([place for place in places if place in nodes])
    tapes, values = Tapes.of([Expression(tree, names) for tree in trees], movable).fit(
        comparison, steps
    )
    return [
        (expression.tree, positions, value)
        for expression, positions, value in zip(
            tapes.read(), tapes.positions, values.tolist(), strict=True
        )
    ]


def made_plain(
    tree: Tree,
    positions: Sequence[int],
    value: float,
    comparison: Comparison,
    yardstick: Yardstick = USUAL_YARDSTICK,
) -> tuple[Tree, float]:
    """Replace fitted constants by plain numbers, one by one, while the loss stays within its own
    uncertainty.
    """
    # Below the floor losses are alike, so what a plain number loses there is nothing.
    worse = 1 + 4 / min(comparison.n_points, yardstick.effective)
    allowed = worse * (value + yardstick.floor) - yardstick.floor + ROUNDING
    left = list(positions)
    while left:
        trials = [
            (place, number)
            for place in left
            for number in plain_numbers(constant_values(tree, [place])[0])
        ]
        if not trials:
            break
        changed = [with_numbers(tree, [place], [number]) for place, number in trials]
        others = [[other for other in left if other != place] for place, _ in trials]
        judged = _fitted(changed, others, comparison, FEW_STEPS)
        best = next((at for at, (_, _, loss) in enumerate(judged) if loss <= allowed), None)
        if best is None:
            break
        tree, _, value = judged[best]
        left.remove(trials[best][0])
    return tidied(tree, comparison_points(comparison)), value


def comparison_points(comparison: Comparison) -> FloatArray:
    """The points of a comparison, shape (n_points, n_inputs)."""
    points = comparison.blocks.transpose(0, 2, 1).reshape(-1, comparison.blocks.shape[1])
    return points[: comparison.n_points]


def plain_numbers(value: float) -> list[float]:
    """Nothing, then the nearest fractions with denominators up to four, the whole number first;
    none that is far away.
    """
    found: list[float] = [0.0]
    for denominator in DENOMINATORS:
        number = round(value * denominator) / denominator
        if abs(number) <= 12 and abs(number - value) < 0.15 * abs(value) and number not in found:
            found.append(number)
    return found


_ZERO, _ONE, _MINUS_ONE = (Constant(Fraction(number)) for number in (0, 1, -1))


def tidied(tree: Tree, points: FloatArray) -> Tree:
    """Without factors and powers of 1, and with quotients and whole powers in the place of negative
    and broken ones.
    """
    return _with_whole_powers(without_ones(tree), points)


def without_ones(tree: Tree) -> Tree:
    """Without factors and powers of 1, and with quotients in the place of negative powers."""
    return tree.fold(lambda token: Tree((token,)), _tidy)


def _tidy(name: str, *parts: Tree) -> Tree:
    roots = [part.root for part in parts]
    if name == "mul" and roots[0] == _ONE:
        return parts[1]
    if name == "mul" and roots[0] == _ZERO:
        return parts[0]
    if (name in ("mul", "pow", "div") and roots[1] == _ONE) or (
        name in ("add", "sub") and roots[1] == _ZERO
    ):
        return parts[0]
    if name == "mul" and roots[0] == _MINUS_ONE:
        return _tidy("neg", parts[1])
    if name == "neg" and roots[0] == "sub":
        return apply("sub", *reversed(parts[0].children))
    if name == "neg" and roots[0] == "add" and isinstance(parts[0].children[1].root, Constant):
        return apply("sub", apply("neg", parts[0].children[1]), parts[0].children[0])
    if name in ("add", "sub"):
        return _tidy_sum(name, *parts)
    if name == "mul" and (base := _inverted(parts[1])) is not None:
        return apply("div", parts[0], base)
    if name == "mul" and (base := _inverted(parts[0])) is not None:
        return apply("div", parts[1], base)
    return apply(name, *parts)


def _tidy_sum(name: str, left: Tree, right: Tree) -> Tree:
    opposite = "sub" if name == "add" else "add"
    if right.root == "neg":
        return apply(opposite, left, right.children[0])
    if isinstance(right.root, Constant) and right.root.value < 0:
        return apply(opposite, left, apply("neg", right))
    if right.root == "mul":
        factor, rest = right.children
        if isinstance(factor.root, Constant) and factor.root.value < 0:
            return apply(opposite, left, _tidy("mul", constant(-factor.root.value), rest))
    return apply(name, left, right)


def _inverted(tree: Tree) -> Tree | None:
    """The inverse of a negative power."""
    if tree.root == "div" and tree.children[0].root == _ONE:
        return tree.children[1]
    if tree.root != "pow":
        return None
    base, exponent = tree.children
    if not isinstance(exponent.root, Constant) or exponent.root.value >= 0:
        return None
    return _tidy("pow", base, constant(-exponent.root.value))


def _with_whole_powers(tree: Tree, points: FloatArray) -> Tree:
    """A*B**(p/q) as A**q*B**p, unless A changes its sign and an even power would lose it."""
    if tree.root not in ("mul", "div"):
        return tree
    left, right = tree.children
    if right.root != "pow" or not isinstance(right.children[1].root, Constant):
        return tree
    exponent = right.children[1].root.value
    if exponent.denominator not in (2, 3, 4):
        return tree
    if exponent.denominator % 2 == 0:
        with np.errstate(all="ignore"):
            values = evaluate(left, points)
        if values.min() < 0 < values.max():
            return tree
    sign = 1 if tree.root == "mul" else -1
    return product_of_powers(
        [
            (left, Fraction(exponent.denominator)),
            (right.children[0], Fraction(sign * exponent.numerator)),
        ]
    )
