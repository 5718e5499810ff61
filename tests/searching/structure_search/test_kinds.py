"""The table of kinds of merges."""

import numpy as np
import pytest

from closedform.searching.budget import Budget
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.decomposition_beam import DecompositionBeam
from closedform.searching.structure_search.finder import Finder
from closedform.searching.structure_search.kinds import KINDS, Kind, lossy_kinds
from closedform.searching.structure_search.quantities import Data, first_state
from closedform.testing import KnownField


def beam_of(truth, names):
    field = KnownField(truth, tuple(names), 1.0, 2.0).field(np.random.default_rng(0), 200)
    data = Data.of(field, 200, np.random.default_rng(0))
    clock = Budget(evaluations=10**6).start()
    finder = Finder(data, SearchSpace(), clock, 1.0, lambda state: [], lambda: None)
    return DecompositionBeam(finder), first_state(data)


@pytest.mark.parametrize("names", ["xyz", "xy"])
@pytest.mark.parametrize("level", [1e-12, 1e-3])
def test_a_row_is_all_that_a_new_kind_needs(monkeypatch, names, level):
    """A kind that was missing in two of three lists was never tried there."""
    seen = []

    def find(finder, state):
        seen.append(state.size)
        return []

    for name in [*KINDS]:
        monkeypatch.delitem(KINDS, name)
    monkeypatch.setitem(KINDS, "new", Kind(find, "first", "then", "dear", "dear", "first"))
    beam, state = beam_of("x + y", names)
    beam.set_level(level)
    assert [*beam.good_children(state)] == beam.children(state) == []
    assert seen == 2 * [len(names)]


def test_every_kind_has_its_turn_somewhere():
    assert len({kind.find for kind in KINDS.values()}) == len(KINDS)
    for kind in KINDS.values():
        assert {kind.exact, kind.exact_last, kind.noisy, kind.noisy_last} != {None}
    assert KINDS["plain forms"].find in lossy_kinds("first")
