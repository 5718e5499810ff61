"""Twelve kinds of network: gradients equal to hand-written autograd, and the network untouched,
also after an error.

torch.compile is run with backend="eager" here, because compiling with the default backend takes
half a minute.
"""

import copy
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from flax import linen
from torch import nn
from torch.nn import functional

from closedform.networks.extract import extract_samples

N_POINTS = 12

Unchanged = Callable[[nn.Module], AbstractContextManager[None]]


@dataclass(frozen=True, eq=False)
class Case:
    """A network, its data, and for a hidden and an output neuron a selector and the same value
    written by hand.
    """

    model: Any
    inputs: Any
    hidden: Any
    hidden_by_hand: Callable[[Any, Any], Any]
    output: Any
    output_by_hand: Callable[[Any, Any], Any]
    options: dict[str, Any] = field(default_factory=dict)


def data(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(N_POINTS, *shape))


def mlp() -> Case:
    model = nn.Sequential(
        nn.Linear(4, 16), nn.Tanh(), nn.Dropout(0.5), nn.Linear(16, 8), nn.ELU(), nn.Linear(8, 1)
    )
    return Case(
        model, data(4), "3:5", lambda m, x: m[3](torch.tanh(m[0](x)))[5], ":0", lambda m, x: m(x)[0]
    )


class Convolutions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 3, 3)
        self.norm = nn.BatchNorm2d(3)
        # In place: the convolution's output is overwritten right after it was seen.
        self.act = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(3, 4, 2)
        self.head = nn.Linear(4, 2)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.head(
            torch.sin(self.conv2(self.act(self.norm(self.conv1(image))))).mean(dim=(2, 3))
        )


def cnn() -> Case:
    def hidden(m: Any, x: Any) -> Any:
        return m.norm(m.conv1(x[None]))[0, 1, 2, 3]

    return Case(
        Convolutions(), data(1, 6, 6), "norm:1,2,3", hidden, "head:1", lambda m, x: m(x[None])[0, 1]
    )


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Linear(5, 12)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(12, 12), nn.BatchNorm1d(12), nn.SiLU()) for _ in range(2)
        )
        self.leave = nn.Linear(12, 1)
        for block in self.blocks:
            norm = block.get_submodule("1")
            nn.init.normal_(norm.running_mean)  # pyright: ignore[reportArgumentType]
            nn.init.uniform_(norm.running_var, 0.5, 2.0)  # pyright: ignore[reportArgumentType]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.enter(x)
        for block in self.blocks:
            hidden = hidden + block(hidden)
        return self.leave(hidden).squeeze(-1)


def residual() -> Case:
    def hidden(m: Any, x: Any) -> Any:
        first = m.enter(x[None])
        return m.blocks[1](first + m.blocks[0](first))[0, 3]

    return Case(Residual(), data(5), "blocks.1:3", hidden, "output:0", lambda m, x: m(x[None])[0])


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(
            8, 2, 16, dropout=0.1, batch_first=True, activation="gelu"
        )
        self.embed = nn.Linear(3, 8)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(8, 3)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return functional.softmax(self.head(self.encoder(self.embed(tokens)).mean(dim=1)), dim=-1)


def transformer() -> Case:
    def output(m: Any, x: Any) -> Any:
        scores = m.head(m.encoder(m.embed(x[None])).mean(dim=1))[0]
        return scores[2] - torch.logsumexp(scores[:2], dim=0)

    def hidden(m: Any, x: Any) -> Any:
        return m.encoder.layers[0](m.embed(x[None]))[0, 1, 3]

    return Case(Transformer(), data(4, 3), "encoder.layers.0:1,3", hidden, ":2", output)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(3, 6, num_layers=2, dropout=0.2, batch_first=True)
        self.head = nn.Linear(6, 1)

    def forward(self, series: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(self.head(self.gru(series)[0][:, -1]))


def gru() -> Case:
    def output(m: Any, x: Any) -> Any:
        return m.head(m.gru(x[None])[0][0, -1])[0]

    return Case(
        Recurrent(), data(5, 3), "gru[0]:2,4", lambda m, x: m.gru(x[None])[0][0, 2, 4], ":0", output
    )


class Autoencoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(6, 10), nn.Softplus(), nn.Linear(10, 2))
        self.decoder = nn.Sequential(nn.Linear(2, 10), nn.Softplus(), nn.Linear(10, 6))

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        code = self.encoder(x)
        return {"code": code, "reconstruction": self.decoder(code)}


def autoencoder() -> Case:
    def output(m: Any, x: Any) -> Any:
        return m.decoder(m.encoder(x))[4]

    return Case(
        Autoencoder(),
        data(6),
        "encoder:1",
        lambda m, x: m.encoder(x)[1],
        "output[reconstruction]:4",
        output,
    )


class Variational(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(5, 12), nn.GELU())
        self.mean = nn.Linear(12, 2)
        self.log_variance = nn.Linear(12, 2)
        self.decoder = nn.Linear(2, 5)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        trunk = self.trunk(x)
        mean = self.mean(trunk)
        noise = torch.randn_like(mean) if self.training else torch.zeros_like(mean)
        return torch.tanh(
            self.decoder(mean + noise * torch.exp(self.log_variance(trunk) / 2))
        ), mean


def variational() -> Case:
    def output(m: Any, x: Any) -> Any:
        return m.decoder(m.mean(m.trunk(x)))[3]

    return Case(
        Variational(), data(5), "mean:0", lambda m, x: m.mean(m.trunk(x))[0], "[0]:3", output
    )


class Siamese(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(4, 16), nn.ELU(), nn.Linear(16, 1))

    def forward(self, anchor: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        return (self.encoder(anchor) - self.encoder(other)).square().sum(dim=1)


def siamese() -> Case:
    other = data(4)[::-1].copy()

    def output(m: Any, x: Any) -> Any:
        # By hand the partner is found by the point it stands beside.
        place = int(np.flatnonzero((data(4) == x.detach().numpy()).all(axis=1))[0])
        return (m.encoder(x) - m.encoder(torch.tensor(other[place]))).square().sum()

    return Case(
        Siamese(),
        (data(4), other),
        "encoder@0:0",
        lambda m, x: m.encoder(x)[0],
        "output",
        output,
        {"wrt": 0},
    )


class MessagePassing(nn.Module):
    adjacency: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.message = nn.Linear(4, 6)
        self.update = nn.Linear(8, 3)
        self.readout = nn.Linear(3, 1)
        self.register_buffer("adjacency", (torch.rand(5, 5) < 0.5).float())

    def forward(self, nodes: torch.Tensor) -> torch.Tensor:
        pairs = nodes.shape[1]
        senders = nodes[:, None].expand(-1, pairs, -1, -1)
        receivers = nodes[:, :, None].expand(-1, -1, pairs, -1)
        messages = torch.tanh(self.message(torch.cat([senders, receivers], dim=-1)))
        gathered = (self.adjacency[None, :, :, None] * messages).sum(dim=2)
        return self.readout(
            torch.relu(self.update(torch.cat([nodes, gathered], dim=-1))).sum(dim=1)
        )


def graph() -> Case:
    def message(m: Any, x: Any) -> Any:
        return m.message(torch.cat([x[1], x[3]]))[2]

    return Case(
        MessagePassing(),
        data(5, 2),
        "message:3,1,2",
        message,
        "readout:0",
        lambda m, x: m(x[None])[0, 0],
    )


def compiled() -> Case:
    plain = nn.Sequential(nn.Linear(3, 12), nn.Tanh(), nn.Linear(12, 2))
    model = torch.compile(plain, backend="eager")
    assert callable(model)
    model(torch.zeros(2, 3))  # compiled before any hook: a stale graph would be used without care
    return Case(model, data(3), "1:7", lambda m, x: m[0](x)[7], ":1", lambda m, x: m(x)[1])


def sparse_autoencoder() -> Case:
    model = nn.Sequential(nn.Linear(4, 16), nn.GELU(), nn.Linear(16, 3))
    encoder = nn.Linear(16, 64).double()

    def feature(activation: torch.Tensor) -> torch.Tensor:
        weight, bias = encoder.weight.to(activation.dtype), encoder.bias.to(activation.dtype)
        return torch.relu(functional.linear(activation, weight, bias))[:, 9].square()

    direction = encoder.weight[9].detach()
    return Case(
        model,
        data(4),
        ("1", direction),
        lambda m, x: functional.gelu(m[0](x)) @ direction,
        ("1", feature),
        lambda m, x: torch.relu(encoder(functional.gelu(m[0](x)))[9]).square(),
    )


CASES = {
    case.__name__: case
    for case in (
        mlp,
        cnn,
        residual,
        transformer,
        gru,
        autoencoder,
        variational,
        siamese,
        graph,
        compiled,
        sparse_autoencoder,
    )
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, make_lived_in: Callable[[nn.Module], nn.Module]) -> Case:
    torch.manual_seed(3)
    made = CASES[request.param]()
    make_lived_in(made.model)
    return made


def by_hand(model: nn.Module, inputs: Any, value: Callable[[Any, Any], Any]) -> np.ndarray:
    """Gradients in float64, one point and one backward pass at a time."""
    double = copy.deepcopy(getattr(model, "_orig_mod", model)).double().eval()
    rows = []
    for row in inputs[0] if isinstance(inputs, tuple) else inputs:
        point = torch.tensor(row, requires_grad=True)
        rows.append(torch.autograd.grad(value(double, point), point)[0].reshape(-1).numpy())
    return np.stack(rows)


@pytest.mark.parametrize("place", ["hidden", "output"])
def test_gradients_equal_those_by_hand_and_the_network_is_untouched(
    case: Case, place: str, unchanged: Unchanged
) -> None:
    selector, value = getattr(case, place), getattr(case, f"{place}_by_hand")
    expected = by_hand(case.model, case.inputs, value)

    with unchanged(case.model):
        samples = extract_samples(
            case.model, case.inputs, selector, batch_size=5, rng=0, **case.options
        )

    found = samples.jacobians[:, 0]
    size = np.linalg.norm(expected, axis=1)
    assert size.max() > 1e-3
    error = np.linalg.norm(found - expected, axis=1)
    assert (error <= 1e-6 * size + 1e-300).all(), (error / size).max()


@pytest.mark.parametrize("place", ["hidden", "output"])
def test_the_network_in_its_own_precision_gives_the_same_directions(
    case: Case, place: str, unchanged: Unchanged
) -> None:
    expected = by_hand(case.model, case.inputs, getattr(case, f"{place}_by_hand"))

    with unchanged(case.model):
        samples = extract_samples(
            case.model, case.inputs, getattr(case, place), rng=0, precision="native", **case.options
        )

    found = samples.jacobians[:, 0]
    size = np.linalg.norm(expected, axis=1)
    assert (np.linalg.norm(found - expected, axis=1) <= 2e-4 * size + 1e-6).all()


@pytest.mark.parametrize("precision", ["auto", "native"])
def test_the_network_is_untouched_after_an_error_in_its_forward(
    case: Case, precision: str, unchanged: Unchanged
) -> None:
    def fail(module: Any, args: Any, output: Any) -> None:
        raise RuntimeError("a layer that fails")

    layers = list(case.model.modules())
    layers[len(layers) // 2].register_forward_hook(fail)
    # Whichever layer it is, the last one must run to make the pass fail.
    layers[-1].register_forward_hook(fail)

    with unchanged(case.model), pytest.raises(RuntimeError, match="a layer that fails"):
        extract_samples(case.model, case.inputs, ":0", rng=0, precision=precision, **case.options)  # pyright: ignore


class FlaxMlp(linen.Module):
    @linen.compact
    def __call__(self, x: Any) -> Any:
        x = linen.tanh(linen.Dense(16)(x))
        return linen.sigmoid(linen.Dense(2)(x))


def test_a_jax_mlp_gives_the_gradients_of_jax_grad_and_is_untouched() -> None:
    module = FlaxMlp()
    inputs = data(4)
    variables = module.init(jax.random.key(0), jnp.zeros((1, 4)))
    before = [np.asarray(leaf).tobytes() for leaf in jax.tree_util.tree_leaves(variables)]

    hidden = extract_samples((module, variables), inputs, "Dense_0:5", rng=0)
    output = extract_samples((module, variables), inputs, ":1", rng=0)

    with jax.enable_x64(True):
        weights: Any = variables["params"]
        first, second = weights["Dense_0"], weights["Dense_1"]

        def hidden_by_hand(x: Any) -> Any:
            return (x @ first["kernel"] + first["bias"])[5]

        def output_by_hand(x: Any) -> Any:
            return (
                jnp.tanh(x @ first["kernel"] + first["bias"]) @ second["kernel"] + second["bias"]
            )[1]

        expected = [
            np.asarray(jax.vmap(jax.grad(f))(jnp.asarray(inputs)))
            for f in (hidden_by_hand, output_by_hand)
        ]
    for samples, gradient in zip((hidden, output), expected, strict=True):
        error = np.linalg.norm(samples.jacobians[:, 0] - gradient, axis=1)
        assert (error <= 1e-6 * np.linalg.norm(gradient, axis=1)).all()
    assert before == [np.asarray(leaf).tobytes() for leaf in jax.tree_util.tree_leaves(variables)]
