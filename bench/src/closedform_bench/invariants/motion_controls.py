"""Controls of the tracks `flow` and `pairs`: motions without laws, and data that cannot show
them.
"""

import numpy as np

from closedform.arrays import FloatArray
from closedform_bench.invariants.control_systems import CONTROL_SYSTEMS
from closedform_bench.invariants.flows import along, flow, hamiltonian
from closedform_bench.invariants.sampling import box
from closedform_bench.invariants.system import System
from closedform_bench.paper.integration import integrate

_PHASE = ("x", "y", "px", "py")
_KEPLER = "(px**2 + py**2)/2 - 1/sqrt(x**2 + y**2)"
_KEPLER_FLOW = hamiltonian(_PHASE, _KEPLER)
_DAMPED_PENDULUM = flow(("theta", "w"), "w", "-sin(theta) - w/5")
_SWING = flow(("theta", "w"), "w", "-sin(theta)")

LARGEST_ECCENTRICITY = 0.03


def _nearly_circular(n: int, rng: np.random.Generator) -> FloatArray:
    """Places and velocities on ellipses of small eccentricity around a unit mass."""
    radius, angle = rng.uniform(0.5, 2, n), rng.uniform(0, 2 * np.pi, n)
    along_it, across = rng.uniform(-LARGEST_ECCENTRICITY, LARGEST_ECCENTRICITY, (2, n))
    speed = np.sqrt(1 / radius)
    outward = np.column_stack([np.cos(angle), np.sin(angle)])
    forward = np.column_stack([-np.sin(angle), np.cos(angle)])
    velocity = speed[:, None] * ((1 + along_it)[:, None] * forward + across[:, None] * outward)
    return np.concatenate([radius[:, None] * outward, velocity], axis=1)


def _one_swing(n: int, rng: np.random.Generator) -> FloatArray:
    """Points of one orbit of a pendulum."""
    start = np.tile([1.2, 0.0], (n, 1))
    return integrate(_SWING, start, rng.uniform(0, 7, n), tolerance=1e-9)


def _further_swing(points: FloatArray, rng: np.random.Generator) -> FloatArray:
    return integrate(_SWING, points, rng.uniform(0, 7, len(points)), tolerance=1e-9)


MOTION_CONTROLS: dict[str, System] = {
    system.name: system
    for system in (
        CONTROL_SYSTEMS["lorenz"],
        CONTROL_SYSTEMS["van-der-pol"],
        CONTROL_SYSTEMS["henon-heiles-chaotic"],
        System(
            "damped-pendulum", "a pendulum with friction", "control", ("theta", "w"), (),
            box(-3, 3, 2), along(_DAMPED_PENDULUM, 1.5), velocity=_DAMPED_PENDULUM,
        ),
        System(
            "near-circular", "orbits of eccentricity below 0.05", "control", _PHASE,
            (_KEPLER, "x*py - y*px", "py*(x*py - y*px) - x/sqrt(x**2 + y**2)"),
            _nearly_circular, along(_KEPLER_FLOW, 1.0), velocity=_KEPLER_FLOW,
        ),
        System(
            "one-trajectory", "one orbit of a pendulum", "control", ("theta", "w"), (),
            _one_swing, _further_swing, velocity=_SWING, further=("w**2/2 - cos(theta)",),
        ),
    )
}  # fmt: skip
