"""Laws of physics, chemistry and engineering, each learned by a regression network."""

from collections.abc import Mapping
from functools import partial

import numpy as np
from scipy.special import ellipk

import closedform as cf
from closedform_bench.new_user.case import Case, Make
from closedform_bench.new_user.training import regression, uniform

N_POINTS = 2000

LAWS: dict[str, tuple[str, dict[str, tuple[float, float]]]] = {
    "damped pendulum": (
        "0.3*omega + 8.175*sin(theta)", {"theta": (-2.5, 2.5), "omega": (-3.0, 3.0)},
    ),
    "thin lens": ("1/a + 1/b", {"a": (1.0, 4.0), "b": (1.0, 4.0)}),
    "Michaelis-Menten": ("V*S/(K + S)", {"V": (1.0, 3.0), "S": (0.2, 4.0), "K": (0.5, 2.0)}),
    "Arrhenius": ("A*exp(-E/T)", {"A": (1.0, 3.0), "E": (1.0, 4.0), "T": (1.0, 3.0)}),
    "relativistic energy": ("m**2 + p**2", {"m": (0.5, 3.0), "p": (0.5, 3.0)}),
    "Planck": ("w**3/(exp(w/T) - 1)", {"w": (0.5, 4.0), "T": (0.5, 2.0)}),
}  # fmt: skip
"""Formula and ranges of inputs."""

SCATTERING = "ep*c*Ef**2*r**2*(w**2/(w**2 - w0**2))**2"
SCATTERING_RANGES = {
    "ep": (9e-12, 2.7e-11), "c": (1e8, 3e8), "Ef": (100.0, 500.0), "r": (1e-3, 2e-3),
    "w": (1e14, 2e14), "w0": (3e14, 5e14),
}  # fmt: skip
SCATTERING_UNITS = {
    "ep": "F/m", "c": "m/s", "Ef": "V/m", "r": "m", "w": "rad/s", "w0": "rad/s",
}  # fmt: skip

PIPE = "f*L*rho*v**2/D"
PIPE_RANGES = {
    "f": (0.01, 0.04), "L": (5.0, 50.0), "D": (0.02, 0.2), "rho": (700.0, 1200.0),
    "v": (0.5, 4.0), "T": (280.0, 350.0), "p": (1e5, 5e5), "eps": (1e-5, 1e-4),
    "angle": (0.0, 1.0), "age": (0.0, 20.0),
}  # fmt: skip
"""A pressure drop among ten measured numbers, half of which do not matter."""


def law(
    truth: str,
    ranges: Mapping[str, tuple[float, float]],
    seed: int,
    *,
    noise: float = 0.0,
    of_logarithm: bool = False,
    units: Mapping[str, str] | None = None,
) -> Case:
    """A network that has learned a formula."""
    rng = np.random.default_rng([seed, len(truth)])
    inputs = uniform(list(ranges.values()), N_POINTS, rng)
    formula = cf.parse(truth, names=list(ranges))
    targets = formula(inputs) * (1 + noise * rng.normal(size=N_POINTS))
    network = regression(inputs, np.log(targets) if of_logarithm else targets, seed)
    asked = {} if units is None else {"units": units}
    return Case(network, inputs, "5:0", tuple(ranges), truth, asked)


def pipe_of_logarithms(seed: int) -> Case:
    """The same pressure drop by an engineer who takes the logarithm of everything."""
    rng = np.random.default_rng([seed, 11])
    positive = PIPE_RANGES | {"angle": (0.1, 1.0), "age": (1.0, 20.0)}
    inputs = uniform(list(positive.values()), N_POINTS, rng)
    targets = cf.parse(PIPE, names=list(positive))(inputs)
    targets = np.log(targets * (1 + 0.03 * rng.normal(size=N_POINTS)))
    names = tuple(f"log_{name}" for name in positive)
    truth = "log_f + log_L + log_rho + 2*log_v - log_D"
    logarithms = np.log(inputs)
    return Case(regression(logarithms, targets, seed), logarithms, "5:0", names, truth)


def exact_period(seed: int) -> Case:
    """The period of a pendulum at any amplitude: an elliptic integral, without a closed form."""
    rng = np.random.default_rng([seed, 7])
    inputs = uniform([(0.2, 2.0), (5.0, 15.0), (0.5, 2.8)], N_POINTS, rng)
    length, gravity, amplitude = inputs.T
    targets = 4 * np.sqrt(length / gravity) * ellipk(np.sin(amplitude / 2) ** 2)
    network = regression(inputs, targets, seed)
    return Case(network, inputs, "5:0", ("L", "g", "a"), None)


LAW_CASES: dict[str, Make] = {
    **{name: partial(law, *entry) for name, entry in LAWS.items()},
    "I.32.17 in SI": partial(law, SCATTERING, SCATTERING_RANGES, of_logarithm=True),
    "I.32.17 in SI, units": partial(
        law, SCATTERING, SCATTERING_RANGES, of_logarithm=True, units=SCATTERING_UNITS
    ),
    "pipe pressure drop": partial(law, PIPE, PIPE_RANGES, noise=0.03, of_logarithm=True),
    "pipe, logarithms": pipe_of_logarithms,
    "exact period": exact_period,
}
