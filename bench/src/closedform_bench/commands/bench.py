"""``closedform bench``: systems with known invariants, and controls without any, read and
scored.
"""

import json
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

import typer

from closedform_bench.commands.reproduce import network_cache

if TYPE_CHECKING:
    from closedform_bench.invariants.outcome import Row

WIDEST_NAME = 22

Suite = Literal[
    "paper", "invariants", "controls", "speed",
    "feynman", "random", "forms", "surrogates", "verdict",
]  # fmt: skip


def bench(
    more: Annotated[
        list[str] | None,
        typer.Argument(metavar="[...]", help="More names or seeds, after --systems or --seeds."),
    ] = None,
    suite: Annotated[
        Suite,
        typer.Option(
            metavar="SUITE",
            help="paper, invariants, controls, speed, feynman, random, forms, "
            "surrogates or verdict.",
        ),
    ] = "invariants",
    track: Annotated[
        Literal["field", "exact", "network", "flow", "pairs"] | None,
        typer.Option(help="Gradients, networks, or motions."),
    ] = None,
    noise: Annotated[
        float, typer.Option(metavar="N", min=0, help="Degrees in gradients, per cent in motions.")
    ] = 0.0,
    systems: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Names separated by commas; default: all."),
    ] = None,
    seeds: Annotated[
        list[str] | None,
        typer.Option(metavar="SEEDS", help="0,1 or 0:3 (invariants, controls, paper)."),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of the cases.")] = 0,
    count: Annotated[int, typer.Option(metavar="N", min=1, help="Number of cases.")] = 60,
    half: Annotated[
        Literal["seen", "unseen"], typer.Option(help="Half of the surrogates.")
    ] = "seen",
    start: Annotated[int, typer.Option(metavar="N", min=0, help="First case (verdict).")] = 0,
    budget: Annotated[float | None, typer.Option(help="Seconds for each reading.")] = None,
    tool: Annotated[
        Literal["closedform", "direct regression", "implicit regression"],
        typer.Option(help="What reads the suite invariants; all but closedform are baselines."),
    ] = "closedform",
    store: Annotated[
        Path | None, typer.Option(help="Keep results here, and resume from them.")
    ] = None,
    networks: Annotated[Path | None, typer.Option(help="Folder of trained networks.")] = None,
    page: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the speed page here (takes minutes).")
    ] = None,
    processor: Annotated[
        bool, typer.Option("--processor", help="Count processor seconds, not the clock.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run the benchmark.

    Exit code 0 if it finished without a false law, 1 if a law is false.

    \b
    Examples:
      closedform bench --systems kepler,sir --noise 1 --json
      closedform bench --suite random --seed 4711 --count 20 --processor
      closedform bench --suite verdict --systems networks --store runs
      closedform bench --suite speed --store runs --page docs/speed.md
    """
    if page is not None and (suite != "speed" or store is None):
        raise typer.BadParameter("--page is for --suite speed, and needs --store FOLDER.")
    from closedform.reading.one_field import compile_all
    from closedform.searching.budget import processor_seconds
    from closedform_bench.commands.formula_table import FormulaTable
    from closedform_bench.formulas.suite import BUDGET, FormulaPlan
    from closedform_bench.invariants.bench_task import run_tasks
    from closedform_bench.invariants.suites import Plan

    names, numbers = sort_words(systems or [], seeds or [], more or [])
    table: SuiteTable = InvariantTable(suite)
    if suite in ("feynman", "random", "forms", "surrogates"):
        plan = FormulaPlan(
            suite=suite,
            track="network" if track == "network" else "exact",
            noise=noise,
            systems=read_names(names),
            seed=seed,
            count=count,
            budget=BUDGET if budget is None else budget,
            half=half,
        )
        table = FormulaTable(plan)
    elif suite == "verdict":
        from closedform_bench.commands.verdict_table import VerdictTable
        from closedform_bench.verdicts.case import PARTS
        from closedform_bench.verdicts.suite import VerdictPlan

        plan = VerdictPlan(
            parts=read_names(names) or PARTS,  # type: ignore[arg-type]  # the plan checks them
            seed=seed,
            start=start,
            count=count,
            budget=10.0 if budget is None else budget,
        )
        table = VerdictTable(plan)
    else:
        plan = Plan(
            suite=suite,
            track="field" if track == "exact" else track,
            noise=noise,
            systems=read_names(names),
            seeds=read_seeds(numbers),
            budget=budget,
            networks=networks or network_cache("bench", 0).with_name("bench"),
            tool=tool,
        )
    tasks = plan.tasks()
    kept = None
    if store is not None:
        from closedform.sweeping.execution.store import ResultStore

        kept = ResultStore(store)
        kept.folder.check()
    compile_all()
    if not as_json:
        typer.echo(table.header())
    rows: list[Any] = []
    with processor_seconds() if processor else nullcontext():
        done: Iterator[Any] = run_tasks(tasks, kept)
        for task, row in zip(tasks, done, strict=True):
            rows.append(row)
            typer.echo(f"{len(rows)} of {len(tasks)} done: {task.label}", err=True)
            if not as_json:
                typer.echo(table.line(row))
    result = table.summary(rows)
    typer.echo(json.dumps(result) if as_json else table.last_line(result))
    if page is not None and store is not None:
        write_speed_page(store / "speed_page", page)
    raise typer.Exit(0 if result.get("false_laws", 0) == 0 else 1)


def write_speed_page(store: Path, page: Path) -> None:
    """Measure what the store does not hold yet, and write the page from it."""
    from closedform.basics.files import write_text
    from closedform_bench.speed.page import PARTS, write_page
    from closedform_bench.speed.part import Effort, run_parts

    run_parts(PARTS, Effort(), store, lambda line: typer.echo(line, err=True))
    write_text(page, write_page(store, page.parent))


class SuiteTable(Protocol):
    """How the rows of a suite are shown."""

    def header(self) -> str:
        """Titles of the columns."""
        ...

    def line(self, row: Any) -> str:
        """A row."""
        ...

    def summary(self, rows: list[Any]) -> dict[str, Any]:
        """What ``--json`` prints."""
        ...

    def last_line(self, result: dict[str, Any]) -> str:
        """The totals."""
        ...


@dataclass(frozen=True, slots=True)
class InvariantTable:
    """Systems with known invariants, and controls."""

    suite: str

    def header(self) -> str:
        """Titles of the columns."""
        return f"{'system':<{WIDEST_NAME}}  seed  inputs  recovered  false  seconds  laws"

    def line(self, row: "Row") -> str:
        """A row."""
        recovered = f"{row['recovered']} of {row['of']}"
        laws = "; ".join(row["found"]) or "-"
        text = (
            f"{row['name']:<{WIDEST_NAME}}  {row['seed']:>4}  {row['dim']:>6}  {recovered:>9}  "
            f"{row['false']:>5}"
        )
        return f"{text}  {row['seconds']:>7.2f}  {laws}"

    def summary(self, rows: "list[Row]") -> dict[str, Any]:
        """What ``--json`` prints."""
        from closedform_bench.invariants.outcome import summary

        return dict(summary(self.suite, rows))

    def last_line(self, result: dict[str, Any]) -> str:
        """The totals."""
        count = sum(row["recovered"] > 0 for row in result["systems"])
        with_some = sum(row["of"] > 0 for row in result["systems"])
        return (
            f"{result['recovered']} of {result['of']} invariants; at least one in {count} of "
            f"{with_some} systems; "
            f"{result['false_laws']} false laws"
        )


def read_names(words: list[str]) -> tuple[str, ...]:
    """Names, separated by commas or given one by one.

    Examples
    --------
    >>> read_names(["sir,kepler", "toda"])
    ('sir', 'kepler', 'toda')
    """
    return tuple(name.strip() for word in words for name in word.split(",") if name.strip())


def read_seeds(words: list[str]) -> tuple[int, ...]:
    """Seeds, as numbers or as ranges without their ends.

    Examples
    --------
    >>> read_seeds(["0:3"]), read_seeds(["4,7", "9"])
    ((0, 1, 2), (4, 7, 9))
    """
    found: list[int] = []
    for word in read_names(words):
        first, colon, last = word.partition(":")
        if not first.isdecimal() or (colon and not last.isdecimal()):
            raise typer.BadParameter(
                f"{word!r} is not a seed; write numbers, such as 0,1,2, or a range, such as 0:3."
            )
        found += range(int(first), int(last)) if colon else [int(first)]
    return tuple(found)


def sort_words(
    systems: list[str], seeds: list[str], more: list[str]
) -> tuple[list[str], list[str]]:
    """Give words that follow an option to it: numbers to the seeds if there are some, all others to
    the systems.

    Examples
    --------
    >>> sort_words(["sir"], ["0"], ["kepler", "1"])
    (['sir', 'kepler'], ['0', '1'])
    """
    if more and not systems and not seeds:
        raise typer.BadParameter(
            f"{more[0]!r} does not belong to an option; write --systems or --seeds before it."
        )
    numbers = [word for word in more if seeds and word[0].isdecimal()]
    return [*systems, *(word for word in more if word not in numbers)], [*seeds, *numbers]
