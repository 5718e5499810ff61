"""Networks that are shown the values: sequences, normalised batches, quantiles, other libraries."""

from typing import Any

import numpy as np
import torch

from closedform_bench.new_user.training import Scaled
from closedform_bench.unfamiliar.material import Material, Trained
from closedform_bench.unfamiliar.training import BATCH, fit, tensor

WIDTH = 64
N_GAUSSIAN = 400
"""Points of a Gaussian process, whose cost grows with their cube."""


class Recurrent(torch.nn.Module):
    """A GRU that takes the inputs one after another."""

    def __init__(self, scaled: Scaled) -> None:
        super().__init__()
        self.scaled, self.head = scaled, torch.nn.Linear(48, 1)
        self.gru = torch.nn.GRU(1, 48, batch_first=True)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """One number for each sequence."""
        return self.head(self.gru(self.scaled(inputs)[:, :, None])[0][:, -1])


class Attentive(torch.nn.Module):
    """A transformer whose tokens are the inputs, and which averages over them in the end."""

    def __init__(self, scaled: Scaled, n_inputs: int) -> None:
        super().__init__()
        self.scaled, self.embed = scaled, torch.nn.Linear(1, 24)
        self.places = torch.nn.Parameter(torch.randn(n_inputs, 24))
        layer = torch.nn.TransformerEncoderLayer(
            24, 4, 48, dropout=0.0, activation="gelu", batch_first=True
        )
        self.blocks = torch.nn.TransformerEncoder(layer, 1)
        self.head = torch.nn.Sequential(
            torch.nn.Linear(24, 32), torch.nn.GELU(), torch.nn.Linear(32, 1)
        )

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """One number for each sequence."""
        tokens = self.embed(self.scaled(inputs)[:, :, None]) + self.places
        return self.head(self.blocks(tokens).mean(dim=1))


def recurrent(material: Material, rng: np.random.Generator) -> Trained:
    """A GRU."""
    return _regression(Recurrent(scaling(material)), material, rng)


def attentive(material: Material, rng: np.random.Generator) -> Trained:
    """A transformer."""
    network = Attentive(scaling(material), len(material.names))
    return _regression(network, material, rng, batch=80)  # its steps are the slowest


def normalised(material: Material, rng: np.random.Generator) -> Trained:
    """Batch normalisation, left in training mode."""
    network = torch.nn.Sequential(
        torch.nn.BatchNorm1d(len(material.names)), torch.nn.Linear(len(material.names), WIDTH),
        torch.nn.BatchNorm1d(WIDTH), torch.nn.SiLU(), torch.nn.Linear(WIDTH, WIDTH),
        torch.nn.BatchNorm1d(WIDTH), torch.nn.SiLU(), torch.nn.Linear(WIDTH, 1),
    )  # fmt: skip
    return _regression(network, material, rng)


def quantiles(material: Material, rng: np.random.Generator) -> Trained:
    """Three quantiles of noisy values, of which the median is read."""
    network = torch.nn.Sequential(
        scaling(material), torch.nn.Linear(len(material.names), WIDTH), torch.nn.SiLU(),
        torch.nn.Linear(WIDTH, WIDTH), torch.nn.SiLU(), torch.nn.Linear(WIDTH, 3),
    )  # fmt: skip
    noise = 0.05 * rng.normal(size=len(material.targets))
    x, y = tensor(material.points), tensor(material.targets + noise)[:, None]
    levels = torch.tensor([0.1, 0.5, 0.9])

    def pinball(rows: torch.Tensor) -> torch.Tensor:
        missed = y[rows] - network(x[rows])
        return torch.maximum(levels * missed, (levels - 1) * missed).mean()

    fit(network.parameters(), pinball, len(x), material.steps, rng)
    return Trained(network, material.held, 1)


def gaussian_pipeline(material: Material, rng: np.random.Generator) -> Trained:
    """scikit-learn's scaler and Gaussian process."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    widths: Any = np.ones(len(material.names))  # one for each input, which its types do not know
    kernel = ConstantKernel(10.0) * RBF(widths, (0.1, 100.0)) + WhiteKernel(1e-5, (1e-8, 1e-1))
    model = make_pipeline(StandardScaler(), GaussianProcessRegressor(kernel, normalize_y=True))
    rows = rng.permutation(len(material.points))[:N_GAUSSIAN]
    return Trained(model.fit(material.points[rows], material.targets[rows]), material.held)


def equinox(material: Material, rng: np.random.Generator) -> Trained:
    """An Equinox perceptron, which takes one point."""
    import equinox as eqx
    import jax
    import optax
    from jax import numpy as jnp

    centre, spread = (jnp.asarray(v) for v in scales(material))

    class Network(eqx.Module):
        layers: eqx.nn.MLP

        def __call__(self, point: Any) -> Any:
            return self.layers((point - centre) / spread)[0]

    seed = jax.random.PRNGKey(int(rng.integers(2**31)))
    network = Network(eqx.nn.MLP(len(material.names), 1, WIDTH, 2, jax.nn.silu, key=seed))
    weights, static = eqx.partition(network, eqx.is_inexact_array)
    adam = optax.adam(optax.cosine_onecycle_schedule(material.steps, 6e-3))
    x, y = jnp.asarray(material.points), jnp.asarray(material.targets)

    def loss(weights: Any, rows: Any) -> Any:
        return ((jax.vmap(eqx.combine(weights, static))(x[rows]) - y[rows]) ** 2).mean()

    def step(state: Any, rows: Any) -> Any:
        weights, moments = state
        change, moments = adam.update(jax.grad(loss)(weights, rows), moments)
        return (optax.apply_updates(weights, change), moments), None

    rows = jnp.asarray(rng.integers(len(x), size=(material.steps, 250)))
    (weights, _), _ = jax.jit(lambda state: jax.lax.scan(step, state, rows))(
        (weights, adam.init(weights))
    )
    return Trained(eqx.combine(weights, static), material.held)


def scales(material: Material) -> tuple[np.ndarray, np.ndarray]:
    """Mean and spread of the inputs."""
    return material.points.mean(axis=0), material.points.std(axis=0)


def scaling(material: Material) -> Scaled:
    """A first layer that standardises inputs."""
    centre, spread = scales(material)
    return Scaled(tensor(centre), tensor(spread))


def _regression(
    network: torch.nn.Module, material: Material, rng: np.random.Generator, *, batch: int = BATCH
) -> Trained:
    """The least squares, and the output."""
    x, y = tensor(material.points), tensor(material.targets)[:, None]
    fit(
        network.parameters(), lambda rows: ((network(x[rows]) - y[rows]) ** 2).mean(), len(x),
        material.steps, rng, batch=batch,
    )  # fmt: skip
    return Trained(network, material.held)
