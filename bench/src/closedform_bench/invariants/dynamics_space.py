"""Dynamical systems with four and five inputs."""

import numpy as np

from closedform.arrays import FloatArray
from closedform_bench.invariants.flows import along, flow, hamiltonian
from closedform_bench.invariants.sampling import box, moved_within, redrawn
from closedform_bench.invariants.system import System, Velocity

_PHASE = ("x", "y", "px", "py")
_ISOTROPIC = "(px**2 + py**2 + x**2 + y**2)/2"
_TWO_TO_ONE = "(px**2 + py**2 + x**2 + 4*y**2)/2"
_KEPLER = "(px**2 + py**2)/2 - 1/sqrt(x**2 + y**2)"
_HENON_HEILES = "(px**2 + py**2 + x**2 + y**2)/2 + x**2*y + y**3/3"
_CUBIC = "(px**2 + py**2)/2 + x**2*y + 2*y**3"
_QUARTIC = "(px**2 + py**2)/2 + x**4 + 6*x**2*y**2 + y**4"
_DOUBLE = "w1**2 + w2**2/2 + w1*w2*cos(t1 - t2) - 2*cos(t1) - cos(t2)"
_ARMS = ("t1", "t2", "w1", "w2")
_CHARGE = ("x", "y", "vx", "vy")
_THERMOSTAT = ("q", "p", "z", "eta")

_NOSE_HOOVER = flow(_THERMOSTAT, "p", "-q - z*p", "p**2 - 1", "z")
_MAGNETIC = flow(_CHARGE, "vx", "vy", "vy*x", "-vx*x")
_DOUBLE_PENDULUM = flow(
    _ARMS,
    "w1",
    "w2",
    "(-3*sin(t1) - sin(t1 - 2*t2) - 2*sin(t1 - t2)*(w2**2 + w1**2*cos(t1 - t2)))/(3 - "
    "cos(2*t1 - 2*t2))",
    "2*sin(t1 - t2)*(2*w1**2 + 2*cos(t1) + w2**2*cos(t1 - t2))/(3 - cos(2*t1 - 2*t2))",
)


def _chain(size: int) -> tuple[tuple[str, ...], Velocity]:
    """The periodic Volterra chain: each species eats the next one."""
    names = tuple(f"v{i + 1}" for i in range(size))
    return names, flow(
        names, *(f"{names[i]}*({names[(i + 1) % size]} - {names[i - 1]})" for i in range(size))
    )


def _is_bound(points: FloatArray) -> np.ndarray:
    """Whether an orbit around a unit mass is an ellipse, and away from the centre."""
    distance = np.linalg.norm(points[:, :2], axis=1)
    energy = (points[:, 2:] ** 2).sum(axis=1) / 2 - 1 / np.maximum(distance, 1e-9)
    return (distance > 0.3) & (energy < -0.15)


def _arms(n: int, rng: np.random.Generator) -> FloatArray:
    return np.concatenate(
        [rng.uniform(-np.pi, np.pi, (n, 2)), 0.5 * rng.normal(size=(n, 2))], axis=1
    )


def _mechanical(
    name: str, title: str, energy: str, others: tuple[str, ...], reach: float, longest: float = 4.0
) -> System:
    """A particle in a plane, with its energy among the invariants."""
    velocity = hamiltonian(_PHASE, energy)
    return System(
        name, title, "dynamics", _PHASE, (energy, *others), box(-reach, reach, 4),
        along(velocity, reach / 2, longest),
        velocity=velocity,
    )  # fmt: skip


_FOUR, _FOUR_FLOW = _chain(4)
_FIVE, _FIVE_FLOW = _chain(5)
_KEPLER_FLOW = hamiltonian(_PHASE, _KEPLER)

SPACE_SYSTEMS = (
    _mechanical("isotropic", "isotropic oscillator in a plane", _ISOTROPIC,
     ("x*py - y*px", "x*y + px*py"), 2.0),
    _mechanical("two-to-one", "2:1 oscillator", _TWO_TO_ONE,
     ("px**2 + x**2", "x*px*py + y*(x**2 - px**2)"), 2.0),
    System(
        "kepler", "planet around a sun", "dynamics", _PHASE,
        (_KEPLER, "x*py - y*px", "py*(x*py - y*px) - x/sqrt(x**2 + y**2)"),
        redrawn(box(-2, 2, 4), _is_bound), moved_within(along(_KEPLER_FLOW, 1.0), _is_bound),
        velocity=_KEPLER_FLOW,
    ),
    _mechanical(
        "henon-heiles", "Henon-Heiles, integrable", _HENON_HEILES,
        ("px*py + x*y + x*y**2 + x**3/3",), 1.0, 2.0
    ),
    _mechanical("cubic", "cubic potential x^2 y + 2 y^3", _CUBIC,
     ("x**4 + 4*x**2*y**2 - 4*px*(px*y - py*x)",), 1.0, 2.0),
    _mechanical("quartic", "quartic potential", _QUARTIC, ("px*py + 4*x**3*y + 4*x*y**3",), 1.0),
    System(
        "magnetic", "charge in a field that grows with x", "dynamics", _CHARGE,
        ("vx**2 + vy**2", "vy + x**2/2"),
        box(-2, 2, 4), along(_MAGNETIC, 1.0), velocity=_MAGNETIC,
    ),
    System(
        "nose-hoover", "oscillator with a thermostat", "dynamics", _THERMOSTAT,
        ("(q**2 + p**2 + z**2)/2 + eta",),
        box(-2, 2, 4), along(_NOSE_HOOVER, 1.0), velocity=_NOSE_HOOVER,
    ),
    System(
        "double-pendulum", "double pendulum", "dynamics", _ARMS, (_DOUBLE,),
        _arms, along(_DOUBLE_PENDULUM, (2.0, 2.0, 0.5, 0.5)), velocity=_DOUBLE_PENDULUM,
    ),
    System(
        "volterra-4", "Volterra chain of four", "dynamics", _FOUR,
        ("v1 + v2 + v3 + v4", "v1*v3", "v2*v4"),
        box(0.3, 2, 4), along(_FOUR_FLOW, 0.5), velocity=_FOUR_FLOW,
    ),
    System(
        "volterra-5", "Volterra chain of five", "dynamics", _FIVE,
        ("v1 + v2 + v3 + v4 + v5", "v1*v3 + v2*v4 + v3*v5 + v4*v1 + v5*v2", "v1*v2*v3*v4*v5"),
        box(0.3, 2, 5), along(_FIVE_FLOW, 0.5), velocity=_FIVE_FLOW,
    ),
)  # fmt: skip
