"""Other kinds of networks: classifiers, autoencoders, pictures, sequences, estimators."""

from typing import Any

import numpy as np
import torch

from closedform_bench.new_user.case import Case, Make
from closedform_bench.new_user.training import minimise, perceptron, uniform


def _generator(seed: int, number: int) -> np.random.Generator:
    torch.manual_seed(seed)
    return np.random.default_rng([seed, number])


def classifier(seed: int) -> Case:
    """Inside or outside a circle, with one label in ten wrong."""
    rng = _generator(seed, 1)
    inputs = uniform([(-2, 2), (-2, 2)], 3000, rng)
    labels = ((inputs**2).sum(axis=1) > 2) ^ (rng.uniform(size=3000) < 0.1)
    network = perceptron(inputs, width=16)
    x, y = torch.as_tensor(inputs), torch.as_tensor(labels, dtype=torch.float64)[:, None]
    loss = torch.nn.functional.binary_cross_entropy_with_logits
    minimise(list(network.parameters()), lambda: loss(network(x), y), 600)
    return Case(network, inputs, "5:0", ("x", "y"), "x**2 + y**2")


def _decay(causes: torch.Tensor) -> torch.Tensor:
    times = torch.linspace(0, 3, 50, dtype=causes.dtype)
    return torch.exp(-(causes[:, :1] / causes[:, 1:2]) * times)


def autoencoder(seed: int) -> Case:
    """A bottleneck of recordings of a decay, read in its causes through the simulator."""
    rng = _generator(seed, 2)
    causes = uniform([(0.5, 2.0), (0.5, 2.0)], 1500, rng)
    records = _decay(torch.as_tensor(causes))
    network = torch.nn.Sequential(
        torch.nn.Linear(50, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1), torch.nn.Linear(1, 32),
        torch.nn.Tanh(), torch.nn.Linear(32, 50),
    ).double()  # fmt: skip
    minimise(list(network.parameters()), lambda: ((network(records) - records) ** 2).mean(), 1500)
    return Case(network, causes, "2:0", ("k", "m"), "k/m", {"transform": _decay})


def _render(places: torch.Tensor) -> torch.Tensor:
    axis = torch.linspace(-1.5, 1.5, 12, dtype=places.dtype)
    across = torch.exp(-4 * (axis[None, :] - places[:, :1]) ** 2)
    down = torch.exp(-4 * (axis[None, :] - places[:, 1:2]) ** 2)
    return (down[:, :, None] * across[:, None, :])[:, None]


def pictures(seed: int) -> Case:
    """A convolutional network that sees a spot, read in the spot's place through the renderer."""
    rng = _generator(seed, 3)
    places = uniform([(-1, 1), (-1, 1)], 1200, rng)
    x = torch.as_tensor(places)
    network = torch.nn.Sequential(
        torch.nn.Conv2d(1, 6, 3), torch.nn.Tanh(), torch.nn.Conv2d(6, 6, 3, stride=2),
        torch.nn.Tanh(), torch.nn.Flatten(), torch.nn.Linear(96, 1),
    ).double()  # fmt: skip
    target = (x**2).sum(dim=1, keepdim=True)
    seen = _render(x)
    minimise(list(network.parameters()), lambda: ((network(seen) - target) ** 2).mean(), 400)
    return Case(network, places, "5:0", ("x", "y"), "x**2 + y**2", {"transform": _render})


class Sequence3(torch.nn.Module):
    """A transformer that reads three numbers one after another."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Linear(1, 16)
        self.places = torch.nn.Parameter(torch.randn(3, 16))
        self.block = torch.nn.TransformerEncoderLayer(
            16, 2, 32, dropout=0.0, activation="gelu", batch_first=True
        )
        self.hidden = torch.nn.Linear(48, 16)
        self.output = torch.nn.Linear(16, 1)

    def forward(self, numbers: torch.Tensor) -> torch.Tensor:
        """One number for each sequence."""
        tokens = self.embed(numbers[:, :, None]) + self.places
        return self.output(torch.tanh(self.hidden(self.block(tokens).flatten(1))))


def _transformer(seed: int) -> tuple[Sequence3, np.ndarray]:
    rng = _generator(seed, 4)
    inputs = uniform([(-1, 1), (-1, 1), (-1, 1)], 1200, rng)
    network = Sequence3().double()
    x = torch.as_tensor(inputs)
    target = (x[:, 0] * x[:, 1] + x[:, 2])[:, None]
    minimise(list(network.parameters()), lambda: ((network(x) - target) ** 2).mean(), 500)
    return network, inputs


def transformer(seed: int) -> Case:
    """Its output."""
    network, inputs = _transformer(seed)
    return Case(network, inputs, "output:0", ("x", "y", "z"), "x*y + z")


def probe(seed: int) -> Case:
    """A direction in its hidden layer, from a linear probe."""
    network, inputs = _transformer(seed)
    kept: list[torch.Tensor] = []
    handle = network.hidden.register_forward_hook(lambda _, __, out: kept.append(out.detach()))
    network(torch.as_tensor(inputs))
    handle.remove()
    wanted = inputs[:, 0] * inputs[:, 1] + inputs[:, 2]
    centred = kept[0].numpy() - kept[0].numpy().mean(axis=0)
    direction = np.linalg.lstsq(centred, wanted - wanted.mean(), rcond=None)[0]
    return Case(network, inputs, ("hidden", direction), ("x", "y", "z"), "x*y + z")


def categories(seed: int) -> Case:
    """Heat flow through three metals: one-hot columns beside continuous ones, which are held."""
    rng = _generator(seed, 5)
    metal = rng.integers(0, 3, 2000)
    inputs = np.column_stack([np.eye(3)[metal], uniform([(1, 3), (1, 3), (1, 3)], 2000, rng)])
    flow = np.array([0.5, 4.0, 1.1])[metal] * inputs[:, 3] * inputs[:, 4] / inputs[:, 5]
    network = perceptron(inputs)
    x, y = torch.as_tensor(inputs), torch.as_tensor(np.log(flow))[:, None]
    minimise(list(network.parameters()), lambda: ((network(x) - y) ** 2).mean(), 1500)
    names = ("steel", "copper", "brass", "A", "dT", "d")
    held = {"wrt": ["A", "dT", "d"]}
    return Case(network, inputs, "5:0", names, "A*dT/d", held, inputs[:, 3:])


def _estimator_data(seed: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    rng = _generator(seed, number)
    inputs = uniform([(-2, 2), (-2, 2)], 400, rng)
    return inputs, np.sin(inputs[:, 0]) + inputs[:, 1] ** 2 / 2


def gaussian_process(seed: int) -> Case:
    """scikit-learn's GP."""
    from sklearn.gaussian_process import GaussianProcessRegressor

    inputs, targets = _estimator_data(seed, 6)
    model = GaussianProcessRegressor(normalize_y=True).fit(inputs, targets)
    return Case(model, inputs, "predict", ("x", "v"), "sin(x) + v**2/2")


def sklearn_perceptron(seed: int) -> Case:
    """scikit-learn's MLP."""
    from sklearn.neural_network import MLPRegressor

    inputs, targets = _estimator_data(seed, 7)
    model = MLPRegressor(
        hidden_layer_sizes=(50, 50), activation="tanh", solver="lbfgs", max_iter=1500,
        random_state=seed,
    )  # fmt: skip
    return Case(model.fit(inputs, targets), inputs, "predict", ("x", "v"), "sin(x) + v**2/2")


def boosted_trees(seed: int) -> Case:
    """scikit-learn's gradient boosting, which has no gradient and is to be refused."""
    from sklearn.ensemble import GradientBoostingRegressor

    inputs, targets = _estimator_data(seed, 8)
    model: Any = GradientBoostingRegressor(random_state=seed).fit(inputs, targets)
    return Case(model, inputs, "predict", ("x", "v"), None)


def hamiltonian(seed: int) -> Case:
    """A network whose derivatives are trained to be the motion of a quartic oscillator."""
    rng = _generator(seed, 9)
    inputs = uniform([(-1.5, 1.5), (-1.5, 1.5)], 800, rng)
    x = torch.as_tensor(inputs).requires_grad_()
    network = perceptron(inputs, width=32)
    wanted = torch.stack([x[:, 0] + x[:, 0] ** 3, x[:, 1]], dim=1).detach()

    def loss() -> torch.Tensor:
        (slopes,) = torch.autograd.grad(network(x).sum(), x, create_graph=True)
        return ((slopes - wanted) ** 2).mean()

    minimise(list(network.parameters()), loss, 800)
    return Case(network, inputs, "5:0", ("q", "p"), "p**2/2 + q**2/2 + q**4/4")


def hidden_neuron(seed: int) -> Case:
    """A neuron in the middle of a regression network, which usually has no closed form."""
    rng = _generator(seed, 10)
    inputs = uniform([(-2, 2), (-2, 2)], 1500, rng)
    network = perceptron(inputs, width=16)
    x = torch.as_tensor(inputs)
    y = (torch.sin(x[:, 0]) + x[:, 1] ** 2)[:, None]
    minimise(list(network.parameters()), lambda: ((network(x) - y) ** 2).mean(), 800)
    return Case(network, inputs, "3:0", ("x", "v"), None)


MODEL_CASES: dict[str, Make] = {
    "classifier, noisy labels": classifier,
    "autoencoder, simulator": autoencoder,
    "CNN, renderer": pictures,
    "transformer": transformer,
    "probe of the transformer": probe,
    "one-hot and continuous": categories,
    "GP": gaussian_process,
    "MLP": sklearn_perceptron,
    "gradient boosting": boosted_trees,
    "Hamiltonian net": hamiltonian,
    "hidden layer": hidden_neuron,
}
