import numpy as np
import pytest

import closedform as cf
from closedform.progress import Silent
from closedform.search.budget import Budget
from closedform.search.evolution import operon
from closedform.search.front import Candidate, Front
from closedform.search.portfolio import Portfolio, parts
from closedform.search.space import SearchSpace
from closedform.testing.known_fields import KNOWN_FIELDS, KnownField


def search(field, **limits):
    return Portfolio().search(field, SearchSpace(), Budget(**limits), np.random.default_rng(0), Silent())


def test_statistics_say_which_engine_found_what():
    result = search(KNOWN_FIELDS["determinant"].field(np.random.default_rng(0)), seconds=6.0)
    best = result.front.best
    assert best is not None
    assert result.statistics["found_by"][str(best.expression)] in ("terms", "evolution")
    assert [step["engine"] for step in result.statistics["steps"]][:1] == ["terms"]


def test_a_concept_outside_the_library_is_left_to_evolution():
    pytest.importorskip("pyoperon")
    known = KnownField("sin(2.3*x + 0.4) + y**2", ("x", "y"), -1.5, 1.5)
    result = search(known.field(np.random.default_rng(1)), seconds=12.0)
    assert result.front.best is not None
    assert result.front.best.misalignment < 1e-4
    assert "evolution" in [step["engine"] for step in result.statistics["steps"]]


def test_without_pyoperon_the_terms_run_alone_and_say_so(monkeypatch):
    monkeypatch.setattr(operon, "why_unavailable", lambda: "no wheel for this platform")
    result = search(KNOWN_FIELDS["energy"].field(np.random.default_rng(0)), seconds=5.0)
    assert result.front.best is not None
    assert result.front.best.misalignment < 1e-9
    assert "no wheel for this platform" in result.statistics["remark"]
    assert "term search ran alone" in result.statistics["remark"]


def test_parts_are_subexpressions_with_inputs():
    front = Front.of([Candidate(cf.parse("sin(2*x)/y + 3"), 0.1, 9, "evolution")])
    assert [str(part) for part in parts(front, 10)] == ["sin(2*x)/y + 3", "sin(2*x)/y", "sin(2*x)", "2*x"]
    assert len(parts(front, 2)) == 2
