"""Sums with some of their terms left out."""

import pytest

import closedform as cf
from closedform.canonical.proposals import partial_sums
from closedform.canonical.tolerances import MOST_DIVIDED


def texts(formula: str) -> list[str]:
    return [str(part) for part in partial_sums(cf.parse(formula))]


def test_every_selection_of_a_short_sum_is_there_but_the_sum_itself():
    parts = partial_sums(cf.parse("a*d - b*c + 2*(a + d)"))
    assert len(parts) == 2**4 - 2
    for wanted in ("a*d - b*c", "a + d"):
        assert any(cf.same_concept(str(part), wanted, list("abcd")) for part in parts)


def test_of_a_long_sum_one_or_two_terms_are_left_out():
    count = MOST_DIVIDED + 1
    parts = partial_sums(cf.parse(" + ".join(f"x{i}**2" for i in range(count))))
    assert len(parts) == count + count * (count - 1) // 2


@pytest.mark.parametrize("formula", ["x*y", "sin(x + y)", "x"])
def test_what_is_no_sum_has_no_parts(formula: str):
    assert texts(formula) == []


def test_names_keep_their_order():
    (part, _) = partial_sums(cf.parse("z + a**2", names=["z", "a"]))
    assert part.names == ("z", "a")
