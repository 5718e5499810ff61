"""Quantities that merge once others are given.

If the direction of the partial gradient on x and t depends on x, t and u, then g = F(h(x, t; u), u,
others), as with h = x - u*t: two quantities are replaced by one, and u stays.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.tree import Tree, apply, constant, variable
from closedform.searching.products import product_of_powers
from closedform.searching.structure_search.merges import Merge
from closedform.searching.structure_search.quantities import (
    Data,
    State,
    make_quantities,
    substitute,
)
from closedform.searching.structure_search.writing import plain_numbers, without_ones

LARGEST_POWER = 4


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
    return [
        merge
        for pair in pairs
        for tree in _sums(data, state, pair, logs)
        for merge in _judged(data, state, pair, tree)
    ]


def _sums(
    data: Data, state: State, pair: tuple[int, int], logs: dict[int, FloatArray]
) -> list[Tree]:
    first, second = (state.slopes[:, place] for place in pair)
    with np.errstate(all="ignore"):
        # The variance of the ratio's logarithm is that of one slope times (1/first^2 + 1/second^2).
        weights = data.weights * first**2 * second**2 / (first**2 + second**2)
        ratio = (
            first / state.quantities[pair[0]].lengths / (second / state.quantities[pair[1]].lengths)
        )
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
    return _written(
        pair, exponents, others, sign * float(np.exp(np.average(rest, weights=weights)))
    )


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


def _judged(data: Data, state: State, pair: tuple[int, int], tree: Tree) -> Iterator[Merge]:
    (new,) = make_quantities(
        data, [substitute(tree, [quantity.tree for quantity in state.quantities])]
    )
    if new is not None:
        shares = data.weights @ state.slopes[:, list(pair)] ** 2
        loss = max(state.with_quantity(data, new, pair).loss - state.loss, 0.0)
        yield Merge(pair, tree, loss, float(shares.sum()), float(shares.min()))
