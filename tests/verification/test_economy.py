"""What a stand-in would explain as well, a formula has not earned."""

from types import SimpleNamespace
from typing import Any

import pytest

import closedform as cf
from closedform.verification.checks import Earned
from closedform.verification.thresholds import Thresholds


def judged(text, kind, total=3e-4):
    evidence: Any = SimpleNamespace(
        concept=cf.parse(text),
        outcome=SimpleNamespace(fit=SimpleNamespace(kind=kind, total=total)),
        alignment=SimpleNamespace(chance=0.5),
        thresholds=Thresholds(),
    )
    return Earned().measure(evidence)


@pytest.mark.parametrize(
    ("text", "kind", "passes"),
    [
        ("x*y**0.1307", "network", False),  # was verified for x**3*log(1 + 0.7*sqrt(y))
        ("x*y**0.1307", "noise", True),
        ("x*y**1.5", "network", True),
        ("x - 0.7011*y**2", "network", True),
        ("x - 0.7011*y**2 + 0.311*x**3 - 0.0422*x*y", "network", False),
    ],
)
def test_a_fitted_power_and_a_long_sum_have_not_earned_it(text, kind, passes):
    assert judged(text, kind).passed is passes


def test_the_power_is_named():
    assert "0.131" in judged("x*y**0.1307", "network").text
