"""The table of labelled pairs: every answer right, none slow, and most of the same ones proved."""

import logging
import multiprocessing
import time
import tomllib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.pool import Pool
from pathlib import Path
from typing import Any

import pytest

from closedform import Equivalence, same_concept

logger = logging.getLogger(__name__)

SECONDS, PATIENCE = 10.0, 60.0
"""No pair may take longer, in processor seconds; what hangs is ended by the clock."""

PROVED_SHARE = 0.85
"""So many of the pairs that are the same must be proved."""


@dataclass(frozen=True)
class Pair:
    """One row: two formulas, how they are compared, and the label."""

    id: str
    label: str
    a: str
    b: str
    names: list[str] | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def same(self) -> bool:
        return self.label == "same"

    @property
    def dependent(self) -> bool:
        return self.label != "different"


@dataclass(frozen=True)
class Answer:
    """What was answered, None if nothing in time, and how many processor seconds it took."""

    equivalence: Equivalence | None
    seconds: float

    @property
    def status(self) -> str:
        return "none" if self.equivalence is None else self.equivalence.status


class Worker:
    """A process that answers; one that hangs in compiled code can only be ended from outside."""

    def __init__(self) -> None:
        self.pool = self._start()

    def ask(self, pair: Pair) -> Answer:
        start = self.pool.apply(time.process_time)
        waiting = self.pool.apply_async(same_concept, (pair.a, pair.b, pair.names), pair.options)
        try:
            found = waiting.get(PATIENCE)
            return Answer(found, self.pool.apply(time.process_time) - start)
        except multiprocessing.TimeoutError:
            self.pool.terminate()
            self.pool = self._start()
            return Answer(None, PATIENCE)

    @staticmethod
    def _start() -> Pool:
        pool = multiprocessing.get_context("spawn").Pool(
            1, initializer=warnings.simplefilter, initargs=("error",)
        )
        pool.apply(
            same_concept, ("x*y", "2*x*y")
        )  # imports and compiles, which no pair is charged for
        return pool


def _read_table() -> list[Pair]:
    table = tomllib.loads(
        Path(__file__).with_name("labelled_pairs.toml").read_text(encoding="utf-8")
    )
    return [
        Pair(
            f"{topic}/{label}/{row['id']}",
            label,
            row["a"],
            row["b"],
            row.get("names"),
            _options(row),
        )
        for topic, lists in table.items()
        for label, rows in lists.items()
        for row in rows
    ]


def _options(row: dict[str, Any]) -> dict[str, Any]:
    options = {key: row[key] for key in ("constraints", "points") if key in row}
    domain = row.get("domain")
    if isinstance(domain, dict):
        options["domain"] = {name: tuple(interval) for name, interval in domain.items()}
    elif domain is not None:
        options["domain"] = tuple(domain)
    return options


PAIRS = _read_table()
SAME, OTHERS = ([pair for pair in PAIRS if pair.same is same] for same in (True, False))


@pytest.fixture(scope="session")
def answer() -> Iterator[Callable[[Pair], Answer]]:
    """Answers, each computed once in a session."""
    worker = Worker()
    known: dict[str, Answer] = {}

    def ask(pair: Pair) -> Answer:
        if pair.id not in known:
            known[pair.id] = worker.ask(pair)
        return known[pair.id]

    yield ask
    worker.pool.terminate()
    worker.pool.join()


def test_the_table_is_large_and_balanced() -> None:
    assert {pair.label for pair in PAIRS} == {"same", "dependent", "different"}
    assert len({pair.id for pair in PAIRS}) == len(PAIRS) >= 220
    assert len({(pair.a, pair.b, str(pair.names), str(pair.options)) for pair in PAIRS}) >= 220
    assert len(SAME) >= 110
    assert len(SAME) >= 0.5 * len(PAIRS)


def check_label(pair: Pair, answer: Callable[[Pair], Answer]) -> None:
    given = answer(pair)
    found = given.equivalence
    assert found is not None, f"{pair.id}: no answer in {PATIENCE} s"
    assert given.seconds <= SECONDS, pair.id
    assert bool(found) == pair.same, f"{pair.id}: {found.reason}"
    assert found.dependent == pair.dependent, f"{pair.id}: {found.reason}"
    assert (found.witness is None) == pair.same
    assert 0.0 <= found.misalignment <= 1.0


@pytest.mark.parametrize("pair", OTHERS, ids=lambda pair: pair.id)
def test_label(pair: Pair, answer: Callable[[Pair], Answer]) -> None:
    check_label(pair, answer)


@pytest.mark.parametrize(
    "same",
    [
        pytest.param(SAME[::6], id="every sixth"),
        pytest.param(SAME, id="all", marks=pytest.mark.slow),
    ],
)
def test_the_same_pairs_are_told_so_and_most_are_proved(
    same: list[Pair],
    answer: Callable[[Pair], Answer],
    record_testsuite_property: Callable[[str, object], None],
) -> None:
    """The counts go to the log (``--log-cli-level=INFO``) and to the JUnit file. One test asks for
    all of them, so that no two workers do.
    """
    for pair in same:
        check_label(pair, answer)
    unproved = [
        f"{pair.id}: {answer(pair).status}" for pair in same if answer(pair).status != "proved"
    ]
    proved = len(same) - len(unproved)
    logger.info("%d the same, %d of them proved; not: %s", len(same), proved, unproved)
    for name, count in (("same", len(same)), ("proved", proved)):
        record_testsuite_property(name, count)
    assert proved >= PROVED_SHARE * len(same), f"{proved} of {len(same)} proved; not: {unproved}"
