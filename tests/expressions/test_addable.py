"""Which terms may stand in one sum: the same as asking about every sum, for all pairs at once."""

from itertools import combinations

import numpy as np
import pytest

import closedform as cf
from closedform.expressions.legality import Legality, addable
from closedform.expressions.tree import apply, constant
from closedform.expressions.units import Units

NAMES = ["x", "y", "t", "q"]
TERMS = [
    "x", "y", "x*y", "x**2", "t", "x/t", "y/t", "log(x)", "log(t)", "x/y", "sin(x/y)", "sqrt(x*y)",
    "exp(x)", "exp(x/y)", "1/t", "(x + y)/t",
]  # fmt: skip


@pytest.mark.parametrize("constants", [{}, {"c": "3 m/s"}])
def test_pairs_are_those_whose_sum_is_possible(constants) -> None:
    units = Units({"x": "m", "y": "m", "t": "s"}, constants=constants)
    strict = Legality(units, may_carry=False)
    trees = [cf.parse(text, names=NAMES).tree for text in TERMS]
    found = addable(trees, NAMES, strict)
    assert found is not None
    number = constant(np.pi / 3)
    for i, j in combinations(range(len(trees)), 2):
        is_possible = any(
            strict.allows(apply("add", one, apply("mul", number, other)), NAMES, is_whole=False)
            for one, other in ((trees[i], trees[j]), (trees[j], trees[i]))
        )
        assert found[i, j] == found[j, i] == is_possible, (TERMS[i], TERMS[j])


def test_what_has_no_stated_unit_goes_with_everything() -> None:
    strict = Legality(Units({"x": "m", "t": "s"}), may_carry=False)
    trees = [cf.parse(text, names=NAMES).tree for text in ("x", "t", "q")]
    found = addable(trees, NAMES, strict)
    assert found is not None
    assert found.tolist() == [[True, False, True], [False, True, True], [True, True, True]]


def test_with_coefficients_that_carry_units_everything_may_be_added() -> None:
    loose = Legality(Units({"x": "m", "t": "s"}), may_carry=True)
    assert addable([cf.parse("x", names=NAMES).tree], NAMES, loose) is None


def test_units_save_most_of_the_term_search() -> None:
    points = np.random.default_rng(0).uniform(1, 2, (400, 4))
    a, b, c, d = points.T
    product = a * b / (c * d)
    slopes = product[:, None] * np.stack([1 / a, 1 / b, -1 / c, -1 / d], axis=1)
    slopes += 0.02 * np.random.default_rng(1).normal(size=slopes.shape)
    names = ["a", "b", "c", "d"]
    given = Units(dict(zip(names, ["kg", "m", "s", "A"], strict=True)), pure_numbers=True)
    plain = cf.GradientField.from_arrays(points, slopes, names=names)
    most = cf.Budget(evaluations=1000)
    free = cf.search(plain, engine="terms", budget=most, rng=0)
    bound = cf.search(plain.with_units(given), engine="terms", budget=most, rng=0)
    assert bound.evaluations < 0.5 * free.evaluations
    strict = Legality(given, may_carry=False)
    assert len(bound.front)
    assert all(strict.allows(one.expression.tree, names) for one in bound.front)
