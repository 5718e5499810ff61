"""Dynamical systems with six and more inputs."""

from itertools import combinations

import numpy as np

from closedform.arrays import FloatArray
from closedform_bench.invariants.flows import along, flow, hamiltonian
from closedform_bench.invariants.sampling import Condition, box, gaps, moved_within
from closedform_bench.invariants.system import System, Velocity

_TOP = ("w1", "w2", "w3", "g1", "g2", "g3")
_ON_SPHERE = "g1**2 + g2**2 + g3**2 = 1"
_NEUMANN = ("q1", "q2", "q3", "p1", "p2", "p3")
_CHAIN = ("q1", "q2", "q3", "p1", "p2", "p3")
_VORTEX = ("x1", "x2", "x3", "y1", "y2", "y3")
_BODIES = tuple(f"{letter}{i}" for letter in "xyuv" for i in (1, 2, 3))

_NEUMANN_FLOW = flow(
    _NEUMANN,
    "p1",
    "p2",
    "p3",
    *(f"-{i}*q{i} + (q1**2 + 2*q2**2 + 3*q3**2 - p1**2 - p2**2 - p3**2)*q{i}" for i in (1, 2, 3)),
)


def _heavy_top(moments: tuple[int, int, int], centre: tuple[int, int, int]) -> Velocity:
    """Euler's equations of a heavy top: turning rates w and the vertical g, in the body's frame."""
    inertia, weight = np.array(moments, dtype=np.float64), np.array(centre, dtype=np.float64)

    def velocity(points: FloatArray) -> FloatArray:
        turning, vertical = points[:, :3], points[:, 3:]
        torque = np.cross(inertia * turning, turning) + np.cross(vertical, weight)
        return np.concatenate([torque / inertia, np.cross(vertical, turning)], axis=1)

    return velocity


def _tops(n: int, rng: np.random.Generator) -> FloatArray:
    vertical = rng.normal(size=(n, 3))
    return np.concatenate(
        [rng.uniform(-2, 2, (n, 3)), vertical / np.linalg.norm(vertical, axis=1, keepdims=True)],
        axis=1,
    )


def _on_sphere(n: int, rng: np.random.Generator) -> FloatArray:
    """Places on the unit sphere, and momenta along it."""
    place, momentum = rng.normal(size=(2, n, 3))
    place /= np.linalg.norm(place, axis=1, keepdims=True)
    momentum -= (place * momentum).sum(axis=1, keepdims=True) * place
    return np.concatenate([place, momentum], axis=1)


def _neumann_invariant(k: int) -> str:
    others = [j for j in (1, 2, 3) if j != k]
    return f"q{k}**2 + " + " + ".join(f"(q{k}*p{j} - q{j}*p{k})**2/({k - j})" for j in others)


def _ordered(points: FloatArray) -> np.ndarray:
    return np.diff(points[:, :3], axis=1).min(axis=1) > 0.3


def _apart(columns: list[tuple[int, int]], least: float) -> Condition:
    pairs = list(combinations(columns, 2))
    return lambda points: gaps(points, pairs) > least


def _distance(i: int, j: int) -> str:
    return f"((x{i} - x{j})**2 + (y{i} - y{j})**2)"


_PAIRS = ((1, 2), (2, 3), (1, 3))
_TODA = "(p1**2 + p2**2 + p3**2)/2 + exp(q1 - q2) + exp(q2 - q3) + exp(q3 - q1)"
_MOSER = "(p1**2 + p2**2 + p3**2)/2 + " + " + ".join(f"1/(q{i} - q{j})**2" for i, j in _PAIRS)
_PRODUCT = "*".join(_distance(i, j) for i, j in _PAIRS)
_GRAVITY = (
    "("
    + " + ".join(f"{name}**2" for name in _BODIES[6:])
    + ")/2"
    + "".join(f" - 1/sqrt{_distance(i, j)}" for i, j in _PAIRS)
)
_LAGRANGE = _heavy_top((1, 1, 2), (0, 0, 1))
_KOVALEVSKAYA = _heavy_top((2, 2, 1), (1, 0, 0))
_TODA_FLOW = hamiltonian(_CHAIN, _TODA)
_MOSER_FLOW = hamiltonian(_CHAIN, _MOSER)
_VORTEX_FLOW = hamiltonian(_VORTEX, f"-log({_PRODUCT})")
_BODIES_FLOW = hamiltonian(_BODIES, _GRAVITY)
_VORTICES_APART = _apart([(0, 3), (1, 4), (2, 5)], 0.4)
_BODIES_APART = _apart([(0, 3), (1, 4), (2, 5)], 0.5)

MANY_SYSTEMS = (
    System(
        "lagrange-top", "symmetric heavy top", "dynamics", _TOP,
        ("(w1**2 + w2**2 + 2*w3**2)/2 + g3", "w1*g1 + w2*g2 + 2*w3*g3", "w3"),
        _tops, along(_LAGRANGE, 1.0), (_ON_SPHERE,), _LAGRANGE,
    ),
    System(
        "kovalevskaya-top", "Kovalevskaya's heavy top", "dynamics", _TOP,
        ("w1**2 + w2**2 + w3**2/2 + g1", "2*w1*g1 + 2*w2*g2 + w3*g3",
         "(w1**2 - w2**2 - g1)**2 + (2*w1*w2 - g2)**2"),
        _tops, along(_KOVALEVSKAYA, 1.0), (_ON_SPHERE,), _KOVALEVSKAYA,
    ),
    System(
        "neumann", "Neumann's oscillator on a sphere", "dynamics", _NEUMANN,
        (_neumann_invariant(1), _neumann_invariant(2)),
        _on_sphere, along(_NEUMANN_FLOW, 1.0),
        ("q1**2 + q2**2 + q3**2 = 1", "q1*p1 + q2*p2 + q3*p3 = 0"), _NEUMANN_FLOW,
    ),
    System(
        "toda", "periodic Toda chain of three", "dynamics", _CHAIN,
        (_TODA, "p1 + p2 + p3", "p1*p2*p3 - p1*exp(q2 - q3) - p2*exp(q3 - q1) - p3*exp(q1 - q2)"),
        box(-1, 1, 6), along(_TODA_FLOW, 0.5), velocity=_TODA_FLOW,
    ),
    System(
        "calogero-moser", "Calogero-Moser chain of three", "dynamics", _CHAIN,
        (_MOSER, "p1 + p2 + p3", "p1*p2*p3 - p1/(q2 - q3)**2 - p2/(q3 - q1)**2 - p3/(q1 - q2)**2"),
        box(-2, 2, 6, _ordered), moved_within(along(_MOSER_FLOW, 1.0), _ordered),
        velocity=_MOSER_FLOW,
        # The sums of q and of p*q grow at the constant rates P and 2H.
        further=("(p1 + p2 + p3)*(p1*q1 + p2*q2 + p3*q3) - (q1 + q2 + q3)*2*(" + _MOSER + ")",),
    ),
    System(
        "vortices", "three vortices of one strength", "dynamics", _VORTEX,
        (_PRODUCT, "x1 + x2 + x3", "y1 + y2 + y3", "x1**2 + x2**2 + x3**2 + y1**2 + y2**2 + y3**2"),
        box(-2, 2, 6, _VORTICES_APART), moved_within(along(_VORTEX_FLOW, 1.0), _VORTICES_APART),
        velocity=_VORTEX_FLOW,
    ),
    System(
        "three-body", "three bodies in a plane", "dynamics", _BODIES,
        (_GRAVITY, "u1 + u2 + u3", "v1 + v2 + v3", "x1*v1 - y1*u1 + x2*v2 - y2*u2 + x3*v3 - y3*u3"),
        box(-2, 2, 12, _BODIES_APART), moved_within(along(_BODIES_FLOW, 1.0, 2.5), _BODIES_APART),
        velocity=_BODIES_FLOW,
        # The centre of mass moves on a straight line.
        further=("(x1 + x2 + x3)*(v1 + v2 + v3) - (y1 + y2 + y3)*(u1 + u2 + u3)",),
    ),
)  # fmt: skip
