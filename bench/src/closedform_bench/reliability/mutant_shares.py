"""How many mutants of the package the tests notice; ``bench/scripts/mutants.py`` makes them."""

import json
from collections.abc import Mapping
from pathlib import Path

from closedform_bench.verdicts.suite import interval_text, share_of

SECTION = """
## Mutants

The package is changed in one place, drawn by seed (an operator, a comparison, a number, a sign),
and the quick tests have to notice. Of {count} such changes they noticed {killed} ({share};
`python bench/scripts/mutants.py --store runs --seed {seed}`, which prints them by room).
"""


def mutants_section(store: Path) -> str:
    """The section of the page, from the outcomes in a folder; empty if there are none."""
    sections = []
    for file in sorted(store.glob("mutants_*.json")):
        outcomes = json.loads(file.read_text(encoding="utf-8"))
        if outcomes:
            found = share_of([outcome != "survived" for outcome in outcomes.values()])
            share = (
                f"{100 * found['count'] / found['of']:.3g}%, 95% interval {interval_text(found)}"
            )
            seed = file.stem.partition("_")[2]
            sections.append(
                SECTION.format(count=len(outcomes), killed=found["count"], share=share, seed=seed)
            )
    return "".join(sections)


def mutant_rows(outcomes: Mapping[str, str]) -> str:
    """A row for each room, and one for all.

    Examples
    --------
    >>> outcomes = {
    ...     "field/noise.py:3 (place 1)": "killed",
    ...     "field/noise.py:5 (place 2)": "survived",
    ... }
    >>> print(mutant_rows(outcomes), end="")
    | field | 1 | 2 | 50% (1.26 to 98.74%) |
    | all | 1 | 2 | 50% (1.26 to 98.74%) |
    """
    rooms = [*sorted({name.partition("/")[0] for name in outcomes}), "all"]
    rows = []
    for room in rooms:
        mine = [found for name, found in outcomes.items() if room in ("all", name.split("/")[0])]
        share = share_of([found != "survived" for found in mine])
        killed = f"{100 * share['count'] / share['of']:.3g}% ({interval_text(share)})"
        rows.append(f"| {room} | {share['count']} | {share['of']} | {killed} |\n")
    return "".join(rows)
