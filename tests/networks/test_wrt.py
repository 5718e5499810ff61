from typing import Any

import numpy as np
import pytest

from closedform.errors import ExtractionError
from closedform.networks.options import column_names, fill, held_values, make_blocks, points_of
from closedform.networks.rows import Rows

SERIES = np.arange(30.0).reshape(5, 3, 2)
TIME = np.arange(5.0)
ROWS = Rows({"series": SERIES, "time": TIME, "label": np.arange(5)})


def write(part: Any, index: Any, values: Any) -> Any:
    part = part.copy()
    part[index] = values
    return part


def test_by_default_every_real_input_counts_and_integers_do_not() -> None:
    blocks = make_blocks(ROWS, None)

    assert [block.key for block in blocks] == ["series", "time"]
    assert (
        points_of(ROWS, blocks).tolist() == np.column_stack([SERIES.reshape(5, 6), TIME]).tolist()
    )
    assert column_names(ROWS, blocks) == (
        "series0",
        "series1",
        "series2",
        "series3",
        "series4",
        "series5",
        "time",
    )


@pytest.mark.parametrize(
    ("wrt", "expected"),
    [
        ("time", TIME[:, None]),
        (("series", np.s_[-1]), SERIES[:, -1]),
        (("series", np.s_[:, 0]), SERIES[:, :, 0]),
        (("series", np.s_[1, 1]), SERIES[:, 1, 1:]),
        (("series", [0, 2]), SERIES[:, [0, 2]].reshape(5, 4)),
        (["time", ("series", np.s_[0])], np.column_stack([TIME, SERIES[:, 0]])),
    ],
)
def test_slices_and_lists(wrt: Any, expected: np.ndarray) -> None:
    blocks = make_blocks(ROWS, wrt)
    points = points_of(ROWS, blocks)

    assert points.tolist() == expected.tolist()
    assert held_values(ROWS, blocks) is not None
    filled = fill(dict(ROWS.parts), points + 100.0, blocks, write)
    again = Rows({key: np.asarray(part) for key, part in filled.items()})
    assert points_of(again, blocks).tolist() == (expected + 100.0).tolist()
    untouched = {
        key: np.asarray(part) for key, part in fill(dict(ROWS.parts), points, blocks, write).items()
    }
    assert untouched["series"].tolist() == SERIES.tolist()
    assert untouched["time"].tolist() == TIME.tolist()


@pytest.mark.parametrize(
    ("wrt", "expected"),
    [
        (np.s_[-1, :], SERIES[:, -1]),
        (np.s_[:, 0], SERIES[:, :, 0]),
        (np.s_[..., 1], SERIES[:, :, 1]),
        ((0, np.s_[-1]), SERIES[:, -1]),
    ],
)
def test_of_the_only_input_an_index_is_enough(wrt: Any, expected: np.ndarray) -> None:
    """np.s_[-1, :] was taken for an input -1."""
    rows = Rows({0: SERIES})
    assert points_of(rows, make_blocks(rows, wrt)).tolist() == expected.tolist()


def test_an_index_that_could_be_an_input_is_asked_about() -> None:
    with pytest.raises(ExtractionError, match=r"Write wrt=0 .* wrt=\(0, np.s_\[0, :\]\)"):
        make_blocks(Rows({0: SERIES}), np.s_[0, :])
    with pytest.raises(ExtractionError, match="counts the axes of one point"):
        make_blocks(Rows({0: np.zeros((5, 3))}), np.s_[:, 0])


def test_names_of_a_table_follow_the_slice() -> None:
    rows = Rows({0: np.zeros((5, 3))}, names=("a", "b", "c"))

    assert column_names(rows, make_blocks(rows, (0, [0, 2]))) == ("a", "c")
    assert column_names(rows, make_blocks(rows, None)) == ("a", "b", "c")
    assert column_names(Rows({0: np.zeros((5, 3))}), make_blocks(rows, None)) is None


@pytest.mark.parametrize(
    "wrt",
    ["speed", 3, ("series", 7), ("series", np.s_[:, :, :]), "label", ("series", np.s_[0:0]), 1.5],
)
def test_what_does_not_fit_is_refused(wrt: Any) -> None:
    with pytest.raises(ExtractionError):
        make_blocks(ROWS, wrt)


def test_inputs_without_real_numbers_are_refused_with_advice() -> None:
    with pytest.raises(ExtractionError, match="embedding"):
        make_blocks(Rows({0: np.zeros((5, 3), dtype=np.int64)}), None)
    with pytest.raises(ExtractionError, match="real numbers"):
        make_blocks(Rows({0: np.zeros((5, 3), dtype=np.complex128)}), None)
