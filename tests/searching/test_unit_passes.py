"""Two passes of a search with units: pure numbers first."""

from dataclasses import dataclass, field

import numpy as np

import closedform as cf
from closedform.basics.progress import Silent
from closedform.searching.budget import Budget
from closedform.searching.engine import SearchResult
from closedform.searching.front import Candidate, Front
from closedform.searching.search_stage import search_with_units

NAMES = ["x", "v"]


@dataclass(frozen=True)
class Scripted:
    """An engine that returns what it is told to, and remembers the spaces it was asked in."""

    strict: tuple[tuple[str, float, int], ...]
    loose: tuple[tuple[str, float, int], ...]
    asked: list = field(default_factory=list)
    name: str = "scripted"

    def search(self, field, space, budget, rng, progress) -> SearchResult:
        self.asked.append(space.legality.may_carry)
        rows = self.loose if space.legality.may_carry else self.strict
        front = Front.of(Candidate(cf.parse(t, NAMES), m, c, self.name) for t, m, c in rows)
        return SearchResult(front, "finished", {"evaluations": 10})


def run(engine: Scripted, **units) -> SearchResult:
    points = np.random.default_rng(0).uniform(1, 2, (200, 2))
    stated = cf.Units({"x": "m", "v": "m/s"}, **units)
    known = cf.GradientField.from_arrays(points, points, names=NAMES, units=stated)
    rng = np.random.default_rng(0)
    return search_with_units(
        engine, known, cf.SearchSpace(), Budget(evaluations=1000), rng, Silent()
    )


def test_a_perfect_formula_of_pure_numbers_ends_the_search() -> None:
    engine = Scripted((("x*v", 0.0, 3),), (("x + 0.37*v", 0.0, 7),))
    assert [str(one.expression) for one in run(engine).front] == ["x*v"]
    assert engine.asked == [False]


def test_constants_with_units_come_second_and_are_charged() -> None:
    engine = Scripted((("x*v", 0.1, 3),), (("x + 0.37*v", 0.01, 7),))
    result = run(engine)
    assert engine.asked == [False, True]
    assert [one.complexity for one in result.front] == [3, 9]
    assert result.evaluations == 20


def test_the_front_keeps_its_order_whichever_pass_found_what() -> None:
    engine = Scripted((("x*v", 0.1, 3), ("x**2*v", 0.05, 12)), (("x + 0.37*v", 0.01, 7),))
    values = [one.misalignment for one in run(engine).front]
    assert values == sorted(values, reverse=True)
    assert run(engine).front.best.misalignment == 0.01  # type: ignore[union-attr]


def test_pure_numbers_only_ask_once() -> None:
    engine = Scripted((("x*v", 0.1, 3),), (("x + 0.37*v", 0.01, 7),))
    assert [one.complexity for one in run(engine, pure_numbers=True).front] == [3]
    assert engine.asked == [False]
