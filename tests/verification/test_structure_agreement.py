"""What the search saw of the field's structure, beside the formula that was chosen."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import closedform as cf
from closedform.searching.decomposition import Combination, Decomposition
from closedform.verification.checks import StructureAgrees
from closedform.verification.structure_agreement import _departure, disagreements, structure_of

NAMES = ["x", "y", "z"]
POINTS = np.random.default_rng(0).uniform(1, 2, (200, 3))
TRUTH = cf.parse("x*y + z", names=NAMES)
FIELD = cf.GradientField.from_arrays(POINTS, TRUTH.gradient(POINTS), names=NAMES)
X, Y, Z = (Combination(name, (name,), 0.0, 0.0, 0.0) for name in NAMES)
PRODUCT = Combination("x*y", ("x", "y"), 1e-9, 0.0, 1e-8, (X, Y))


def decomposition(formula: str, parts: tuple[Combination, ...]) -> Decomposition:
    whole = Combination(formula, tuple(NAMES), 1e-5, 0.0, 2e-5, parts)
    return Decomposition((whole,), (), 1e-5)


def test_the_structure_of_the_answer_is_shown_whole():
    found = decomposition("x*y + 0.99*z", (PRODUCT, Z))
    assert structure_of(TRUTH, found, FIELD) is found


def test_another_formula_is_not_how_the_answer_is_built():
    """The page of v**2 + x**2 + x**4/2 said that it is built as (exp(x**2) + 4)*exp(0.2*v**2)."""
    left = structure_of(TRUTH, decomposition("x*y*exp(z)", (PRODUCT, Z)), FIELD)
    assert left is not None
    assert left.combinations == (PRODUCT, Z)


def test_single_inputs_are_no_structure():
    assert structure_of(TRUTH, decomposition("x*y*exp(z)", (X, Y, Z)), FIELD) is None
    assert structure_of(TRUTH, None, FIELD) is None


def test_a_formula_of_another_structure_is_found_out():
    seen = Decomposition((PRODUCT, Z), (), 1e-9)
    for text, sentences in (("x*y + z", 0), ("x**1.1*y + z", 1)):
        evidence: Any = SimpleNamespace(
            structure=seen,
            field=FIELD,
            concept=cf.parse(text, names=NAMES),
            outcome=SimpleNamespace(fit=SimpleNamespace(total=1e-4)),
            thresholds=cf.Thresholds(),
        )
        assert len(disagreements(evidence) or ()) == sentences


@pytest.mark.parametrize(("kind", "passes"), [("exact", True), ("noise", False)])
def test_an_exact_formula_needs_no_structure(kind, passes):
    """sqrt(x1)*exp(x2**2/x1), exact to rounding, was refused for what the search had seen."""
    evidence: Any = SimpleNamespace(
        structure=Decomposition((PRODUCT, Z), (), 1e-9),
        field=FIELD,
        concept=cf.parse("x**1.1*y + z", names=NAMES),
        outcome=SimpleNamespace(fit=SimpleNamespace(total=1e-4, kind=kind)),
        thresholds=cf.Thresholds(),
    )
    assert StructureAgrees().measure(evidence).passed is passes


def test_several_latents_have_no_structure_to_compare():
    jacobians = np.zeros((200, 2, 3))
    jacobians[:, 0, 0] = jacobians[:, 1, 1] = 1.0
    field = cf.GradientField.from_arrays(POINTS, jacobians, names=NAMES, tangent="none")
    evidence: Any = SimpleNamespace(
        structure=Decomposition((PRODUCT, Z), (), 1e-9),
        field=field,
        concept=TRUTH,
        outcome=SimpleNamespace(fit=SimpleNamespace(total=1.0)),
        thresholds=SimpleNamespace(rounding=1e-12),
    )
    assert disagreements(evidence) is None


def test_few_points_and_small_shares_count():
    few = FIELD.subset(np.arange(3))
    whole, other = (cf.parse(text, names=NAMES) for text in ("x*y/100 + z", "x**2*y"))
    assert 1e-3 < _departure(whole, other, [0, 1], few) < 1
