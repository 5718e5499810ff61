"""Pairs that merge once other quantities are given: x - u*t of x and t, with u a quantity of its own."""

from fractions import Fraction
from itertools import combinations

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.tree import Tree, apply, constant, variable
from closedform.search.structure_search.merges import Merge
from closedform.search.structure_search.quantities import Data, State
from closedform.search.structure_search.writing import plain_numbers, product_of_powers, tidied


def find_conditional(data: Data, state: State) -> list[Merge]:
    """Sums x**p + c*y**q*(powers of others), from a regression of the slopes' ratio in logarithms."""
    if state.size < 3:
        return []
    usable = [place for place, q in enumerate(state.quantities) if q.values.min() > 0 or q.values.max() < 0]
    logs = {place: np.log(np.abs(state.quantities[place].values)) for place in usable}
    found: list[Merge] = []
    for i, j in combinations(range(state.size), 2):
        if i not in logs or j not in logs:
            continue
        found += _conditional(data, state, i, j, logs)
    return found


def _conditional(data: Data, state: State, i: int, j: int, logs: dict[int, FloatArray]) -> list[Merge]:
    first, second = state.slopes[:, i], state.slopes[:, j]
    lengths = state.quantities[i].lengths, state.quantities[j].lengths
    with np.errstate(all="ignore"):
        weights = data.weights * first**2 * second**2 / (first**2 + second**2)
        ratio = (first / lengths[0]) / (second / lengths[1])
        target = np.log(np.abs(ratio))
    fine = np.isfinite(target) & np.isfinite(weights) & (weights > 0)
    if fine.mean() < 0.9:
        return []
    sign = 1.0 if weights[fine] @ (ratio[fine] > 0) > 0.5 * weights[fine].sum() else -1.0
    places = list(logs)
    design = np.column_stack([np.ones(fine.sum()), *(logs[place][fine] for place in places)])
    root = np.sqrt(weights[fine])
    solution, *_ = np.linalg.lstsq(design * root[:, None], target[fine] * root, rcond=None)
    left = target[fine] - design @ solution
    exponents = {p: Fraction(round(2 * e), 2) for p, e in zip(places, solution[1:].tolist(), strict=True)}
    others = {p: e for p, e in exponents.items() if e and p not in (i, j)}
    if not others or max(abs(e) for e in exponents.values()) > 4:
        return []
    # The logarithm of the ratio with plain exponents has a constant left, which is the factor.
    rest = target[fine] - sum(float(e) * logs[p][fine] for p, e in exponents.items())
    factor = sign * float(np.exp(np.average(rest, weights=weights[fine])))
    trees = _sums(i, j, exponents, others, factor)
    return [_judged(data, state, (i, j), tree) for tree in trees]


def _sums(i, j, exponents, others, factor) -> list[Tree]:
    up, down = exponents.get(i, Fraction(0)) + 1, 1 - exponents.get(j, Fraction(0))
    if up == 0 or down == 0:
        return []
    factor = factor * float(down) / float(up)
    near = min(plain_numbers(factor)[1:], key=lambda n: abs(n - factor), default=factor)
    if abs(near - factor) < 1e-6 * abs(factor):
        factor = near
    trees = []
    powers = [(variable(p), e) for p, e in others.items()]
    splits = [(powers, []), ([(p, e) for p, e in powers if e > 0], [(p, -e) for p, e in powers if e < 0])]
    for left, right in splits:
        one = product_of_powers([(variable(i), up), *left])
        other = product_of_powers([(variable(j), down), *right])
        trees.append(tidied(apply("add", other, apply("mul", constant(factor), one))))
    return list(dict.fromkeys(trees))


def _judged(data: Data, state: State, places, tree) -> Merge:
    from closedform.search.structure_search.quantities import make_quantities, substitute
    (new,) = make_quantities(data, [substitute(tree, [q.tree for q in state.quantities])])
    energy = float(data.weights @ (state.slopes[:, places[0]] ** 2 + state.slopes[:, places[1]] ** 2))
    if new is None:
        return Merge(places, tree, energy, energy, energy)
    child = state.with_quantity(data, new, places)
    return Merge(places, tree, max(child.loss - state.loss, 0.0), energy, energy)


def recoordinated(data: Data, state: State):
    """The same quantities in other coordinates: a product, quotient, sum or difference of two takes the place of one."""
    from closedform.search.structure_search.quantities import make_quantities, make_state, substitute
    for i, j in combinations(range(state.size), 2):
        x, y = state.quantities[i].tree, state.quantities[j].tree
        kept = [q for place, q in enumerate(state.quantities) if place not in (i, j)]
        trees = [substitute(shape, [x, y]) for shape in SHAPES]
        for new in make_quantities(data, trees):
            if new is None:
                continue
            for stays in (i, j):
                yield make_state(data, (*kept, state.quantities[stays], new))


_X, _Y = variable(0), variable(1)
SHAPES = [product_of_powers([(_X, Fraction(a)), (_Y, Fraction(b))]) for a, b in ((1, 1), (1, -1), (2, 1), (2, -1), (1, 2), (1, -2))]
SHAPES += [apply("sub", _X, _Y), apply("add", _X, _Y)]
