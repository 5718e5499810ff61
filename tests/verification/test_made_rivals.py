"""Rivals that are made of stand-ins: forms that were missing when these were verified."""

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import closedform as cf
from closedform.searching.space import SearchSpace
from closedform.verification.alternatives import compare_all
from closedform.verification.checks import OneOfAKind
from closedform.verification.made_rivals import make_rivals, rival_space
from closedform.verification.thresholds import Thresholds

NAMES = ["x", "y", "z", "w"]


def field_of(text, wave=0.0):
    """A formula's directions with an error that neighbours share, as a network has it."""
    points = np.random.default_rng(0).uniform(0.5, 2.5, (800, 4))
    gradients = cf.parse(text, names=NAMES).gradient(points)
    gradients /= np.linalg.norm(gradients, axis=1, keepdims=True)
    gradients += wave * np.sin(3 * points[:, [1, 2, 3, 0]] + [0.3, 1.1, 2.0, 0.7])
    return cf.GradientField.from_arrays(points, gradients, names=NAMES, tangent="none")


@pytest.mark.parametrize(
    ("truth", "stand_in", "part"),
    [
        ("(x*log(1 + y) + sqrt(w))/z", "(x*sqrt(y) + sqrt(w))/z", "log(y + 1)"),
        ("x*y**2*exp(-1/sqrt(z)) + w", "w + x*y**2/(1/z + 1)", "exp(-1/sqrt(z))"),
        ("x/sqrt(9 - y**2/z**2)*w", "x*(y**2/z**2 + 1.5)*w", ")**(-0."),
        ("x*(1 - exp(-sqrt(y)))", "x*y/(y + 1)", "x*(exp(-sqrt(y)) - 1)"),
        ("x**3*tanh(y/3)", "(1/y + 0.6)/x**2", "tanh("),
        ("z*log(x/y)", "z*(x/y - y/x)", "z*log(x/y)"),
        ("x/(exp(x/(3*y)) - 1)", "y - 0.15*x", "exp("),
        ("w + x**2 + x**4/2", "w + exp(0.7*x**2)", "x**2 + "),
    ],
)
def test_a_part_is_exchanged_wherever_it_stands(truth, stand_in, part):
    made, _ = make_rivals(
        cf.parse(stand_in, names=NAMES), field_of(truth), rival_space(SearchSpace()),
        np.random.default_rng(0),
    )  # fmt: skip
    assert any(part in str(cf.Expression(tree, tuple(NAMES))) for tree in made)


def test_a_rival_as_short_as_the_stand_in_is_seen_with_plain_numbers():
    """x*(y - 1/y) was verified for x*log(y), whose common factor made it longer than it is."""
    outcome = compare_all(
        cf.parse("x*(y - 1/y)", names=NAMES), [], field_of("x*log(y)", wave=0.02), SearchSpace(),
        Thresholds(), np.random.default_rng(0), is_network=True,
    )  # fmt: skip
    assert any(str(rival.expression) == "x*log(y)" for rival in outcome.alternatives)


def test_a_power_that_is_fitted_does_not_hide_the_function():
    """log(y + 1.2)**1.3 stood in the set, and log(y/2 + 1) did not."""
    outcome = compare_all(
        cf.parse("x*y/(y + 6)", names=NAMES), [], field_of("x*log(y/2 + 1)", wave=0.02),
        SearchSpace(), Thresholds(), np.random.default_rng(0), is_network=True,
    )  # fmt: skip
    assert any(
        re.fullmatch(r"x\*log\([0-9.]+\*y \+ 1\)", str(rival.expression))
        for rival in outcome.alternatives
    )


def test_what_time_did_not_compare_is_not_verified():
    """A sum over twelve inputs has more rivals than a spent budget can make."""
    names = [f"x{k}" for k in range(12)]
    rng = np.random.default_rng(0)
    points = rng.uniform(0.5, 2, (400, 12))
    slopes = 1 / points + 0.01 * np.sin(3 * points)
    field = cf.GradientField.from_arrays(points, slopes, names=names)
    product = cf.parse("*".join(names), names=names)
    outcomes = [
        compare_all(
            product, [], field, SearchSpace(), Thresholds(), np.random.default_rng(0),
            is_network=True, budget=cf.Budget(seconds=seconds),
        )
        for seconds in (1e-3, 1e3)
    ]  # fmt: skip
    assert [outcome.is_complete for outcome in outcomes] == [False, True]
    assert outcomes[0].n_compared < outcomes[1].n_compared
    evidence: Any = SimpleNamespace(not_looked=None, outcome=replace(outcomes[0], rivals=()))
    assert OneOfAKind().measure(evidence).word == "not made"
