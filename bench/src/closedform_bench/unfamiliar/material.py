"""What a network is trained on, and what comes back from a training."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from closedform.arrays import FloatArray
from closedform_bench.formulas.problem import Problem
from closedform_bench.formulas.trained import PHIS

N_TRAINING = 8000
N_READ = 1500
STEPS = 2500
"""Steps of a training: three to ten processor seconds."""


@dataclass(frozen=True, slots=True)
class Material:
    """Data of a function that a network may learn.

    Attributes
    ----------
    names : tuple of str
    points : ndarray, shape (n_points, n_inputs)
        For the training.
    targets : ndarray, shape (n_points,)
        phi of the standardised function there.
    held : ndarray, shape (n_held, n_inputs)
        Where the network is read.
    function, slopes : callable
        The standardised function, and its gradient; only formulas have one.
    steps : int
        Of the training; none leaves a network as it begins.
    """

    names: tuple[str, ...]
    points: FloatArray
    targets: FloatArray
    held: FloatArray
    function: Callable[[FloatArray], FloatArray] | None = None
    slopes: Callable[[FloatArray], FloatArray] | None = None
    steps: int = STEPS


@dataclass(frozen=True, slots=True)
class Trained:
    """What a user hands to `closedform.interpret`.

    Attributes
    ----------
    model, inputs, neuron
    asked : mapping
        Further keywords.
    """

    model: Any
    inputs: Any
    neuron: Any = None
    asked: Mapping[str, Any] = field(default_factory=dict)


Train = Callable[[Material, np.random.Generator], Trained]
"""A kind of network: trains one on the material."""


def material_of(problem: Problem, phi: str, rng: np.random.Generator) -> Material:
    """Points of a formula's ranges, and phi of its values."""
    points, formula = problem.points(N_TRAINING, rng), problem.formula()
    values = formula(points)
    centre, spread = float(values.mean()), float(values.std())
    return Material(
        tuple(problem.names), points, PHIS[phi]((values - centre) / spread),
        problem.points(N_READ, rng), lambda x: (formula(x) - centre) / spread,
        lambda x: formula.gradient(x) / spread,
    )  # fmt: skip
