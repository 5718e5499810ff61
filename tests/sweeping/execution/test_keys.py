from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from closedform.sweeping.execution.task import KeyContentError, content_key

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.binary(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


def same(a, b):
    """Equal in value and type, all the way down, with 0.0 and -0.0 apart."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return type(a) is type(b) and repr(a) == repr(b)


@given(VALUES, VALUES)
def test_keys_are_equal_just_when_contents_are(a, b):
    assert (content_key({"value": a}) == content_key({"value": b})) == same(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([["x"], "y"], [["x", "y"]]),
        ({"a": 1}, [["a", 1]]),
        (1, 1.0),
        (1, True),
        ("1", 1),
        (b"x", "x"),
        (np.zeros((2, 3)), np.zeros((3, 2))),
        (np.zeros(2), np.zeros(2, np.float32)),
        (np.array([1.0, 2.0]), [1.0, 2.0]),
    ],
)
def test_what_looks_alike_is_kept_apart(a, b):
    assert content_key({"value": a}) != content_key({"value": b})


def test_layout_and_byte_order_of_an_array_do_not_count():
    array = np.arange(6.0).reshape(2, 3)
    for other in (
        np.asfortranarray(array),
        array.astype(">f8"),
        np.ascontiguousarray(array[::-1])[::-1],
    ):
        assert content_key({"value": other}) == content_key({"value": array})


def test_numpy_numbers_count_as_numbers():
    assert content_key({"value": np.float64(0.5)}) == content_key({"value": 0.5})


def test_a_key_is_the_same_in_every_version():
    assert content_key({"seed": 3, "points": np.arange(3.0)}) == "c874a09c50e576f45c9120a0b5f13360"


@dataclass(frozen=True)
class Choice:
    engine: str = "auto"


def test_dataclasses_are_taken_by_their_fields():
    assert content_key({"value": Choice()}) == content_key({"value": Choice("auto")})
    assert content_key({"value": Choice()}) != content_key({"value": Choice("terms")})


@pytest.mark.parametrize("value", [len, object(), np.array([object()])])
def test_what_has_no_content_is_refused(value):
    with pytest.raises(KeyContentError, match=r"pass|describe"):
        content_key({"value": value})
