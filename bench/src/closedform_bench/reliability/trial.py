"""A kind of trial, and a record of trials that goes on where it stopped."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from closedform.basics.files import write_text

KEPT_FAILURES = 5
"""How many failures are kept in words; the others are counted."""

SECONDS_BETWEEN_SAVES = 5.0
"""What an interruption may cost."""


@dataclass(frozen=True, slots=True)
class TrialKind:
    """Trials of one kind, numbered from 0; a number always means the same trial.

    Attributes
    ----------
    name : str
    what : str
        What is tried and what must hold, as a row of the page.
    full : int
        How many were asked for.
    run : callable
        From the numbers of trials to their outcomes, a word for each. One that begins with
        ``failed`` counts against the package, and so does an exception.
    in_one_go : bool
        Whether the trials mean something in one process only; then a run does not go on, but
        begins again.
    """

    name: str
    what: str
    full: int
    run: Callable[[range], Iterator[str]]
    in_one_go: bool = False


@dataclass
class Tally:
    """What came of the trials of a kind so far.

    Attributes
    ----------
    done : int
    outcomes : Counter
        How often each word came.
    failures : list of str
        The first few, in words.
    seconds : float
        Of the processor.
    """

    done: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def failed(self) -> int:
        """How many trials broke something."""
        return self.outcomes["failed"]


def each(trial: Callable[[int], str]) -> Callable[[range], Iterator[str]]:
    """Trials that have nothing to do with each other."""

    def run(numbers: range) -> Iterator[str]:
        for number in numbers:
            try:
                yield trial(number)
            except Exception as error:  # any kind that gets here is what the trials look for
                yield f"failed: {type(error).__name__}: {str(error)[:200]}"

    return run


def run_trials(kind: TrialKind, count: int, store: Path) -> Tally:
    """Run the trials of a kind that are not in the store yet, up to a count.

    Parameters
    ----------
    kind : TrialKind
    count : int
    store : Path
        A folder; a record in it is written every few seconds.
    """
    file = store / f"{kind.name}.json"
    tally = read_tally(file)
    if kind.in_one_go and tally.done < count:
        tally = Tally()
    saved = time.perf_counter()
    before, used = tally.seconds, time.process_time()
    for outcome in islice(kind.run(range(tally.done, count)), max(0, count - tally.done)):
        word, _, detail = outcome.partition(":")
        if word == "failed" and len(tally.failures) < KEPT_FAILURES:
            tally.failures.append(f"trial {tally.done}:{detail}")
        tally.done += 1
        tally.outcomes[word] += 1
        tally.seconds = before + time.process_time() - used
        if time.perf_counter() - saved > SECONDS_BETWEEN_SAVES:
            _write(tally, file)
            saved = time.perf_counter()
    _write(tally, file)
    return tally


def read_tally(file: Path) -> Tally:
    """The record of a kind; an empty one where there is none."""
    if not file.exists():
        return Tally()
    content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return Tally(**{**content, "outcomes": Counter(content["outcomes"])})


def _write(tally: Tally, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(
        file, json.dumps({name: getattr(tally, name) for name in tally.__dataclass_fields__})
    )
