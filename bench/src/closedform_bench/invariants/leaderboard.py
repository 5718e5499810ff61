"""The leaderboard: tables of stored results, as ``closedform figures write`` puts them into the
docs.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from closedform_bench.invariants.system_catalogue import SYSTEMS

USUAL_SECONDS = 60.0

Record = Mapping[str, Any]


def leaderboard(records: Iterable[Record]) -> str:
    """The tables as Markdown: one line for each tool and track, controls by track, and causes of
    misses.

    Parameters
    ----------
    records : iterable of mapping
        As `closedform_bench.invariants.bench_task.run_tasks` keeps them.

    Examples
    --------
    >>> row = {"recovered": 1, "of": 1, "false": 0, "seconds": 3.0, "found": ["x"], "name": "sir"}
    >>> task = {
    ...     "suite": "invariants",
    ...     "track": "field",
    ...     "tool": "closedform",
    ...     "system": "sir",
    ...     "seed": 0,
    ...     "noise": 0.0,
    ... }
    >>> print(leaderboard([{**task, "budget": 60.0, "row": row}]).splitlines()[2])
    | closedform | field, 0 degrees | 1 of 1 (100%) | 1 of 1 (100%) | 0 | 3 |
    """
    entries, controls = _sorted_out(records)
    parts = [_totals(entries)]
    if controls:
        parts.append(_controls("controls on track", controls, key=lambda record: record["track"]))
    missing = [record for some in entries.values() for record in some if record["row"].get("cause")]
    if missing:
        parts.append(_causes(missing))
    return "\n\n".join(parts)


def every_system(records: Iterable[Record]) -> str:
    """The long tables as Markdown: one line for each system, and one for each kind of control.

    Parameters
    ----------
    records : iterable of mapping
        As for `leaderboard`.
    """
    entries, controls = _sorted_out(records)
    parts = [_by_system(entries)]
    if controls:
        parts.append(
            _controls(
                "control | track",
                controls,
                key=lambda record: f"{record['system']} | {record['track']}",
            )
        )
    return "\n\n".join(parts)


def _sorted_out(records: Iterable[Record]) -> tuple[dict[str, list[Record]], list[Record]]:
    """Systems by tool and track, ours first, and controls."""
    entries: dict[str, list[Record]] = defaultdict(list)
    controls: list[Record] = []
    for record in sorted(
        records,
        key=lambda r: (r["tool"] != "closedform", r["tool"], r["track"], r["noise"], r["seed"]),
    ):
        if record["suite"] == "invariants":
            entries[_entry(record)].append(record)
        elif record["suite"] == "controls":
            controls.append(record)
    return entries, controls


def _entry(record: Record) -> str:
    """A tool on a track, with its seconds if they are not the usual ones."""
    degrees = " degree" if record["noise"] == 1 else " degrees"
    units = {"field": degrees, "flow": "%", "pairs": "%"}
    unit = units.get(record["track"])
    track = record["track"] + ("" if unit is None else f", {record['noise']:g}{unit}")
    budget = "" if record["budget"] == USUAL_SECONDS else f" ({record['budget']:g} s)"
    return f"{record['tool']}{budget} | {track}"


def _totals(entries: Mapping[str, Sequence[Record]]) -> str:
    lines = [
        "| tool | track | systems with at least one invariant | invariants | false laws | "
        "median seconds |",
        "|---|---|---|---|---|---|",
    ]
    for entry, records in entries.items():
        rows = [record["row"] for record in records]
        some, found, of = (
            sum(row["recovered"] > 0 for row in rows),
            sum(row["recovered"] for row in rows),
            sum(row["of"] for row in rows),
        )
        false, seconds = sum(row["false"] for row in rows), median(row["seconds"] for row in rows)
        shares = (
            f"{some} of {len(rows)} ({100 * some / len(rows):.0f}%) | {found} of {of} "
            f"({100 * found / max(of, 1):.0f}%)"
        )
        lines.append(f"| {entry} | {shares} | {false} | {seconds:.3g} |")
    return "\n".join(lines)


def _by_system(entries: Mapping[str, Sequence[Record]]) -> str:
    titles = [entry.replace(" | ", ": ") for entry in entries]
    lines = [
        "| system | inputs | invariants | " + " | ".join(titles) + " |",
        "|" + "---|" * (3 + len(titles)),
    ]
    for system in SYSTEMS.values():
        cells = [
            _cell([r["row"] for r in records if r["system"] == system.name])
            for records in entries.values()
        ]
        if any(cell != "" for cell in cells):
            lines.append(
                f"| {system.name} | {len(system.inputs)} | {len(system.invariants)} | "
                + " | ".join(cells)
                + " |"
            )
    return "\n".join(lines)


def _cell(rows: Sequence[Mapping[str, Any]]) -> str:
    """Recovered invariants for each seed, with false laws if there are some."""
    return ", ".join(
        f"{row['recovered']}" + (f" ({row['false']} false)" if row["false"] else "") for row in rows
    )


def _controls(title: str, records: Sequence[Record], *, key: Callable[[Record], str]) -> str:
    """A line for each group of controls; the title has as many columns as the key."""
    lines = [
        f"| {title} | readings | false laws | verified, but no law |",
        "|" + "---|" * (4 + title.count("|")),
    ]
    groups: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for record in records:
        groups[key(record)].append(record["row"])
    for name, rows in groups.items():
        encoded = sum(
            other["why"].startswith("verified") for row in rows for other in row["unclaimed"]
        )
        lines.append(f"| {name} | {len(rows)} | {sum(row['false'] for row in rows)} | {encoded} |")
    return "\n".join(lines)


def _causes(records: Sequence[Record]) -> str:
    """Which systems miss invariants in the track network, by cause; in bold those of which none was
    read.
    """
    systems: dict[str, list[str]] = defaultdict(list)
    for record in records:
        name = record["system"]
        systems[record["row"]["cause"]].append(
            name if record["row"]["recovered"] else f"**{name}**"
        )
    lines = [
        "| why invariants are missing, track network | number | systems (bold: none was read) |",
        "|---|---|---|",
    ]
    ordered = sorted(systems.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    return "\n".join(
        [*lines, *(f"| {cause} | {len(names)} | {', '.join(names)} |" for cause, names in ordered)]
    )
