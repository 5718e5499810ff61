from types import SimpleNamespace

import numpy as np

import closedform as cf
from closedform.selection.materiality import Material
from closedform.selection.regions import RegionalScores
from closedform.selection.rules import ByFactor, Scene

TEXTS = ("lnA - 2.03*tau", "lnA - 2.03*tau - 0.11*lnA*tau")


def scene(simple, longer):
    """Two candidates, the second with one more term, equally wrong in every region."""
    formulas = [cf.parse(text, names=["tau", "lnA"]) for text in TEXTS]
    contenders = [
        SimpleNamespace(expression=formula, complexity=formula.complexity(), errors=())
        for formula in formulas
    ]
    scores = RegionalScores(
        np.outer([simple, longer], np.ones(24)), np.full(24, 1 / 24), (np.empty(0), np.empty(0))
    )
    return Scene(contenders, scores, 0.0, np.random.default_rng(0))  # pyright: ignore[reportArgumentType]


def test_a_gain_below_the_floor_does_not_buy_a_longer_formula():
    """An emulator's lnA - 2.03 tau at 0.03 degrees lost to a formula of complexity 21."""
    found = scene(6.7e-7, 3e-8)
    assert ByFactor().pick(found)[0] == 1
    index, reason, _ = Material().pick(found)
    assert index == 0
    assert "below 0.1 degrees" in reason


def test_the_floor_can_be_set():
    assert Material(degrees=0.001).pick(scene(6.7e-7, 3e-8))[0] == 1


def test_above_the_floor_nothing_changes():
    found = scene(1e-3, 1e-5)
    assert Material().pick(found)[0] == ByFactor().pick(found)[0] == 1


def test_it_is_a_rule_for_interpret():
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, (300, 2))
    gradients = cf.parse("a + 1.37*b + 0.0004*a*b", names=["a", "b"]).gradient(points)
    field = cf.GradientField.from_arrays(points, gradients, names=["a", "b"])
    budget = cf.Budget(evaluations=1000)
    plain = cf.interpret_field(field, engine="terms", budget=budget, rng=0)
    material = cf.interpret_field(field, engine="terms", budget=budget, rng=0, rule=Material())
    assert plain.concept is not None
    assert material.concept is not None
    assert material.concept.complexity() < plain.concept.complexity()
