"""Controls of the track `network`: motions without an invariant, and networks that were taught
nothing.
"""

import numpy as np

from closedform.arrays import FloatArray
from closedform_bench.invariants.flows import along, flow, hamiltonian
from closedform_bench.invariants.sampling import box
from closedform_bench.invariants.system import System

_SPACE, _PHASE = ("x", "y", "z"), ("x", "y", "px", "py")
_LORENZ = flow(_SPACE, "10*(y - x)", "x*(28 - z) - y", "x*y - 8*z/3")
_VAN_DER_POL = flow(("x", "p"), "p", "(1 - x**2)*p - x")
_ENERGY = "(px**2 + py**2 + x**2 + y**2)/2 + x**2*y - y**3/3"
_CHAOTIC = hamiltonian(_PHASE, _ENERGY)


def _to_strangers(points: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Any other point of the sample: pairs share nothing."""
    return points[rng.permutation(len(points))]


def _to_noise(points: FloatArray, rng: np.random.Generator) -> FloatArray:
    return rng.normal(size=points.shape)


def _normal(n: int, rng: np.random.Generator) -> FloatArray:
    return rng.normal(size=(n, 4))


UNTRAINED = "untrained"
"""The control whose networks are not trained at all."""

LATENTS = {
    "lorenz": 1,
    "van-der-pol": 1,
    "henon-heiles-chaotic": 2,
    UNTRAINED: 1,
    "shuffled": 1,
    "pure-noise": 2,
}

CONTROL_SYSTEMS: dict[str, System] = {
    system.name: system
    for system in (
        System(
            "lorenz", "the Lorenz system", "control", _SPACE, (),
            box((-15, -20, 10), (15, 20, 40), 3),
            along(_LORENZ, (8.0, 9.0, 8.5)), velocity=_LORENZ,
        ),
        System(
            "van-der-pol", "the Van der Pol oscillator", "control", ("x", "p"), (), box(-3, 3, 2),
            along(_VAN_DER_POL, 1.5),
            velocity=_VAN_DER_POL,
        ),
        System(
            "henon-heiles-chaotic", "Henon-Heiles, asked for a second invariant", "control", _PHASE,
            (_ENERGY,),
            box(-0.6, 0.6, 4), along(_CHAOTIC, 0.35), velocity=_CHAOTIC,
        ),
        System(UNTRAINED, "an untrained network", "control", _SPACE, (), box(-2, 2, 3),
         _to_strangers),
        System("shuffled", "pairs of strangers", "control", _SPACE, (), box(-2, 2, 3),
         _to_strangers),
        System("pure-noise", "pairs of random numbers", "control", _PHASE, (), _normal, _to_noise),
    )
}  # fmt: skip
