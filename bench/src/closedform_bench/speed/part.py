"""A part of the speed page: what measures it and what shows it, and the store of results."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from closedform.basics.files import write_text
from closedform_bench.speed.machine import surroundings

Numbers = dict[str, Any]
"""What a part measured, as JSON can hold it."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured.

    Attributes
    ----------
    is_short : bool
        A few seconds for each part, which show that it works; the figures mean little.
    is_large : bool
        Whether sizes are included that take minutes and gigabytes.
    others : str or None
        A Python interpreter whose environment holds gplearn and PySINDy; they are left out without.
    """

    is_short: bool = False
    is_large: bool = False
    others: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A section of the page.

    Attributes
    ----------
    name : str
        One word, as on the command line.
    title : str
    measure : callable
    show : callable
        From the numbers to text in Markdown; the folder is where the page stands.
    """

    name: str
    title: str
    measure: Callable[[Effort], Numbers]
    show: Callable[[Numbers, Path], str]


@dataclass(frozen=True, slots=True)
class Record:
    """The stored result of a part.

    Attributes
    ----------
    is_short : bool
    seconds : float
        By the clock, for the whole part.
    surroundings : dict
    numbers : dict
    """

    is_short: bool
    seconds: float
    surroundings: dict[str, str]
    numbers: Numbers


def read_record(store: Path, name: str) -> Record | None:
    """What is stored of a part; None if it was not run."""
    file = store / f"{name}.json"
    if not file.exists():
        return None
    return Record(**json.loads(file.read_text(encoding="utf-8")))


def write_record(store: Path, name: str, record: Record) -> None:
    """Store the result of a part."""
    store.mkdir(parents=True, exist_ok=True)
    content = {key: getattr(record, key) for key in Record.__dataclass_fields__}
    write_text(store / f"{name}.json", json.dumps(content, indent=1) + "\n")


def run_parts(
    parts: Sequence[Part], effort: Effort, store: Path, tell: Callable[[str], None]
) -> None:
    """Run the parts that the store does not hold; a full run does not take a short one for its own.

    Parameters
    ----------
    parts : sequence of Part
    effort : Effort
    store : Path
    tell : callable
        Gets a line before and after each part.
    """
    for part in parts:
        known = read_record(store, part.name)
        if known is not None and (effort.is_short or not known.is_short):
            tell(f"{part.name}: done before")
            continue
        tell(f"{part.name}: runs")
        start = time.perf_counter()
        numbers = part.measure(effort)
        seconds = round(time.perf_counter() - start, 1)
        write_record(store, part.name, Record(effort.is_short, seconds, surroundings(), numbers))
        tell(f"{part.name}: done in {seconds} s")
