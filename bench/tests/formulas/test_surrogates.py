import re
from collections import Counter

import numpy as np
import pytest

import closedform as cf
from closedform.expressions.legality import Legality
from closedform_bench.formulas.fairness import LEAST_SHARE, STEEPEST, slope_shares
from closedform_bench.formulas.suite import FormulaPlan
from closedform_bench.formulas.surrogates import surrogate_problem, surrogate_problems
from closedform_bench.formulas.textbooks import SURROGATES

READ_AS = {"degC": "K", "USD": "kg", "hPa": "Pa", "pm": "m", "year": "s", "Myear": "s", "day": "s"}
"""Units that need pint, by one of the same dimension; money is one of its own."""

LOGARITHM_OF_OHMS = "steinhart-hart"
"""The one formula whose textbook form takes the logarithm of a quantity with a unit."""


def test_there_are_sixty_of_eight_fields_and_most_are_more_than_products():
    assert len(SURROGATES) == 60
    assert min(Counter(formula.field for formula in SURROGATES.values()).values()) >= 6
    traits = Counter(formula.trait for formula in SURROGATES.values())
    assert len(SURROGATES) - traits[""] >= 20
    assert min(traits[trait] for trait in ("exponential", "shifted", "power")) >= 10
    assert all(":" in f.source or "U.S. Standard" in f.source for f in SURROGATES.values())
    assert all(2 <= len(formula.inputs) <= 5 for formula in SURROGATES.values())


def test_the_unseen_half_must_be_asked_for():
    seen, unseen = surrogate_problems(), surrogate_problems("unseen")
    assert FormulaPlan("surrogates", seed=5).problems() == seen
    assert FormulaPlan("surrogates", half="unseen").problems() == unseen
    assert {problem.name for problem in seen + unseen} == set(SURROGATES)
    with pytest.raises(cf.ClosedformError, match="no problem"):
        FormulaPlan("surrogates", systems=(unseen[0].name,)).problems()


@pytest.mark.parametrize("name", SURROGATES)
def test_a_formula_is_finite_in_its_ranges_and_every_input_matters(name: str) -> None:
    problem = surrogate_problem(name, SURROGATES[name])
    formula, points = problem.formula(), problem.points(4000, np.random.default_rng(0))
    slopes = formula.gradient(points) * points.std(axis=0)
    sizes = np.linalg.norm(slopes, axis=1)
    assert np.isfinite(formula(points)).all()
    assert np.isfinite(slopes).all()
    assert sizes.max() < STEEPEST * np.median(sizes)
    assert slope_shares(slopes).min() > LEAST_SHARE


@pytest.mark.parametrize("name", sorted(SURROGATES.keys() - {LOGARITHM_OF_OHMS}))
def test_a_formula_is_possible_in_its_units(name: str) -> None:
    formula = SURROGATES[name]
    units = {
        each: re.sub(r"[A-Za-z]+", lambda word: READ_AS.get(word[0], word[0]), unit)
        for each, (_, _, unit) in formula.inputs.items()
    }
    tree = cf.parse(formula.truth, names=list(units)).tree
    assert Legality(cf.Units(units), may_carry=True).allows(tree, list(units))
