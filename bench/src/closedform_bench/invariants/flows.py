"""Flows from formulas, and points further along them."""

from collections.abc import Sequence

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.parse import parse
from closedform_bench.invariants.system import Move, Velocity
from closedform_bench.paper.integration import integrate

LONGEST = 4.0
"""How far a point moves at most, in spreads of the inputs."""

SLOWEST = 0.1
"""Spreads in a unit of time at which a motion counts as slow, and is sped up no further."""

TOLERANCE = 1e-8


def flow(inputs: Sequence[str], *velocities: str) -> Velocity:
    """The velocity of each input as a formula.

    Examples
    --------
    >>> flow(["x", "p"], "p", "-x")(np.array([[1.0, 2.0]]))
    array([[ 2., -1.]])
    """
    formulas = [parse(text, list(inputs)) for text in velocities]
    return lambda points: np.column_stack([formula(points) for formula in formulas])


def hamiltonian(inputs: Sequence[str], energy: str) -> Velocity:
    """Hamilton's equations: the first half of the inputs are places, the second their momenta.

    Examples
    --------
    >>> hamiltonian(["x", "p"], "(x**2 + p**2)/2")(np.array([[1.0, 2.0]]))
    array([[ 2., -1.]])
    """
    formula, half = parse(energy, list(inputs)), len(inputs) // 2

    def velocity(points: FloatArray) -> FloatArray:
        slopes = formula.gradient(points)
        return np.concatenate([slopes[:, half:], -slopes[:, :half]], axis=1)

    return velocity


def along(velocity: Velocity, scale: float | Sequence[float], longest: float = LONGEST) -> Move:
    """Follow a flow forwards or backwards for a random while.

    Time is counted so that a point moves by about one spread in a unit of it. That changes no
    orbit, and nothing runs away to infinity or falls into a centre within finite time.

    Parameters
    ----------
    velocity : callable
    scale : float or sequence of float
        Spread of each input.
    longest : float
        How far points move at most, in spreads.
    """
    spread = np.asarray(scale, dtype=np.float64)

    def move(points: FloatArray, rng: np.random.Generator) -> FloatArray:
        whiles = rng.uniform(-longest, longest, len(points))
        ends = points.copy()
        for sign in (1.0, -1.0):
            rows = np.flatnonzero(np.sign(whiles) == sign)

            def even(states: FloatArray, sign: float = sign) -> FloatArray:
                with np.errstate(all="ignore"):
                    speeds = velocity(states)
                    return (
                        sign
                        * speeds
                        / np.sqrt(SLOWEST**2 + ((speeds / spread) ** 2).sum(axis=1, keepdims=True))
                    )

            if len(rows):
                ends[rows] = integrate(
                    even, points[rows], np.abs(whiles[rows]), tolerance=TOLERANCE
                )
        return ends

    return move
