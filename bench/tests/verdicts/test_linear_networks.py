"""A network that is linear may be verified wherever its data lie; one that is nearly linear may
not. All of them: ``pytest bench/tests/verdicts/test_linear_networks.py -m "slow or not slow"``.
"""

import numpy as np
import pytest

import closedform as cf
from closedform.searching.budget import processor_seconds
from closedform_bench.verdicts.controls import KINDS
from closedform_bench.verdicts.small_networks import train

SECONDS = 10.0
RANGES = [(-1, 1), (0.5, 1.5), (2, 5)]
TRUTHS = ["x - 3*y", "x + 2*y", "3*x - y + z/2", "2*x + 5*y + z"]
CASES = [(truth, low, high) for truth in TRUTHS for low, high in RANGES]
ALWAYS = ("x - 3*y", 0.5, 1.5)


def read(field: cf.GradientField) -> cf.Interpretation:
    with processor_seconds():
        return cf.interpret_field(field, budget=SECONDS, rng=0, progress=False)


@pytest.mark.parametrize(
    ("truth", "low", "high"),
    [case if case == ALWAYS else pytest.param(*case, marks=pytest.mark.slow) for case in CASES],
)
def test_linear_networks_are_verified(truth: str, low: float, high: float) -> None:
    """The square of x - 3*y, whose gradient is along that of x - 3*y, explained 93% of what the
    formula leaves over on data above 0, and the network was called nearly linear.
    """
    rng = np.random.default_rng(100)
    formula = cf.parse(truth)
    points = rng.uniform(low, high, (4000, len(formula.names)))
    network = train(points, formula(points), "silu", rng)
    found = read(network.field(points[:2000], list(formula.names)))
    assert found.verdict.status == "verified", str(found)
    assert cf.same_concept(found.concept or "1", truth, list(formula.names), points=points)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(10))
def test_nearly_linear_networks_are_not(number: int) -> None:
    rng = np.random.default_rng([92771, number])
    case = KINDS["near-linear"]("near-linear", "near-linear", rng)
    assert read(case.field).verdict.status != "verified"
