import pickle
from collections import OrderedDict
from typing import Any

import pytest

from closedform.networks.untrusted.pickles import Call, Name, read_pickle, read_pickles

PLAIN: list[Any] = [
    None,
    True,
    12,
    -(2**70),
    0.5,
    "text \u00e9",
    b"bytes",
    [],
    [1, [2, "a"], (3,)],
    (),
    (1, 2, 3, 4),
    {"a": {"b": [1.5, None]}, 3: (True, False)},
]


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_values_are_read_as_pickle_reads_them(value: Any, protocol: int) -> None:
    content = pickle.dumps(value, protocol)
    found = read_pickle(content)

    if not (protocol < 3 and isinstance(value, bytes)):  # which those spell as a call
        assert found.value == pickle.loads(content)
        assert found.names == ()
    assert not found.problem
    assert found.length == len(content)


@pytest.mark.parametrize("protocol", range(6))
def test_shared_values_stay_shared(protocol: int) -> None:
    inner: list[Any] = ["x"]
    inner.append(inner)
    found = read_pickle(pickle.dumps({"a": inner, "b": inner}, protocol)).value

    assert found["a"] is found["b"]
    assert found["a"][1] is found["a"]


@pytest.mark.parametrize("protocol", range(6))
def test_calls_stay_calls(protocol: int) -> None:
    found = read_pickle(pickle.dumps(OrderedDict(a=1), protocol))

    assert found.names == (Name("collections", "OrderedDict"),)
    assert isinstance(found.value, Call)
    assert str(found.value.function) == "collections.OrderedDict"
    assert ("a", 1) in found.value.items or protocol < 2


def test_a_broken_pickle_says_what_it_named_before_it_broke() -> None:
    found = read_pickle(b"\x80\x02cos\nsystem\n(X\x02\x00\x00\x00idtR\xff")

    assert found.names == (Name("os", "system"),)
    assert found.problem
    assert found.value is None


def test_pickles_that_follow_one_another() -> None:
    content = b"".join(pickle.dumps(value) for value in (1, "two", [3])) + b"\xff"

    values = [found.value for found in read_pickles(content)]

    assert values == [1, "two", [3], None]


def test_an_unknown_number_of_marks_is_a_problem() -> None:
    assert "did not begin" in read_pickle(b"\x80\x02]e.").problem
