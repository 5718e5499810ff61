"""Networks read into one store, told apart, and held against untrained ones."""

from pathlib import Path

import numpy as np
import pytest
import torch

import closedform as cf
from closedform.errors import StorageError
from closedform.networks.whole_network import untrained_twin
from closedform.sweeping.atlas.census import Identity, add_network, flat_layers
from closedform.sweeping.atlas.records import FOLDER, Atlas, read_cards
from closedform.sweeping.execution.store import ResultStore

POINTS = np.random.default_rng(0).uniform(0.5, 2, (300, 2))
QUICK = cf.Effort(terms=300, evaluations=0)


class Product(torch.nn.Module):
    """A layer, and an output in which training put a product."""

    def __init__(self, power: float) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.sums = torch.nn.Linear(2, 1)
        self.head = Head(power)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.sums(x)
        return self.head(x)


class Head(torch.nn.Module):
    def __init__(self, power: float) -> None:
        super().__init__()
        self.power = torch.nn.Parameter(torch.tensor([1.0, power]))

    def reset_parameters(self) -> None:
        self.power.zero_()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.stack([(x**self.power).prod(dim=1), 0 * x[:, 0]], dim=1)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ResultStore:
    kept = ResultStore(tmp_path_factory.mktemp("atlas") / "store")
    for name, power in (("one", 2.0), ("other", 3.0)):
        identity = Identity(name, "1", "MIT", "a test", {"m": "kg"})
        add_network(
            Product(power), POINTS, store=kept, identity=identity, names=["m", "v"], effort=QUICK
        )
    return kept


def test_each_network_has_its_own_records(store: ResultStore) -> None:
    found = {
        (each.card.name, each.neuron): str(each.content.get("concept"))
        for each in Atlas(store).records()
    }
    assert len(found) == 6
    assert cf.same_concept(found["one", "head:0"], "m*v**2", domain=(0.5, 2))
    assert cf.same_concept(found["other", "head:0"], "m*v**3", domain=(0.5, 2))
    # The layer is the same in both, and still recorded for each.
    assert found["one", "sums:0"] == found["other", "sums:0"]


def test_what_an_untrained_network_shows_is_architecture(store: ResultStore) -> None:
    verdicts = {each.neuron: each.verdict for each in Atlas(store).records()}
    assert verdicts["sums:0"] == "architecture"
    assert verdicts["head:0"] == "verified"


def test_a_search_reads_what_it_needs_of_gathered_records(
    store: ResultStore, tmp_path: Path
) -> None:
    pytest.importorskip("pyarrow")
    gathered = ResultStore(tmp_path)
    for key, record in store.records():
        gathered.put(key, record)
    for card in read_cards(store.folder):
        card.save(gathered.folder)
    assert gathered.compact() > 0

    def told(atlas: Atlas) -> list[tuple[str, str, str, str]]:
        return [
            (each.card.id, each.neuron, each.verdict, each.concept)
            for each in atlas.records() if each.concept
        ]  # fmt: skip

    whole, brief = Atlas(store), Atlas(gathered, is_brief=True)
    assert told(brief) == told(whole)
    assert len(told(whole)) == 4
    assert all("reasons" not in each.content for each in brief.records())


def test_none_has_its_reason(store: ResultStore) -> None:
    dead = [each for each in Atlas(store).records() if each.neuron == "head:1"]
    assert {each.verdict for each in dead} == {"none"}
    assert all("dead" in each.reason for each in dead)


def test_cards_identify_networks_and_data(store: ResultStore) -> None:
    first, second = read_cards(store.folder)
    assert (first.name, second.name) == ("one", "other")
    assert first.network != second.network
    assert first.data == second.data
    assert first.names == ("m", "v")
    assert first.ranges[0][0] == pytest.approx(POINTS[:, 0].min())
    assert first.units == {"m": "kg"}
    assert first.untrained
    assert first.effort["terms"] == 300
    assert first.id != second.id


def test_adding_again_reads_nothing(store: ResultStore) -> None:
    before = len(store.keys())
    again = add_network(
        Product(2.0), POINTS, store=store, identity=Identity("one", "1", "MIT", "a test"),
        names=["m", "v"], effort=QUICK,
    )  # fmt: skip
    assert again.sweep.counts["before"] == 3
    assert len(store.keys()) == before
    assert len(read_cards(store.folder)) == 2


def test_a_damaged_card_is_told(tmp_path: Path) -> None:
    folder = ResultStore(tmp_path).folder
    folder.write(f"{FOLDER}/abc.json", b"{}")
    with pytest.raises(StorageError, match=r"abc\.json is damaged"):
        read_cards(folder)


def test_wide_neurons_are_not_searched(tmp_path: Path) -> None:
    wide = np.random.default_rng(1).uniform(1, 2, (100, 14))

    def network(x: np.ndarray) -> np.ndarray:
        return np.stack([np.sin(x.sum(axis=1)), x[:, 0] * x[:, 1]], axis=1)

    census = add_network(
        network, wide, store=tmp_path / "store", identity=Identity("wide"), effort=QUICK,
        layers=["output"], kind="function",
    )  # fmt: skip
    table = census.sweep.table().set_index("neuron")
    assert table.loc["output:0", "status"] == "wide"
    assert "14 inputs" in str(table.loc["output:0", "reason"])
    assert table.loc["output:1", "status"] == "done"
    assert census.card.untrained == ""


def test_flat_layers_are_those_with_weights_and_the_output() -> None:
    linear, squashed = torch.nn.Linear(2, 3), torch.nn.Sigmoid()
    assert flat_layers(
        torch.nn.Sequential(linear, torch.nn.Tanh(), torch.nn.Linear(3, 1)), POINTS
    ) == ["0", "2"]
    assert flat_layers(torch.nn.Sequential(linear, squashed), POINTS) == ["0", "output"]
    assert flat_layers(lambda x: x, POINTS) == ["output"]


def test_untrained_twins_have_other_weights_and_leave_the_network_alone() -> None:
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    weights = [part.clone() for part in network.parameters()]
    state = torch.random.get_rng_state()
    twin = untrained_twin(network, 7)
    assert twin is not None
    assert all(torch.equal(a, b) for a, b in zip(weights, network.parameters(), strict=True))
    assert all(not torch.equal(a, b) for a, b in zip(weights, twin.parameters(), strict=True))
    assert torch.equal(state, torch.random.get_rng_state())
    assert untrained_twin(lambda x: x, 7) is None
