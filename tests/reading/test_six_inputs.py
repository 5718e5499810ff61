"""An emulator of P(k) with six inputs once gave no answer in 300 s at a budget of 25."""

import numpy as np

import closedform as cf
from closedform.searching.budget import processor_seconds

NAMES = ["wb", "wc", "h", "ns", "lnA", "z"]
SPECTRUM = (
    "lnA + 0.693*ns + 2*log(log(1 + 0.234/(wb + wc)) * (wb + wc) / 0.234)"
    " - 0.5*log(1 + 0.39/(wb + wc) + (1.61/(wb + wc))**2) - 2*log(1 + z + 0.2*z/(1 + z*h))"
)
BUDGET = 3.0


def test_six_inputs_without_a_short_formula_keep_the_budget():
    rng = np.random.default_rng(0)
    low, high = [0.019, 0.05, 0.64, 0.85, 1.7, 0.0], [0.0255, 0.255, 0.82, 1.1, 3.8, 5.0]
    points = rng.uniform(low, high, (600, 6))
    gradients = cf.parse(SPECTRUM, names=NAMES).gradient(points)
    # As a network has it: a smooth bias of about a third of a degree.
    gradients *= 1 + 0.006 * np.sin(3 * (points - np.mean([low, high], axis=0)) / np.std(points, 0))
    field = cf.GradientField.from_arrays(points, gradients, names=NAMES)
    with processor_seconds():
        found = cf.interpret_field(field, budget=BUDGET, rng=0, progress=False)
    assert found.concept is not None
    assert found.provenance.seconds < 2 * BUDGET
