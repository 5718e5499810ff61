"""A trained network to try things on: it saw pairs of snapshots of an oscillator, and learned which
belong together.

The data are those of the paper's experiment 8; ``python -m closedform_bench.example_network FILE``
trains the network again.
"""

from importlib.resources import as_file, files
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from closedform.arrays import FloatArray
from closedform.networks.siamese import load_siamese

if TYPE_CHECKING:
    import torch

NAMES = ("x", "v")
LONGEST, N_TIMES = 5.0, 10_001
"""Snapshots are taken at one of so many times, up to this one."""


class Example(NamedTuple):
    """A trained network with data that it has not seen."""

    network: "torch.nn.Sequential"  # its latent neuron is ``"latent:0"``
    inputs: FloatArray  # shape (n_points, n_inputs)
    names: tuple[str, ...]  # the inputs


def load_example(n_points: int = 4000) -> Example:
    """The network with snapshots that it has not seen."""
    with as_file(files("closedform") / "example.safetensors") as file:
        network = load_siamese(file)
    return Example(network, snapshots(n_points), NAMES)


def snapshots(n_points: int) -> FloatArray:
    """Positions and velocities of oscillators in the potential x^2 / 2 + x^4 / 4, each at a time of
    its own.
    """
    from scipy.integrate import solve_ivp

    # Seed, experiment and split, from which the generator of the paper's test data starts.
    rng = np.random.default_rng((0, 8, 2))
    start, _ = rng.uniform(0, 1, (2, n_points, 2))
    times = np.linspace(0.0, LONGEST, N_TIMES)[rng.integers(0, N_TIMES, (3, n_points))][0]

    def motion(_: float, state: FloatArray) -> FloatArray:
        x, v = state.reshape(2, n_points)
        # All trajectories reach their ends together, when the parameter is 1.
        return (times * np.stack([v, -x - x**3])).ravel()

    # Far more precise than what the network can tell apart.
    precise = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-12}
    path = solve_ivp(motion, (0.0, 1.0), start.T.ravel(), **precise)
    return np.ascontiguousarray(path.y[:, -1].reshape(2, n_points).T)
