from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import (
    DataLoader,
    Dataset,
    IterableDataset,
    TensorDataset,
    WeightedRandomSampler,
)

from closedform.errors import ExtractionError, ShapeError
from closedform.networks.rows import read_dataset

POINTS = torch.arange(300.0).reshape(100, 3)
LABELS = torch.arange(100)


def read(
    data: Any, max_points: int | None = None, seed: int = 0, prepare: Any = None
) -> tuple[Any, tuple[str, ...]]:
    return read_dataset(data, max_points, np.random.default_rng(seed), prepare)


class Stream(IterableDataset[torch.Tensor]):
    def __iter__(self) -> Iterator[torch.Tensor]:
        return iter(POINTS)


class Counting(Dataset[torch.Tensor]):
    def __init__(self) -> None:
        self.fetched: list[int] = []

    def __len__(self) -> int:
        return 10_000

    def __getitem__(self, place: int) -> torch.Tensor:
        self.fetched.append(place)
        return torch.full((3,), float(place))


def test_only_the_chosen_items_of_a_data_set_are_fetched() -> None:
    dataset = Counting()
    parts, notes = read(dataset, 20)

    assert len(dataset.fetched) == 20
    assert parts[0][:, 0].tolist() == [float(place) for place in dataset.fetched]
    assert notes == ("20 of 10,000 points were taken at random.",)


def test_labels_that_follow_the_input_are_left_out_and_said_so() -> None:
    parts, notes = read(TensorDataset(POINTS, LABELS))

    assert list(parts) == [0]
    assert torch.equal(parts[0], POINTS)
    assert "tuples of 2" in notes[0]


def test_prepare_decides_what_the_network_gets() -> None:
    parts, notes = read(
        TensorDataset(POINTS, LABELS), prepare=lambda batch: {"x": batch[0], "label": batch[1]}
    )

    assert list(parts) == ["x", "label"]
    assert notes == ()


def test_a_shuffling_loader_is_read_by_index_and_gives_the_same_points_again() -> None:
    loader = DataLoader(TensorDataset(POINTS), batch_size=7, shuffle=True)

    first, again = read(loader, 12)[0][0], read(loader, 12)[0][0]

    assert torch.equal(first, again)
    assert (first[:, 0].diff() > 0).all()


def test_a_loader_with_its_own_collate_uses_it() -> None:
    loader = DataLoader(
        TensorDataset(POINTS),
        batch_size=7,
        collate_fn=lambda items: torch.stack([i[0] for i in items]) * 2,
    )

    assert torch.equal(read(loader)[0][0], POINTS * 2)


@pytest.mark.parametrize(
    "data", [Stream(), DataLoader(Stream(), batch_size=8), POINTS.split(8), iter(POINTS.split(8))]
)
def test_streams_are_read_to_the_end_and_in_order(data: Any) -> None:
    data = iter(data) if isinstance(data, tuple) else data

    assert torch.equal(read(data)[0][0], POINTS)


def test_a_weighted_loader_keeps_its_weights() -> None:
    weights = [1.0] * 10 + [0.0] * 90
    loader = DataLoader(
        TensorDataset(POINTS), batch_size=10, sampler=WeightedRandomSampler(weights, 50)
    )

    found = read(loader)[0][0]

    assert len(found) == 50
    assert found[:, 0].max() < 30


def test_the_reservoir_takes_every_point_with_the_same_probability() -> None:
    counts = np.zeros(50)
    for seed in range(2000):
        parts, _ = read(
            (np.arange(start, start + 10.0)[:, None] for start in range(0, 50, 10)), 5, seed=seed
        )
        counts[parts[0][:, 0].astype(int)] += 1

    # Binomial with p = 0.1: five standard deviations around 200 are 67.
    assert counts.sum() == 10_000
    assert np.abs(counts - 200).max() < 67


def test_random_states_of_torch_numpy_and_the_loader_are_given_back() -> None:
    generator = torch.Generator().manual_seed(5)
    loader = DataLoader(Stream(), batch_size=8, generator=generator)
    before = torch.get_rng_state(), generator.get_state(), repr(np.random.get_state())  # noqa: NPY002

    read(loader, 5)

    assert torch.equal(torch.get_rng_state(), before[0])
    assert torch.equal(generator.get_state(), before[1])
    assert repr(np.random.get_state()) == before[2]  # noqa: NPY002


def test_random_data_sets_are_reproducible() -> None:
    class Noisy(Counting):
        def __getitem__(self, place: int) -> torch.Tensor:
            return torch.randn(3)

    assert torch.equal(read(Noisy(), 5)[0][0], read(Noisy(), 5)[0][0])


@pytest.mark.parametrize("data", [TensorDataset(POINTS[:0]), iter(())])
def test_no_data_is_an_error(data: Any) -> None:
    with pytest.raises(ShapeError, match="empty"):
        read(data)


def test_data_of_another_kind_is_an_error() -> None:
    with pytest.raises(ExtractionError, match="int cannot be read"):
        read(3)
