import io
import signal
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import psutil
import pytest

import closedform as cf
from closedform.basics.progress import Live, Silent, Snapshot
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Budget, processor_seconds
from closedform.searching.engine import SearchResult
from closedform.searching.evolution import operon
from closedform.searching.evolution.evolution_engine import Evolution
from closedform.searching.front import Candidate, Front
from closedform.searching.portfolio import Bar, Portfolio
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.structure_engine import StructureSearch
from closedform.searching.terms.term_engine import TermSearch
from closedform.testing import KNOWN_FIELDS, KnownField

NAMES = ("x", "y", "z", "w")


SMALL = Portfolio(
    TermSearch(stages=(80,), max_terms=4, width=10),
    Evolution(population=100, islands=1),
    structure=None,
)
"""Without the search by structure, which would leave nothing to do for the others."""


def search(field, progress=None, space=None, engine=SMALL, **limits):
    return engine.search(
        field,
        space or SearchSpace(),
        Budget(**limits),
        np.random.default_rng(0),
        progress or Silent(),
    )


def test_statistics_say_which_engine_found_what():
    result = search(KNOWN_FIELDS["determinant"].field(np.random.default_rng(0)), seconds=6.0)
    best = result.front.best
    assert best is not None
    assert result.statistics["found_by"][str(best.expression)] in ("terms", "evolution")
    assert [step["engine"] for step in result.statistics["steps"]][:1] == ["terms"]


def test_a_concept_outside_the_library_is_left_to_evolution():
    pytest.importorskip("pyoperon")
    known = KnownField("x**y + x*y", ("x", "y"), 0.5, 2.0)
    space = SearchSpace(variable_exponents=True)
    few_terms = replace(SMALL, first=0.02)
    field = known.field(np.random.default_rng(1))
    result = search(field, space=space, engine=few_terms, evaluations=40_000, target=1e-11)
    best = result.front.best
    assert best is not None
    assert best.misalignment < 1e-10
    assert result.statistics["found_by"][str(best.expression)] == "evolution"


def test_without_pyoperon_the_terms_run_alone_and_say_so_once(monkeypatch, caplog):
    monkeypatch.setattr(operon, "why_unavailable", lambda: "no wheel for this platform")
    field = KNOWN_FIELDS["energy"].field(np.random.default_rng(0))
    result, _ = search(field, seconds=5.0), search(field, seconds=5.0)
    assert [record.getMessage() for record in caplog.records] == [
        "The engine 'auto' runs without evolution: pyoperon cannot be used here (no wheel for this "
        "platform)."
    ]
    assert result.front.best is not None
    assert result.front.best.misalignment < 1e-9
    assert "no wheel for this platform" in result.statistics["remark"]
    assert "term search ran alone" in result.statistics["remark"]


def test_the_answer_is_written_and_judged_in_the_users_inputs():
    field = KnownField("x*y + z**2", NAMES).field(np.random.default_rng(0))
    result = search(field, evaluations=2000)
    for candidate in result.front:
        assert candidate.expression.names == NAMES
        assert candidate.complexity == candidate.expression.complexity()
        assert field_misalignment(candidate.expression, field).mean() == pytest.approx(
            candidate.misalignment, abs=1e-12
        )
    assert result.front.best is not None
    assert result.front.best.misalignment < 1e-12


def test_one_combination_of_all_inputs_is_the_answer():
    result = search(
        KnownField("exp(x - 2*y + z/3)", ("x", "y", "z")).field(np.random.default_rng(0)),
        evaluations=500,
    )
    assert result.front.best is not None
    assert result.front.best.misalignment < 1e-12


@pytest.mark.parametrize("noise", [0.02, 0.1])
def test_weak_inputs_stay_in_spite_of_noise(noise):
    field = KnownField("x*y + 0.2*z", ("x", "y", "z")).field(np.random.default_rng(0), noise=noise)
    result = search(field, evaluations=600)
    found = [candidate.expression for candidate in result.front if "z" in str(candidate.expression)]
    clean = KnownField("x*y + 0.2*z", ("x", "y", "z")).field(np.random.default_rng(1))
    assert min(field_misalignment(expression, clean).mean() for expression in found) < noise**2


def test_the_users_terms_guesses_and_limits_survive_the_reduction():
    field = KnownField("tanh(x)*z", NAMES).field(np.random.default_rng(0))
    space = SearchSpace(
        terms=["log(tanh(x)**2) + log(z**2)", "x*w"],
        guesses=["x*y"],
        inside={"sin": ["w"], "exp": ["x"]},
    )
    result = search(field, space=space, evaluations=500)
    assert result.front.best is not None
    assert "tanh" in str(result.front.best.expression)
    assert result.front.best.misalignment < 1e-12


class Recorder:
    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.closed = 0

    def show(self, snapshot):
        assert self.closed == 0
        self.seen.append(snapshot)

    def close(self):
        self.closed += 1


@pytest.mark.parametrize("limits", [{"evaluations": 20_000}, {"seconds": 3.0}])
def test_progress_is_one_bar_over_the_whole_budget(limits):
    pytest.importorskip("pyoperon")
    recorder = Recorder()
    field = KnownField("x*y/(1 + z**2) + sin(x*w)", NAMES).field(
        np.random.default_rng(4), noise=0.05
    )
    search(field, progress=recorder, **limits)
    shares = [snapshot.done for snapshot in recorder.seen]
    assert shares == sorted(shares)
    assert shares[-1] <= 1
    assert recorder.closed == 1
    assert {snapshot.step for snapshot in recorder.seen} == {"auto"}
    assert any(0.4 < share < 0.9 for share in shares)
    for snapshot in recorder.seen:
        numbers = [(int(size), float(text.split()[0])) for size, text in snapshot.details]
        assert numbers == sorted(numbers, key=lambda pair: (pair[0], -pair[1]))


def test_a_live_line_stays_one_line():
    stream = io.StringIO()
    live = Live(stream)
    bar = Bar(live, Budget(evaluations=100).start())
    for engine in ("terms", "evolution"):
        bar.begin(Budget(evaluations=40), Front())
        bar.show(Snapshot(engine, 0.5))
        bar.close()
    bar.finish()
    assert stream.getvalue().count("\n") == 1


def test_progress_is_closed_when_interrupted_and_when_the_field_is_dead():
    recorder = Recorder()
    dead = GradientField.from_arrays(
        np.random.default_rng(0).normal(size=(50, 2)), np.zeros((50, 2))
    )
    search(dead, progress=recorder, evaluations=100)
    assert recorder.closed == 1


INTERRUPTED = """
import sys

import numpy as np
from closedform.basics.progress import Live
from closedform.basics.progress import Silent, Snapshot
from closedform.searching.budget import Budget, processor_seconds
from closedform.searching.portfolio import Portfolio
from closedform.searching.space import SearchSpace
from closedform.testing import KnownField

known = KnownField("x*y/(1 + z**2) + sin(x*w)", ("x", "y", "z", "w"))
field, space = known.field(np.random.default_rng(4), noise=0.05), SearchSpace()
Portfolio().search(field, space, Budget(evaluations=500), np.random.default_rng(0), Silent())
for _ in range(3):
    print("searching", flush=True)
    rng = np.random.default_rng(0)
    with processor_seconds():
        result = Portfolio().search(field, space, Budget(seconds=6), rng, Silent())
    print(result.status, len(result.front), flush=True)
sys.stdin.read()
"""


def test_a_real_ctrl_c_ends_the_search_within_a_second():
    """Of its processor: in the term search and in evolution, the middle of three tries."""
    delays = []
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None

        def used():
            return sum(psutil.Process(process.pid).cpu_times()[:2])

        for wait in (0.4, 1.0, 2.3):
            assert process.stdout.readline() == "searching\n"
            begun = used()
            while used() < begun + wait:
                time.sleep(0.02)
            pressed = used()
            process.send_signal(signal.SIGINT)
            status, count = process.stdout.readline().split()
            delays.append(used() - pressed)
            assert status == "interrupted"
        assert int(count) > 0
    assert statistics.median(delays) < 1.0


@dataclass(frozen=True, slots=True)
class FalseStructure(StructureSearch):
    """Believes in a structure that is not there until its budget is used up."""

    spent: list[float] = field(default_factory=list)

    def search(self, field, space, budget, rng, progress):
        clock = budget.share(self.inexact).start()
        wrong = cf.parse("x*y + z", names=list(field.names))
        while clock.stop_reason(1.0) is None:
            field_misalignment(wrong, field)
        self.spent.append(clock.seconds)
        found = Candidate(wrong, float(field_misalignment(wrong, field).mean()), 5, "structure")
        return SearchResult(Front.of([found]), "finished", {"engine": "structure"})


def test_false_structure_costs_less_than_half_of_a_reading():
    """And the answer is found all the same. Where quantities merge exactly, structure is true."""
    points = np.random.default_rng(0).uniform(1, 3, (600, 3))
    truth = cf.parse("x**2 + y*z", names=list("xyz"))
    known = cf.GradientField.from_arrays(points, truth.gradient(points), names=list("xyz"))
    usual = Portfolio().structure
    assert usual is not None
    engine = FalseStructure(inexact=usual.inexact)
    with processor_seconds():
        answer = cf.interpret_field(
            known, engine=Portfolio(structure=engine), budget=5.0, rng=0, progress=False
        )
    assert engine.spent[0] < 0.43 * 5.0
    assert answer.concept is not None
    assert cf.same_concept(answer.concept, truth)
    assert answer.verdict.status == "verified"
