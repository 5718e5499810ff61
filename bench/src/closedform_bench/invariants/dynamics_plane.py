"""Dynamical systems with two and three inputs."""

from closedform_bench.invariants.flows import along, flow
from closedform_bench.invariants.sampling import box, moved_within
from closedform_bench.invariants.system import System

_DAMPED = flow(("x", "p"), "p", "-x - p/2")
_LOTKA_VOLTERRA = flow(("R", "F"), "R*(0.11 - 0.04*F)", "F*(0.01*R - 0.04)")
_SIR = flow(("s", "i"), "-2*s*i", "2*s*i - i")
_PENDULUM = flow(("theta", "w", "c"), "w", "-c*sin(theta)", "0")
_SPACE = ("x", "y", "z")
_PAPER_SCISSORS = flow(_SPACE, "x*(y - z)", "y*(z - x)", "z*(x - y)")
_EULER_TOP = flow(_SPACE, "-y*z", "z*x", "-x*y/3")
_THREE_WAVE = flow(_SPACE, "y*z", "-2*x*z", "x*y")
_MILD_LORENZ = flow(_SPACE, "y", "x - x*z", "x*y")
_SCHWARZSCHILD = flow(("r", "p", "L"), "p", "-1/r**2 + L**2/r**3 - 3*L**2/r**4", "0")

PLANE_SYSTEMS = (
    System(
        "damped", "damped oscillator", "dynamics", ("x", "p"),
        # The angle jumps where x changes sign, so the plane is cut there.
        ("log(x**2 + x*p/2 + p**2) - 2/sqrt(15)*atan((4*p + x)/(sqrt(15)*x))",),
        box((0.2, -2), (2, 2), 2), moved_within(along(_DAMPED, 1.0, 2.5), lambda x: x[:, 0] > 0.1),
        velocity=_DAMPED,
    ),
    System(
        "lotka-volterra", "predators and prey", "dynamics", ("R", "F"),
        ("0.11*log(F) + 0.04*log(R) - 0.04*F - 0.01*R",),
        box(1, 10, 2), along(_LOTKA_VOLTERRA, 2.5), velocity=_LOTKA_VOLTERRA,
    ),
    System(
        "sir", "an epidemic", "dynamics", ("s", "i"), ("i + s - log(s)/2",),
        box(0.05, 0.95, 2), along(_SIR, 0.2), velocity=_SIR,
    ),
    System(
        "pendulum", "pendulums of any length", "dynamics", ("theta", "w", "c"),
        ("w**2/2 - c*cos(theta)", "c"),
        box((-5, -5, 0), (5, 5, 10), 3), along(_PENDULUM, 2.5), velocity=_PENDULUM,
    ),
    System(
        "rock-paper-scissors", "three species in a cycle", "dynamics", _SPACE,
        ("x + y + z", "x*y*z"),
        box(0.3, 2, 3), along(_PAPER_SCISSORS, 0.5), velocity=_PAPER_SCISSORS,
    ),
    System(
        "euler-top", "free rigid body", "dynamics", _SPACE,
        ("x**2 + 2*y**2 + 3*z**2", "x**2 + 4*y**2 + 9*z**2"),
        box(-2, 2, 3), along(_EULER_TOP, 1.0), velocity=_EULER_TOP,
    ),
    System(
        "three-wave", "three coupled waves", "dynamics", _SPACE, ("2*x**2 + y**2", "x**2 - z**2"),
        box(-2, 2, 3), along(_THREE_WAVE, 1.0), velocity=_THREE_WAVE,
    ),
    System(
        "conservative-lorenz", "the Lorenz system without friction", "dynamics", _SPACE,
        ("x**2/2 - z", "(y**2 + z**2)/2 - z"),
        box(-2, 2, 3), along(_MILD_LORENZ, 1.0), velocity=_MILD_LORENZ,
    ),
    System(
        "schwarzschild", "radial motion around a black hole", "dynamics", ("r", "p", "L"),
        ("p**2 + (1 - 2/r)*(1 + L**2/r**2)", "L"),
        box((4, -1, 2), (10, 1, 6), 3), along(_SCHWARZSCHILD, (2.0, 0.5, 1.0)),
        velocity=_SCHWARZSCHILD,
    ),
)  # fmt: skip
