import json

import numpy as np
import pytest

import closedform as cf
from closedform.basics.progress import Snapshot
from closedform.errors import ChoiceError, StorageError
from closedform.reading.one_field import interpret_field
from closedform.searching.budget import Budget
from closedform.searching.engine import get_engine

BUDGET = Budget(evaluations=300)

# What a reading does is not a matter of how many functions there are.
FEW = cf.SearchSpace(operators=["add", "sub", "mul", "sin"])


def field_of(text, n_points=500, noise=0.01, seed=0, names=("x", "v")):
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1.5, 1.5, (n_points, len(names)))
    truth = cf.parse(text, names=list(names))
    gradients = truth.gradient(points)
    gradients /= np.linalg.norm(gradients, axis=1, keepdims=True)
    gradients += noise * rng.normal(size=gradients.shape)
    return cf.GradientField.from_arrays(
        points, gradients, latents=np.tanh(truth(points) / 4), names=names
    )


@pytest.fixture(scope="module")
def found():
    field = field_of("x**2 + v**2 + x**4/2")
    return interpret_field(
        field,
        engine="terms",
        budget=BUDGET,
        space=FEW,
        rng=3,
        hypothesis="v**2/2 + x**2/2 + x**4/4",
        title="energy",
    )


def test_a_quartic_is_read_and_verified(found):
    assert bool(cf.same_concept(str(found.concept), "x**2 + v**2 + x**4/2", ["x", "v"]))
    assert found.verdict.status == "verified"
    assert found.concepts == (found.concept,)
    assert found.entry is not None
    assert found.entry.expression == found.concept
    assert found.phi is not None
    assert found.phi.rank_correlation > 0.999
    assert found.hypothesis is not None
    assert found.hypothesis.status == "proved"
    assert found.provenance.seed == 3
    assert found.floor <= found.entry.misalignment
    assert [need.is_used for need in found.inputs] == [True, True]


def test_the_front_is_in_order_and_held_out(found):
    sizes = [entry.complexity for entry in found.front]
    assert sizes == sorted(sizes)
    assert all(entry.low <= entry.misalignment <= entry.high for entry in found.front)


def test_saved_and_loaded_it_is_equal(found, tmp_path):
    found.save(tmp_path / "r.json")
    assert cf.load_interpretation(tmp_path / "r.json") == found


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"format": "closedform interpretation", "schema": 99}']
)
def test_other_files_are_refused(text, tmp_path):
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(StorageError):
        cf.load_interpretation(tmp_path / "r.json")
    with pytest.raises(StorageError, match="cannot be read"):
        cf.load_interpretation(tmp_path / "none.json")


class Listener:
    """Notes which steps it is told about, in order."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    def show(self, snapshot: Snapshot) -> None:
        if self.steps[-1:] != [snapshot.step]:
            self.steps.append(snapshot.step)

    def close(self) -> None:
        pass


def test_the_same_seed_gives_the_same_answer_whoever_listens():
    field, listener = field_of("x*v + x", n_points=200), Listener()
    first, second = (
        interpret_field(field, engine="terms", budget=BUDGET, space=FEW, rng=1, progress=progress)
        for progress in (None, listener)
    )
    assert len(first.front) > 2
    assert first.front == second.front
    assert first.verdict == second.verdict
    assert listener.steps == ["search"]


def test_where_every_function_fits_there_is_no_verdict():
    points = np.random.default_rng(0).uniform(-1, 1, (100, 1))
    found = interpret_field(
        cf.GradientField.from_arrays(points, points, names=["x"]), budget=BUDGET, rng=0
    )
    assert found.verdict.status == "none"
    assert "every function fits" in found.verdict.reasons[0]


def test_directions_without_a_concept_are_none():
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, (400, 2))
    field = cf.GradientField.from_arrays(points, rng.normal(size=(400, 2)), names=["x", "v"])
    assert interpret_field(field, engine="terms", budget=BUDGET, rng=0).verdict.status == "none"


def test_an_even_distortion_is_seen_in_the_latent():
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, (400, 2))
    total = points.sum(axis=1)
    field = cf.GradientField.from_arrays(
        points, 2 * total[:, None] * np.ones(2), latents=total**2, names=["x", "v"]
    )
    found = interpret_field(field, engine="terms", budget=BUDGET, rng=0)
    assert bool(cf.same_concept(str(found.concept), "(x + v)**2", ["x", "v"]))
    assert found.verdict.status == "verified"


def test_rules_and_engines_are_checked():
    field = field_of("x + v", n_points=100)
    with pytest.raises(ChoiceError):
        interpret_field(field, engine=get_engine("terms"), budget=BUDGET, rule="nicest")


def test_a_network_is_read_and_its_outputs_are_kept():
    torch = pytest.importorskip("torch")

    class Energy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Identity()

        def forward(self, x):
            latent = self.inner(torch.tanh(x[:, :1] ** 2 + 2 * x[:, 1:] ** 2))
            return torch.cat([3 * latent, latent + x[:, :1]], dim=1)

    points = np.random.default_rng(0).uniform(-1, 1, (600, 2))
    found = cf.interpret(
        Energy(), points, "inner:0", names=["x", "v"], engine="terms", budget=BUDGET, rng=0
    )
    assert bool(cf.same_concept(str(found.concept), "x**2 + 2*v**2", ["x", "v"]))
    assert found.verdict.status == "verified"
    assert found.faithfulness is not None
    assert found.faithfulness.explained > 0.99
    assert found.faithfulness.change_by_mean > 0.1


def test_the_json_of_a_front_is_plain(found, tmp_path):
    found.save(tmp_path / "r.json")
    content = json.loads((tmp_path / "r.json").read_text())
    assert content["schema"] == 5
    assert content["verdict"]["status"] == "verified"


def test_a_hidden_neuron_is_read_in_terms_of_what_comes_before_the_network():
    """The outputs were compared at points that the network does not take, which was an error."""
    torch = pytest.importorskip("torch")
    network = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Linear(1, 1))
    with torch.no_grad():
        network[0].weight[:] = torch.tensor([[1.0, 0.0, 0.0]])

    def measured(causes):
        product = causes[:, :1] * causes[:, 1:]
        return torch.cat([product, product**2, product**3], dim=1)

    causes = np.random.default_rng(0).uniform(0.5, 2, (300, 2))
    found = cf.interpret(
        network,
        causes,
        "0:0",
        names=["a", "b"],
        transform=measured,
        engine="terms",
        budget=cf.Budget(evaluations=500),
        rng=0,
    )
    assert str(found.concept) == "a*b"
    assert found.faithfulness is None
