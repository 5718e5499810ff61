"""Tables of ``closedform reproduce`` and of the scripts."""

import statistics
from collections.abc import Sequence
from typing import Any

from closedform_bench.figures.part import Measurement
from closedform_bench.figures.suite_tables import markdown_table
from closedform_bench.paper.reported import REPORTED

Rows = list[dict[str, Any]]


def tabulate_experiments(measurements: Sequence[Measurement]) -> str:
    """The paper's experiments, with what the paper reports."""
    titles = [
        "", "expected", "the paper reports", "found", "equivalence", "verdict", "misalignment",
        "search, choice, verdict (s)", "direct: paper", "direct: ours",
    ]  # fmt: skip
    tables = []
    for one in measurements:
        result = one.result
        said = f"Recovered: {result['recovered']} of {result['of']}"
        if result["direct_recovered"] is not None:
            said += f"; direct regression {result['direct_recovered']}"
        rows = map(_experiment_row, result["experiments"])
        tables += [markdown_table(titles, rows), f"{said}."]
    return "\n\n".join(tables)


def tabulate_retrainings(measurements: Sequence[Measurement]) -> str:
    """The totals of networks of several seeds."""
    totals = []
    for one in measurements:
        rows: Rows = one.result["experiments"]
        totals.append(
            [
                one.seed,
                f"{one.result['recovered']} of {one.result['of']}",
                sum(row["equivalence"] == "proved" for row in rows),
                sum(row["verdict"] == "verified" for row in rows),
                f"{sum(row['search_seconds'] or 0 for row in rows):.0f}",
                f"{sum(row['train_seconds'] or 0 for row in rows):.0f}",
            ]
        )
    return markdown_table(
        ["seed", "recovered", "proved", "verified", "search, choice, verdict (s)", "training (s)"],
        totals,
    )


def tabulate_retrained(measurements: Sequence[Measurement]) -> str:
    """What each network of several seeds gave."""
    by_number: dict[int, list[str]] = {}
    for one in measurements:
        for row in one.result["experiments"]:
            by_number.setdefault(row["number"], []).append(
                f"`{row['found']}`, {row['equivalence']}, {row['verdict']}"
            )
    seeds = [f"seed {one.seed}" for one in measurements]
    return markdown_table(["", *seeds], ([n, *cells] for n, cells in by_number.items()))


def tabulate_new_user(measurements: Sequence[Measurement]) -> str:
    """Networks that no example has."""
    rows: Rows = [row for one in measurements for row in one.result]
    by_name: dict[str, Rows] = {}
    for row in rows:
        by_name.setdefault(row["name"], []).append(row)
    table = markdown_table(
        ["network", "right", "verdicts", "training (s)", "reading (s)"],
        (
            [
                name,
                f"{sum(row['right'] for row in mine)} of {len(mine)}",
                ", ".join(row["status"] for row in mine),
                f"{statistics.mean(row['train'] for row in mine):.1f}",
                f"{statistics.mean(row.get('seconds', 0.0) for row in mine):.1f}",
            ]
            for name, mine in by_name.items()
        ),
    )
    known = [row["right"] for row in rows if row["truth"] is not None]
    wrong = sum(row["status"] == "verified" and not row["right"] for row in rows)
    return (
        f"{table}\n\nOf those with a closed form {sum(known)} of {len(known)} are right; wrong and "
        f"verified: {wrong}."
    )


def tabulate_units(measurements: Sequence[Measurement]) -> str:
    """The same equations with and without units."""
    rows: Rows = [row for one in measurements for row in one.result]
    cells = []
    for title, with_units in (("without", False), ("with", True)):
        mine = [row for row in rows if row["units"] is with_units]
        verified = [row["right"] for row in mine if row["status"] == "verified"]
        seconds = [row["seconds"] for row in mine]
        cells.append(
            [
                title,
                f"{sum(row['right'] for row in mine)} of {len(mine)}",
                len(verified),
                len(verified) - sum(verified),
                f"{statistics.median(seconds):.1f}",
                f"{sum(seconds):.0f}",
            ]
        )
    titles = ["units", "right", "verified", "verified and wrong", "median (s)", "all (s)"]
    return markdown_table(titles, cells)


def tabulate_targets(measurements: Sequence[Measurement]) -> str:
    """Known concepts that a search is to find."""
    rows: Rows = [row for one in measurements for row in one.result]
    found, tries = sum(row["found"] for row in rows), sum(row["of"] for row in rows)
    return markdown_table(
        ["target", "inputs", "found", "seconds"],
        [
            *(
                [
                    f"`{row['truth']}`",
                    row["inputs"],
                    f"{row['found']} of {row['of']}",
                    "" if row["seconds"] is None else f"{row['seconds']:.2f}",
                ]
                for row in rows
            ),
            ["**all**", "", f"**{found} of {tries}**", ""],
        ],
    )


def show_page(measurements: Sequence[Measurement]) -> str:
    """A page that its command writes as a whole; the latest."""
    return max(measurements, key=lambda one: one.date).result["page"]


def _experiment_row(row: dict[str, Any]) -> list[object]:
    reported = REPORTED[row["number"]]
    return [
        row["number"],
        *(f"`{formula}`" for formula in (row["expected"], reported.found, row["found"])),
        row["equivalence"],
        row["verdict"],
        "" if row["misalignment"] is None else f"{row['misalignment']:.1e}",
        "" if row["search_seconds"] is None else f"{row['search_seconds']:.1f}",
        "yes" if reported.by_direct_regression else "no",
        "" if row["direct"] is None else row["direct"]["equivalence"],
    ]
