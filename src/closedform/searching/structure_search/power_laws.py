"""Power laws and sums, from one linear problem in all inputs.

First shots are the whole concept as a product of powers, or as a sum of multiples of the inputs or
of their squares. Merging pair by pair decides each exponent on two inputs; with much noise, all
inputs together decide better.

Conditional merges are of quantities that merge once others are given. If the direction of the
partial gradient on x and t depends on x, t and u, then g = F(h(x, t; u), u, others), as with
h = x - u*t: two quantities are replaced by one, and u stays.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.sums_and_products import sum_of
from closedform.expressions.tree import Tree, apply, constant, variable
from closedform.field.alignment.eigen import fit_coefficients
from closedform.searching.products import product_of_powers
from closedform.searching.structure_search.merges import Merge
from closedform.searching.structure_search.quantities import Data, State, make_quantity, substitute
from closedform.searching.structure_search.writing import plain_numbers, without_ones

SIMPLE = 4
"""Exponents and coefficients are also tried as fractions with this denominator."""

LARGEST_POWER = 4


def first_shots(data: Data, may_go_on: Callable[[], bool]) -> list[Tree]:
    """Products of powers, sums and sums of squares of the inputs that matter most, of two and more
    inputs, as long as there is time.
    """
    found: list[Tree] = []
    positive = (data.points > 0).all(axis=0)
    if positive.sum() > 1:
        columns = np.flatnonzero(positive)
        for chosen, numbers in _nested(
            data, columns, data.scale[columns] / data.points[:, columns], may_go_on
        ):
            exact = [Fraction(repr(round(number, 6))) for number in numbers]
            plain = [Fraction(round(number * SIMPLE), SIMPLE) for number in numbers]
            found += [_product(chosen, exponents) for exponents in (plain, exact)]
    columns = np.arange(data.points.shape[1])
    for is_square in (False, True):
        slopes = (
            2 * data.points * data.scale
            if is_square
            else np.tile(data.scale, (len(data.points), 1))
        )
        for chosen, numbers in _nested(data, columns, slopes, may_go_on):
            plain = [round(number * SIMPLE) / SIMPLE for number in numbers]
            found += [_plain_sum(chosen, each, is_square=is_square) for each in (plain, numbers)]
    return [tree for tree in dict.fromkeys(found) if not tree.is_constant]


def _nested(
    data: Data, columns: np.ndarray, slopes: FloatArray, may_go_on: Callable[[], bool]
) -> list[tuple[list[int], list[float]]]:
    """Coefficients of one function of each input, for the inputs of the largest shares; the first
    is 1.
    """
    n_points, n_inputs = data.points.shape
    jacobian = np.zeros((n_points, n_inputs, len(columns)))
    jacobian[:, columns, np.arange(len(columns))] = slopes
    found: list[tuple[list[int], list[float]]] = []
    left = np.arange(len(columns))
    while len(left) > 1 and may_go_on():
        try:
            fit = fit_coefficients(jacobian[:, :, left], data.directions[:, :, None], data.weights)
        except np.linalg.LinAlgError:
            break
        order = np.argsort(-fit.shares, kind="stable")
        largest = fit.coefficients[order[0]]
        if largest == 0 or not np.isfinite(fit.coefficients).all():
            break
        numbers = (fit.coefficients[order] / largest).tolist()
        found.append((columns[left[order]].tolist(), numbers))
        left = left[np.sort(order[:-1])]
    return found


def _product(columns: list[int], exponents: list[Fraction]) -> Tree:
    return product_of_powers(
        [(variable(column), exponent) for column, exponent in zip(columns, exponents, strict=True)]
    )


def _plain_sum(columns: list[int], numbers: list[float], *, is_square: bool) -> Tree:
    terms = []
    for column, number in zip(columns, numbers, strict=True):
        power = apply("square", variable(column)) if is_square else variable(column)
        if number:
            term = power if abs(number) == 1 else apply("mul", constant(abs(number)), power)
            terms.append(term if number > 0 else apply("neg", term))
    return sum_of(terms)


def find_conditional(data: Data, state: State) -> list[Merge]:
    """Sums of powers of two quantities, one of them times powers of others.

    The ratio of the slopes of x and y is then a product of powers, so its logarithm is a linear
    regression.
    """
    if state.size < 3:
        return []
    logs = {
        place: np.log(np.abs(quantity.values))
        for place, quantity in enumerate(state.quantities)
        if quantity.values.min() > 0 or quantity.values.max() < 0
    }
    pairs = combinations(sorted(logs), 2)
    judged = (
        _judged(data, state, pair, tree)
        for pair in pairs
        for tree in _sums(data, state, pair, logs)
    )
    return [merge for merge in judged if merge is not None]


def _sums(
    data: Data, state: State, pair: tuple[int, int], logs: dict[int, FloatArray]
) -> list[Tree]:
    first, second = (state.slopes[:, place] for place in pair)
    lengths = [state.quantities[place].lengths for place in pair]
    with np.errstate(all="ignore"):
        # The variance of the ratio's logarithm is that of one slope times (1/first^2 + 1/second^2).
        weights = data.weights * first**2 * second**2 / (first**2 + second**2)
        ratio = first / lengths[0] / (second / lengths[1])
        target = np.log(np.abs(ratio))
    fine = np.isfinite(target) & (weights > 0)
    if fine.mean() < 0.9:
        return []
    weights, target = weights[fine], target[fine]
    root = np.sqrt(weights)
    design = np.column_stack([np.ones(len(target)), *(values[fine] for values in logs.values())])
    solution, *_ = np.linalg.lstsq(design * root[:, None], target * root, rcond=None)
    exponents = {
        place: Fraction(round(2 * e), 2)
        for place, e in zip(logs, solution[1:].tolist(), strict=True)
    }
    others = {place: e for place, e in exponents.items() if e and place not in pair}
    if not others or max(abs(e) for e in exponents.values()) > LARGEST_POWER:
        return []
    # With plain exponents what is left is the factor.
    rest = target - sum(float(e) * logs[place][fine] for place, e in exponents.items())
    sign = 1.0 if weights @ (ratio[fine] > 0) > 0.5 * weights.sum() else -1.0
    factor = sign * float(np.exp(np.average(rest, weights=weights)))
    return _written(pair, exponents, others, factor)


def _written(
    pair: tuple[int, int], exponents: dict[int, Fraction], others: dict[int, Fraction], ratio: float
) -> list[Tree]:
    """The sum whose slopes have this ratio; powers of others on one side, or above the line on
    both.
    """
    up, down = exponents[pair[0]] + 1, 1 - exponents[pair[1]]
    if up == 0 or down == 0:
        return []
    factor = ratio * float(down) / float(up)
    near = min(plain_numbers(factor)[1:], key=lambda number: abs(number - factor), default=factor)
    factor = near if abs(near - factor) < 1e-6 * abs(factor) else factor
    powers = [(variable(place), exponent) for place, exponent in others.items()]
    above = [(base, exponent) for base, exponent in powers if exponent > 0]
    below = [(base, -exponent) for base, exponent in powers if exponent < 0]
    trees = []
    for left, right in ((powers, []), (above, below)):
        one = product_of_powers([(variable(pair[0]), up), *left])
        other = product_of_powers([(variable(pair[1]), down), *right])
        trees.append(without_ones(apply("add", other, apply("mul", constant(factor), one))))
    return list(dict.fromkeys(trees))


def _judged(data: Data, state: State, pair: tuple[int, int], tree: Tree) -> Merge | None:
    new = make_quantity(data, substitute(tree, [quantity.tree for quantity in state.quantities]))
    if new is None:
        return None
    weaker = float((data.weights @ state.slopes[:, list(pair)] ** 2).min())
    loss = max(state.with_quantity(data, new, pair).loss - state.loss, 0.0)
    return Merge(pair, tree, loss, weaker)
