"""Networks whose weights come with packages, as functions of a few inputs, for the atlas.

Only packages whose licence is stated are here; each is imported when its network is asked for.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import distribution, version
from typing import Any

import numpy as np

import closedform as cf

N_POINTS = 4000


@dataclass(frozen=True, slots=True)
class Published:
    """A network, and where its inputs lie."""

    package: str  # as pip knows it
    licence: str
    source: str  # where in the package the weights are
    names: tuple[str, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    load: Callable[[], Any]

    @property
    def version(self) -> str:
        """Of the package that is installed; PackageNotFoundError if none is."""
        return version(self.package)

    def inputs(self) -> np.ndarray:
        """Points drawn evenly, the same each time."""
        count = (N_POINTS, len(self.names))
        return np.random.default_rng(0).uniform(self.low, self.high, count)


FOIL = "neuralfoil/nn_weights_and_biases/nn-xlarge.npz"
QLKNN = "fusion_surrogates/qlknn/models/qlknn_7_11.onnx"
MULTIPOLES = (30, 220, 540, 800, 1500)


def _lift() -> Any:
    """The lift coefficient of an aerofoil, from a profile and its mirror image, as the package has
    it. All eight weights of the upper side are t + c, and of the lower side c - t.

    Only the weights are read: importing the package would need AeroSandbox.
    """
    import torch

    arrays = np.load(str(distribution("neuralfoil").locate_file(FOIL)))
    weights = {name: torch.tensor(array).double() for name, array in arrays.items()}
    layers = sorted({int(name.split(".")[1]) for name in weights})

    def run(x: Any) -> Any:
        for layer in layers:
            x = x @ weights[f"net.{layer}.weight"].T + weights[f"net.{layer}.bias"]
            x = x * torch.sigmoid(x) if layer != layers[-1] else x
        return x[:, 1]

    def lift(x: Any) -> Any:
        alpha, c, t, log_re = x.T
        angle, one, nothing = torch.deg2rad(alpha), torch.ones_like(alpha), torch.zeros_like(alpha)
        flow = [torch.cos(angle), torch.sin(angle) ** 2, (log_re - 12.5) / 3.5, nothing, one, one]
        sides = []
        for sign in (1, -1):
            shape = [*[t + sign * c] * 8, *[sign * c - t] * 8, nothing, nothing]
            sides.append(run(torch.stack([*shape, sign * torch.sin(2 * angle), *flow], dim=1)))
        return (sides[0] - sides[1])[:, None] / 4

    return lift


def _plasma() -> Any:
    """Fluxes of heat and particles in a tokamak, and the largest growth rate."""
    import torch

    network: Any = cf.load_network(str(distribution("fusion-surrogates").locate_file(QLKNN))).model
    return lambda x: torch.cat(list(network(x).values()), dim=1)


def _spectrum() -> Any:
    """Logarithms of the temperature spectrum of the cosmic background at some multipoles."""
    import jax.numpy as jnp

    emulators: Any = import_module("cosmopower_jax.cosmopower_jax")
    emulator = emulators.CosmoPowerJAX(probe="cmb_tt", verbose=False)
    places = np.searchsorted(emulator.modes, MULTIPOLES)

    def at(x: Any) -> Any:
        # tau and the primordial spectrum; what makes the plasma is Planck's.
        fixed = jnp.broadcast_to(jnp.array([0.0224, 0.12, 0.67]), (len(x), 3))
        spectra = emulator.predict(jnp.concatenate([fixed, x], axis=1))
        # Of one row it drops the first axis.
        return jnp.log(spectra).reshape(len(x), -1)[:, places]

    return at


PUBLISHED = {
    "NeuralFoil, lift": Published(
        "neuralfoil", "MIT", FOIL, ("alpha", "c", "t", "log_re"),
        (-3.0, 0.0, 0.10, np.log(5e5)), (5.0, 0.12, 0.25, np.log(1e7)), _lift,
    ),
    "QLKNN 7_11": Published(
        "fusion-surrogates", "Apache-2.0", QLKNN,
        ("Ati", "Ate", "Ane", "Ani", "q", "smag", "x", "Ti_Te", "LogNuStar", "normni"),
        (2.0, 2.0, 0.5, 0.5, 1.0, 0.2, 0.1, 0.5, -4.0, 0.8),
        (12.0, 12.0, 4.0, 4.0, 4.0, 3.0, 0.9, 2.0, -1.0, 1.0), _plasma,
    ),
    "CosmoPower, temperature": Published(
        "cosmopower-jax", "GPL-3.0", "cosmopower_jax/trained_models/cmb_tt.pkl",
        ("tau", "ns", "lnA"), (0.02, 0.9, 2.8), (0.12, 1.02, 3.3), _spectrum,
    ),
}  # fmt: skip
