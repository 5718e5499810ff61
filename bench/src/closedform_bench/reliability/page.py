"""The page of all trials: what was tried, how often, and what came of it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from closedform_bench.reliability import (
    absurd_requests,
    budgets,
    damaged_files,
    misbehaving_networks,
    odd_arrays,
    saves,
    surroundings,
    texts,
)
from closedform_bench.reliability.mutant_shares import mutants_section
from closedform_bench.reliability.trial import Tally, TrialKind, read_tally

KINDS: tuple[TrialKind, ...] = (
    texts.KIND,
    *damaged_files.KINDS,
    misbehaving_networks.KIND,
    odd_arrays.KIND,
    absurd_requests.KIND,
    saves.KIND,
    surroundings.READINGS,
    surroundings.SURROUNDINGS,
    budgets.KIND,
    budgets.LARGE_KIND,
)
"""In the order of the page."""

HEAD = """# Reliability

For those who must rely on closedform. This page is written by a command that tries to break the
package. A trial's number is its seed, so every trial can be repeated.

    python bench/scripts/reliability.py --store runs --share 1 --page docs/reliability.md

A trial fails if anything but the stated outcomes happens: another error, a changed network, a lost
file, a late answer. Three kinds have commands of their own:

- `python bench/scripts/hostile_onnx.py`: 300 hostile ONNX files
- `python bench/scripts/fuzz_readers.py --minutes 60`: fuzzed readers of files. In an hour each:
  557,066 networks, 513,543 fields, 597,729 answers and 64,437 files of stores, without a finding
- `pytest -m slow tests/sweeping/execution/test_dask.py`: four workers of a Dask cluster killed;
  ends after a patience of 30 s with the reason

| kind | what is tried, and what must hold | trials | outcomes | failed |
| --- | --- | ---: | --- | ---: |
"""


def write_page(store: Path) -> str:
    """The page, from the records in a folder."""
    tallies = {kind.name: read_tally(store / f"{kind.name}.json") for kind in KINDS}
    rows = "".join(_row(kind, tallies[kind.name]) for kind in KINDS)
    return HEAD + rows + _failures(KINDS, tallies) + _total(tallies) + mutants_section(store)


def _row(kind: TrialKind, tally: Tally) -> str:
    outcomes = ", ".join(
        f"{count:,} {word}" for word, count in sorted(tally.outcomes.items()) if word != "failed"
    )
    rest = "" if tally.done == kind.full else f" of {kind.full:,}"
    return f"| {kind.name} | {kind.what} | {tally.done:,}{rest} | {outcomes} | {tally.failed:,} |\n"


def _failures(kinds: Sequence[TrialKind], tallies: Mapping[str, Tally]) -> str:
    lines = [
        f"- {kind.name}, {failure.strip()}\n"
        for kind in kinds
        for failure in tallies[kind.name].failures
    ]
    return f"\nThe first failures of each kind:\n\n{''.join(lines)}" if lines else ""


def _total(tallies: Mapping[str, Tally]) -> str:
    done = sum(tally.done for tally in tallies.values())
    failed = sum(tally.failed for tally in tallies.values())
    minutes = sum(tally.seconds for tally in tallies.values()) / 60
    return f"\n{done:,} trials in {minutes:.1f} minutes of one processor, {failed:,} failed.\n"
