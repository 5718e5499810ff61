"""Tables of the suites of ``closedform bench``."""

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from closedform_bench.figures.part import Measurement
from closedform_bench.invariants.leaderboard import USUAL_SECONDS, every_system, leaderboard
from closedform_bench.verdicts.suite import (
    SHARES,
    VerdictPlan,
    interval_text,
    share_of,
    verdict_summary,
)

Problem = dict[str, Any]


def markdown_table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown.

    Examples
    --------
    >>> print(markdown_table(["a", "b"], [[1, "x"]]))
    | a | b |
    |---|---|
    | 1 | x |
    """
    lines = [titles, *([str(cell) for cell in row] for row in rows)]
    first, *others = ("| " + " | ".join(line) + " |" for line in lines)
    return "\n".join([first, "|" + "---|" * len(titles), *others])


def tabulate_formulas(measurements: Sequence[Measurement]) -> str:
    """Suites of formulas: a row for each way to see them."""
    titles = ["", "seeds", "right", "share", "verified", "right among verified", "95%", "median"]
    return markdown_table(titles, (_formula_row(*entry) for entry in _ways(measurements)))


def tabulate_inputs(measurements: Sequence[Measurement]) -> str:
    """The same by number of inputs."""
    return _tabulate_by("inputs", measurements)


def tabulate_kinds(measurements: Sequence[Measurement]) -> str:
    """The same by kind: a class of the suite forms, a field of the suite surrogates."""
    return _tabulate_by("kind", measurements)


def tabulate_verdicts(measurements: Sequence[Measurement]) -> str:
    """Fields, networks and controls of the suite verdict, all seeds together."""
    rows = [row for one in measurements for row in one.result["problems"]]
    result = verdict_summary(VerdictPlan(), rows)
    return markdown_table(
        ["", "count", "95%"],
        (
            [title, f"{result[key]['count']} of {result[key]['of']}", interval_text(result[key])]
            for key, title in SHARES.items()
            if result[key]["of"]
        ),
    )


def tabulate_invariants(measurements: Sequence[Measurement]) -> str:
    """InvariantBench: totals, controls, and causes of misses."""
    return leaderboard(_bench_records(measurements))


def tabulate_systems(measurements: Sequence[Measurement]) -> str:
    """InvariantBench: every system, and every kind of control."""
    return every_system(_bench_records(measurements))


def _bench_records(measurements: Sequence[Measurement]) -> Iterable[Problem]:
    return (
        {
            "suite": one.result["suite"],
            "track": one.option("--track", "field"),
            "tool": one.option("--tool", "closedform"),
            "system": row["name"],
            "seed": row["seed"],
            "noise": float(one.option("--noise", "0")),
            "budget": float(one.option("--budget", str(USUAL_SECONDS))),
            "row": row,
        }
        for one in measurements
        for row in one.result["systems"]
    )


def _tabulate_by(key: str, measurements: Sequence[Measurement]) -> str:
    ways = _ways(measurements)
    groups = sorted({row[key] for _, runs in ways for run in runs.values() for row in run})
    rows = []
    for title, runs in ways:
        cells = []
        for group in groups:
            mine = [row["right"] for run in runs.values() for row in run if row[key] == group]
            cells.append(f"{sum(mine)} of {len(mine)}" if mine else "")
        rows.append([title, *cells])
    return markdown_table([key, *map(str, groups)], rows)


def _ways(measurements: Sequence[Measurement]) -> list[tuple[str, dict[int, list[Problem]]]]:
    """Titles, and the problems of each seed; networks that carry the truth by themselves, too."""
    ways: dict[str, dict[int, list[Problem]]] = {}
    for one in measurements:
        result = one.result
        if result["track"] == "network":
            learned = [row for row in result["problems"] if row["learned"]]
            ways.setdefault("networks that carry the truth", {})[one.seed] = learned
            title = "all networks"
        elif result["noise"]:
            title = f"{result['noise']:g} degree{'' if result['noise'] == 1 else 's'} of noise"
        else:
            title = "exact"
        ways.setdefault(title, {})[one.seed] = result["problems"]
    return list(ways.items())


def _formula_row(title: str, runs: dict[int, list[Problem]]) -> list[object]:
    rows = [row for run in runs.values() for row in run]
    counts = [f"{sum(row['right'] for row in run)} of {len(run)}" for run in runs.values()]
    right = sum(row["right"] for row in rows)
    share = share_of(_right_of_verified(rows))
    return [
        title,
        ", ".join(map(str, runs)),
        f"{right} of {len(rows)}" + (f" ({', '.join(counts)})" if len(counts) > 1 else ""),
        f"{100 * right / max(len(rows), 1):.0f}%",
        share["of"],
        share["count"],
        interval_text(share),
        f"{statistics.median(row['seconds'] for row in rows):.1f} s" if rows else "",
    ]


def _right_of_verified(rows: Sequence[Problem]) -> list[bool]:
    return [row["right"] for row in rows if row["status"] == "verified"]
