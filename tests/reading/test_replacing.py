import numpy as np
import pytest

import closedform as cf
from closedform.basics.keywords import KeywordError
from closedform.errors import NeuronError
from closedform.reading.replacing import ReplacementError

torch = pytest.importorskip("torch")
NAMES = ["x", "v"]


def concept(x):
    return x[:, 0] ** 2 + 1.37 * x[:, 1]


class Encoder(torch.nn.Module):
    """Three units: a distorted concept, another one, and something else."""

    def forward(self, x):
        first, second = torch.tanh(concept(x)), x[:, 0] * x[:, 1]
        return torch.stack([first, second, x[:, 1]], dim=1)


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.encoder = Encoder()
        self.head = torch.nn.Sequential(
            torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)
        )

    def forward(self, x):
        return self.head(self.encoder(x))


@pytest.fixture
def points():
    return np.random.default_rng(0).uniform(-1, 1, (600, 2)).astype(np.float32)


def read(points, formula="x**2 + 1.37*v"):
    gradients = cf.parse(formula, names=NAMES).gradient(points)
    field = cf.GradientField.from_arrays(points, gradients, names=NAMES)
    return cf.verify(formula, field, rivals=None)


def test_a_hidden_unit_is_replaced_and_the_cost_reported(points):
    network = Network()
    targets = network(torch.tensor(points)).argmax(dim=1).numpy()
    copy = read(points).replace_in(network, points, neuron="encoder:0", targets=targets)
    assert copy.cost.latent_r2 > 0.999999
    assert copy.cost.change < 1e-3
    assert copy.cost.measure == "accuracy"
    assert copy.cost.before == 1.0
    assert copy.cost.after > 0.99
    assert "tanh" in str(copy.latents)


def test_a_wrong_formula_costs_accuracy(points):
    copy = read(points, "x**2 - 0.4*v").replace_in(Network(), points, neuron="encoder:0")
    assert copy.cost.latent_r2 < 0.9
    assert copy.cost.change > 0.1


def test_the_network_stays_as_it_was(points):
    network = Network()
    before = network(torch.tensor(points))
    read(points).replace_in(network, points, neuron="encoder:0")
    assert torch.equal(before, network(torch.tensor(points)))
    assert not any(module._forward_hooks for module in network.modules())


def test_constants_are_trained_and_written(points):
    network = Network()
    copy = read(points, "x**2 + 1.1*v").replace_in(network, points, neuron="encoder:0")
    given, wanted = torch.tensor(points), network(torch.tensor(points)).detach()
    trainer = torch.optim.Adam(copy.latents.parameters(), 0.02)
    for _ in range(300):
        trainer.zero_grad()
        ((copy(given) - wanted) ** 2).mean().backward()
        trainer.step()
    (formula,) = copy.formulas
    assert float(formula.split("+")[1].split("*")[0]) == pytest.approx(1.37, abs=0.01)


def test_weights_are_saved_and_loaded(points, tmp_path):
    answer, network = read(points), Network()
    copy = answer.replace_in(network, points, neuron="encoder:0")
    torch.save(copy.state_dict(), tmp_path / "copy.pt")
    other = answer.replace_in(network, points[:200] * 0.5, neuron="encoder:0")
    assert not torch.equal(other(torch.tensor(points)), copy(torch.tensor(points)))
    other.load_state_dict(torch.load(tmp_path / "copy.pt"))
    assert torch.equal(other(torch.tensor(points)), copy(torch.tensor(points)))


def test_numbers_of_another_formula_are_not_loaded(points):
    network = Network()
    copy = read(points).replace_in(network, points, neuron="encoder:0")
    other = read(points, "x**3 + 1.37*v").replace_in(network, points, neuron="encoder:0")
    with pytest.raises(RuntimeError, match="another formula"):
        other.load_state_dict(copy.state_dict())


@pytest.mark.parametrize("phi", ["formula", "spline"])
def test_a_copy_is_exported(points, phi):
    copy = read(points).replace_in(Network(), points, neuron="encoder:0", phi=phi)
    count = torch.export.Dim("count", min=2)
    program = torch.export.export(
        copy, (torch.tensor(points[:5]),), dynamic_shapes=(({0: count},),)
    )
    given = torch.tensor(points)
    assert torch.allclose(program.module()(given), copy(given))


def test_a_direction_is_replaced_and_what_is_across_stays(points):
    network, direction = Network(), np.array([1.0, 0.0, 0.0])
    copy = read(points).replace_in(network, points, neuron=("encoder", 3 * direction))
    assert copy.cost.latent_r2 > 0.999999
    assert copy.cost.change < 1e-3


def test_a_unit_of_a_convolution_is_replaced(points):
    class Positions(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = Encoder()
            self.grid = torch.nn.Unflatten(1, (3, 1))

        def forward(self, x):
            return self.grid(self.encoder(x)).sum(dim=(1, 2))

    copy = read(points).replace_in(Positions(), points, neuron="grid:0,0")
    assert copy.cost.change < 1e-3
    far = read(points, "x - 0.4*v").replace_in(Positions(), points, neuron="grid:0,0")
    assert far.cost.change > 0.1


def test_an_output_is_replaced(points):
    network = Encoder()
    copy = read(points).replace_in(network, points, neuron="output:0")
    with torch.no_grad():
        given = torch.tensor(points)
        assert torch.allclose(copy(given), network(given), atol=1e-4)
        assert torch.equal(copy(given)[:, 1:], network(given)[:, 1:])


def test_several_latents_are_replaced_together(points):
    class Two(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bottleneck = torch.nn.Linear(2, 2, bias=False)
            self.bottleneck.weight.data = torch.tensor([[1.0, 2.0], [-1.0, 1.0]])

        def forward(self, x):
            values = torch.stack([concept(x), x[:, 0] * x[:, 1]], dim=1)
            return self.bottleneck(values).sum(dim=1)

    from dataclasses import replace

    first, second = cf.parse("x**2 + 1.37*v", names=NAMES), cf.parse("x*v", names=NAMES)
    answer = replace(read(points), concepts=(first, second))
    copy = answer.replace_in(Two(), points, neuron="bottleneck:*")
    assert "2 concepts" in str(copy.latents)
    assert copy.cost.latent_r2 > 0.9999999
    given = torch.tensor(points[:5])
    assert torch.allclose(torch.export.export(copy, (given,)).module()(given), copy(given))


def test_an_answer_knows_its_neuron_and_its_values(points, tmp_path):
    network = torch.nn.Sequential(torch.nn.Linear(2, 1, bias=False), torch.nn.Softplus())
    network[0].weight.data = torch.tensor([[1.0, 1.37]])
    answer = cf.interpret(
        network, points, "0:0", names=NAMES, budget=cf.Budget(evaluations=2000), rng=0
    )
    answer.save(tmp_path / "answer.json")
    copy = cf.load_interpretation(tmp_path / "answer.json").replace_in(network)
    assert copy.cost is None
    given = torch.tensor(points)
    assert torch.allclose(copy(given), network(given), atol=1e-4)


def test_values_before_a_squashing_function_are_not_taken_for_the_neuron(points):
    network = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Sigmoid())
    answer = cf.interpret(
        network, points, "1:0", names=NAMES, budget=cf.Budget(evaluations=2000), rng=0
    )
    with pytest.raises(ReplacementError, match="pass inputs="):
        answer.replace_in(network)
    copy = answer.replace_in(network, points)
    assert copy.cost.latent_r2 > 0.9999


def test_what_cannot_be_replaced_says_so(points):
    answer = read(points)
    with pytest.raises(ReplacementError, match="pass neuron="):
        answer.replace_in(Network(), points)
    with pytest.raises(NeuronError, match="cannot be replaced"):
        answer.replace_in(Network(), points, neuron="encoder:mean")
    with pytest.raises(ReplacementError, match="did you mean 'spline'"):
        answer.replace_in(Network(), points, neuron="encoder:0", phi="splin")
    with pytest.raises(ReplacementError, match=r"auto, spline, formula\.$"):
        answer.replace_in(Network(), points, neuron="encoder:0", phi="zzz")
    with pytest.raises(KeywordError, match="did you mean 'targets'"):
        answer.replace_in(Network(), points, target=points)  # pyright: ignore[reportCallIssue]


def test_jax_gives_a_function_of_parameters(points):
    jax = pytest.importorskip("jax")

    def network(x):
        return jax.numpy.tanh(x[:, 0] ** 2 + 1.37 * x[:, 1])

    copy = read(points).replace_in(network, points, neuron="output:0", targets=points[:, 0])
    assert copy.cost.latent_r2 > 0.99999
    assert np.allclose(copy(copy.parameters, points), network(points), atol=1e-3)

    def loss(parameters):
        return ((copy(parameters, points) - network(points)) ** 2).mean()

    shifted = copy.parameters | {"concept_0": copy.parameters["concept_0"] + 0.1}
    assert loss(shifted) > 100 * loss(copy.parameters)
    assert abs(jax.grad(loss)(shifted)["concept_0"][0]) > 1e-4


@pytest.mark.parametrize("kind", ["equinox", "flax"])
def test_a_layer_of_a_jax_network_is_replaced(points, kind):
    jax = pytest.importorskip("jax")
    pytest.importorskip(kind)
    model, layer = (_equinox if kind == "equinox" else _linen)(jax)
    copy = read(points, "x + 1.37*v").replace_in(model, points, neuron=f"{layer}:0")
    assert copy.cost.latent_r2 > 0.99999
    assert copy.cost.change < 1e-3
    far = read(points, "x - 0.4*v").replace_in(model, points, neuron=f"{layer}:0")
    assert far.cost.change > 0.05


WEIGHT = np.array([[1.0, 1.37], [0.3, -0.5]], dtype=np.float32)


def _equinox(jax):
    import equinox

    class Small(equinox.Module):
        first: equinox.nn.Linear
        second: equinox.nn.Linear

        def __call__(self, x):
            return self.second(jax.numpy.tanh(self.first(x)))

    keys = jax.random.split(jax.random.key(0))
    first = equinox.nn.Linear(2, 2, key=keys[0])
    first = equinox.tree_at(lambda layer: layer.weight, first, jax.numpy.asarray(WEIGHT))
    return Small(first, equinox.nn.Linear(2, 1, key=keys[1])), "first"


def _linen(jax):
    from flax import linen

    class Small(linen.Module):
        @linen.compact
        def __call__(self, x):
            hidden = linen.tanh(linen.Dense(2, name="first")(x))
            return linen.Dense(1)(hidden)

    module = Small()
    variables = module.init(jax.random.key(0), np.zeros((1, 2), dtype=np.float32))
    variables["params"]["first"]["kernel"] = jax.numpy.asarray(WEIGHT.T)
    return (module, variables), "first"
