"""One size in a process of its own, so that the most memory it took is known.

    python -m closedform_bench.speed.growth_child points 1000

prints seconds and memory as JSON.
"""

import json
import sys
from collections.abc import Callable

import numpy as np

from closedform.arrays import FloatArray
from closedform.basics.progress import Silent
from closedform.expressions.parse import parse
from closedform.field.gradient_field import GradientField
from closedform.interpretation.answer import Interpretation
from closedform.reading.one_field import compile_all, interpret_field
from closedform.searching.budget import Budget, processor_seconds
from closedform.searching.space import SearchSpace
from closedform.searching.terms.library import build_library
from closedform.searching.terms.prepared import prepare
from closedform.searching.terms.term_engine import TermSearch
from closedform_bench.speed.machine import peak_memory
from closedform_bench.speed.timing import timed

SECONDS = 120.0
"""Of the processor, at most for each reading."""

N_POINTS = 1000
LIBRARY_INPUTS, LATENT_INPUTS = 32, 16
LIBRARY_TRUTH = "x3*x17*x29 - 0.7*x5**2*x8 + 1.3*sin(x11)"


def grow_points(size: int) -> dict[str, float]:
    """A determinant at ever more points."""
    points = _rng().uniform(-2, 2, (size, 4))
    return _read(points, points[:, ::-1] * [1.0, -1.0, -1.0, 1.0])


def grow_inputs(size: int) -> dict[str, float]:
    """A concept of two inputs among ever more; a little of each, so that none can be left out
    beforehand.
    """
    points = _rng().uniform(-2, 2, (N_POINTS, size))
    gradients = 1e-9 * _rng().normal(size=points.shape)
    gradients[:, 0] += points[:, 0] + points[:, 1]
    gradients[:, 1] += points[:, 0]
    return _read(points, gradients)


def grow_library(size: int) -> dict[str, float]:
    """Terms of 32 inputs: made and differentiated, and then searched for a sum of three."""
    names = [f"x{i}" for i in range(LIBRARY_INPUTS)]
    points = _rng().normal(size=(N_POINTS, LIBRARY_INPUTS))
    gradients = parse(LIBRARY_TRUTH, names).gradient(points)
    gradients += 1e-9 * _rng().normal(size=points.shape)
    field = GradientField.from_arrays(points, gradients, names=names)
    engine = TermSearch(stages=(size,), n_points=N_POINTS)
    space, importance = SearchSpace(), np.ones(LIBRARY_INPUTS)
    making, _ = timed(
        lambda: prepare(
            build_library(space, names, points, field.scale, importance, size),
            field,
            engine.n_line_points,
        )
    )
    searching, _ = timed(
        lambda: engine.search(field, space, Budget(seconds=SECONDS), _rng(), Silent())
    )
    return {"library": making, "search": searching}


def grow_latents(size: int) -> dict[str, float]:
    """Mixtures of products of two inputs each."""
    points = _rng().uniform(-2, 2, (N_POINTS, LATENT_INPUTS))
    jacobians = np.zeros((N_POINTS, size, LATENT_INPUTS))
    for latent in range(size):
        jacobians[:, latent, 2 * latent] = points[:, 2 * latent + 1]
        jacobians[:, latent, 2 * latent + 1] = points[:, 2 * latent]
    mixing = _rng().normal(size=(N_POINTS, size, size))
    return _read(points, mixing @ jacobians)


KINDS: dict[str, Callable[[int], dict[str, float]]] = {
    "points": grow_points, "inputs": grow_inputs, "library": grow_library, "latents": grow_latents
}  # fmt: skip
"""What grows; each gives processor seconds by step."""


def measure_size(kind: str, size: int) -> dict[str, float]:
    """Seconds by step, and the most memory in MB."""
    compile_all()
    with processor_seconds():
        seconds = KINDS[kind](size)
    return {**seconds, "memory": peak_memory()}


def _rng() -> np.random.Generator:
    return np.random.default_rng(0)


def _read(points: FloatArray, jacobians: FloatArray) -> dict[str, float]:
    making, field = timed(lambda: GradientField.from_arrays(points, jacobians, tangent="none"))

    def read() -> Interpretation:
        return interpret_field(field, budget=SECONDS, rng=0, progress=False)

    return {"field": making, "reading": timed(read)[0]}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure_size(sys.argv[1], int(sys.argv[2]))) + "\n")
