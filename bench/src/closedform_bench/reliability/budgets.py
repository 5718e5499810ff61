"""A budget of seconds is kept, whatever the number of inputs and points."""

import random
import time

import numpy as np

import closedform as cf
from closedform.reading.one_field import compile_all
from closedform.searching.budget import processor_seconds
from closedform_bench.reliability.trial import TrialKind, each

SECONDS, MOST_LATE = 5.0, 1.0


def _trial(number: int) -> str:
    rng = random.Random(f"budget {number}")
    n_inputs = rng.randrange(2, 21)
    n_points = round(10 ** rng.uniform(2, 5))
    points = np.random.default_rng(number).uniform(0.5, 2, (n_points, n_inputs))
    slopes = np.cos(points) * np.roll(points, 1, axis=1) + 0.1 * points**2
    field = cf.GradientField.from_arrays(points, slopes, tangent="none")
    compile_all()  # budgets begin after compilation
    with processor_seconds():
        began = time.process_time()
        cf.interpret_field(field, budget=SECONDS, rng=number, progress=False)
        late = time.process_time() - began - SECONDS
    if late > MOST_LATE:
        return f"failed: {n_inputs} inputs, {n_points} points: {late:.1f} s late"
    return "kept"


KIND = TrialKind(
    "budgets",
    f"A budget of {SECONDS:g} s (of the processor) for 2 to 20 inputs and 100 to 100,000 points: "
    f"kept within {MOST_LATE:g} s.",
    100,
    each(_trial),
)
