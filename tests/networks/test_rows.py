from typing import Any

import numpy as np
import pandas
import pytest
import torch

from closedform.errors import ShapeError
from closedform.networks.rows import gather_rows

ARRAY = np.arange(200.0).reshape(100, 2)


def gathered(inputs: Any, max_points: int | None = None, seed: int = 0) -> Any:
    return gather_rows(inputs, max_points=max_points, rng=np.random.default_rng(seed))


def test_the_seed_chooses_the_points() -> None:
    first, again, other = gathered(ARRAY, 10), gathered(ARRAY, 10), gathered(ARRAY, 10, seed=1)

    assert first.parts[0].tolist() == again.parts[0].tolist()
    assert first.parts[0].tolist() != other.parts[0].tolist()
    assert len({tuple(row) for row in first.parts[0]}) == 10
    assert first.notes == ("10 of 100 points were taken at random.",)


def test_all_points_are_kept_in_order_when_they_are_few() -> None:
    rows = gathered(ARRAY, 100)

    assert rows.parts[0].tolist() == ARRAY.tolist()
    assert rows.notes == ()


def test_tensors_stay_tensors_and_lists_become_numbers() -> None:
    assert isinstance(gathered(torch.zeros(5, 2), 3).parts[0], torch.Tensor)
    assert gathered([[1, 2], [3, 4]]).parts[0].dtype == np.float64


def test_tuples_and_dictionaries_are_several_inputs_with_the_same_rows() -> None:
    rows = gathered({"x": ARRAY, "t": ARRAY[:, 0] * 10}, 7)

    assert set(rows.parts) == {"x", "t"}
    assert rows.parts["t"].tolist() == (rows.parts["x"][:, 0] * 10).tolist()
    assert list(gathered((ARRAY, ARRAY)).parts) == [0, 1]


def test_tables_bring_their_names() -> None:
    rows = gathered(pandas.DataFrame({"x": [1.0, 2.0], "v": [3.0, 4.0]}))

    assert rows.names == ("x", "v")
    assert rows.parts[0].tolist() == [[1.0, 3.0], [2.0, 4.0]]


def test_only_the_chosen_rows_of_a_mapped_file_are_read(tmp_path: Any) -> None:
    path = tmp_path / "points.npy"
    np.save(path, ARRAY)

    class Counting:
        shape = ARRAY.shape
        read = 0

        def __getitem__(self, index: Any) -> np.ndarray:
            found = np.load(path, mmap_mode="r")[index]
            self.read += len(found)
            return found

    counting = Counting()
    rows = gathered(counting, 9)

    assert counting.read == 9
    assert type(rows.parts[0]) is np.ndarray


@pytest.mark.parametrize(
    "inputs", [np.zeros((0, 2)), (np.zeros((3, 2)), np.zeros((4, 2))), np.float64(1.0), {}]
)
def test_lengths_must_agree(inputs: Any) -> None:
    with pytest.raises(ShapeError):
        gathered(inputs)


def test_no_points_are_too_few() -> None:
    with pytest.raises(ValueError, match="max_points"):
        gathered(ARRAY, 0)
