"""Short forms of the trials on the page of reliability, each with its own seeds."""

import sys

import pytest

from closedform_bench.reliability.page import KINDS, write_page
from closedform_bench.reliability.trial import TrialKind, each, read_tally, run_trials

SHORT = {
    "texts": 500, "fields": 150, "answers": 60, "results": 100, "inputs": 150, "models": 60,
    "networks": 24, "arrays": 60, "saves": 8,
}  # fmt: skip
"""A second or less for each; what takes minutes, or forks, is left to the command."""

FIRST = {"fields": 10_000, "answers": 641, "models": 2168, "inputs": 232}
"""Among these are trials that once broke something."""


@pytest.mark.skipif(sys.platform != "linux", reason="limits and places of Linux")
@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind.name in SHORT], ids=lambda k: k.name
)
def test_nothing_breaks(kind):
    if kind.name in ("models", "networks"):
        pytest.importorskip("torch")
    first = FIRST.get(kind.name, 0)
    outcomes = list(kind.run(range(first, first + SHORT[kind.name])))
    assert len(outcomes) == SHORT[kind.name]
    assert [outcome for outcome in outcomes if outcome.startswith("failed")] == []


def broken(number):
    if number == 3:
        raise KeyError("three")
    return "fine" if number % 2 else "failed: even"


KIND = TrialKind("broken", "What breaks.", 10, each(broken))


def test_a_run_goes_on_where_it_stopped_and_counts_what_failed(tmp_path):
    run_trials(KIND, 2, tmp_path)
    tally = run_trials(KIND, 6, tmp_path)
    assert tally == read_tally(tmp_path / "broken.json")
    assert (tally.done, tally.failed, tally.outcomes["fine"]) == (6, 4, 2)
    assert tally.failures[2] == "trial 3: KeyError: 'three'"
    assert run_trials(KIND, 6, tmp_path).done == 6


def test_what_means_something_in_one_process_only_begins_again(tmp_path):
    kind = TrialKind("whole", "", 10, each(broken), in_one_go=True)
    run_trials(kind, 2, tmp_path)
    assert run_trials(kind, 5, tmp_path).outcomes == {"fine": 1, "failed": 4}


def test_the_page_has_a_row_for_every_kind_and_its_failures(tmp_path):
    run_trials(TrialKind("texts", "", 10, each(broken)), 4, tmp_path)
    page = write_page(tmp_path)
    assert page.count("\n| ") == len(KINDS) + 2
    assert "| 4 of 2,000,000 | 1 fine | 3 |" in page
    assert "- texts, trial 0: even" in page
