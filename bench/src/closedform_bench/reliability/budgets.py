"""A budget of seconds is kept, whatever the number of inputs and points."""

import random
import time
from collections.abc import Callable

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


LARGE_SECONDS = 3.0
LARGE = (
    *(f"{kind} of {count} inputs" for kind in ("network", "field") for count in (100, 200, 500)),
    "field of 1,000,000 points",
)


def _network_call(n_inputs: int) -> Callable[[], object]:
    """A network that was trained for the product of two of its inputs."""
    import torch

    torch.manual_seed(0)
    points = 2 * torch.rand(2000, n_inputs, dtype=torch.float64) - 1
    network = torch.nn.Sequential(
        torch.nn.Linear(n_inputs, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1)
    ).double()
    optimizer = torch.optim.Adam(network.parameters(), 1e-3)
    for _ in range(300):
        optimizer.zero_grad()
        (network(points) - points[:, :1] * points[:, 1:2]).square().mean().backward()
        optimizer.step()
    inputs = points.numpy()
    return lambda: cf.interpret(network, inputs, "2:0", budget=LARGE_SECONDS, rng=0, progress=False)


def _large(number: int) -> str:
    label = LARGE[number]
    size = int(label.split()[2].replace(",", ""))
    if label.startswith("network"):
        read = _network_call(size)
    else:
        shape = (2000, size) if "inputs" in label else (size, 3)
        points = np.random.default_rng(0).uniform(0.5, 2, shape)
        field = cf.GradientField.from_arrays(points, 2 * points)
        read = lambda: cf.interpret_field(field, budget=LARGE_SECONDS, rng=0, progress=False)  # noqa: E731
    compile_all()
    small = np.random.default_rng(0).uniform(0.5, 2, (300, 2))
    # Whatever is imported at the first reading.
    cf.interpret(lambda x: x[:, 0] * x[:, 1], small, 0, budget=0.5, rng=0, progress=False)
    with processor_seconds():
        began = time.process_time()
        read()
        spent = time.process_time() - began
    late = spent > LARGE_SECONDS + MOST_LATE
    return f"failed: {label}: {spent:.1f} s" if late else f"{label} {spent:.1f} s"


LARGE_KIND = TrialKind(
    "large",
    f"A budget of {LARGE_SECONDS:g} s of the processor for many inputs or points, as stated: kept "
    f"within {MOST_LATE:g} s.",
    len(LARGE),
    each(_large),
)
