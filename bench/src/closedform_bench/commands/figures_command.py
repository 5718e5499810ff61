"""``closedform figures``: measure what the docs state, and write it into their tables."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from closedform.errors import shown

if TYPE_CHECKING:
    from closedform_bench.figures.measurement_store import MeasurementStore


def figures(
    action: Annotated[
        Literal["list", "run", "write"],
        typer.Argument(help="List what there is, measure it, or write the tables."),
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Tables, or parts to run; default: all."),
    ] = None,
    store: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where measurements are kept.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of what is run.")] = 0,
    processor: Annotated[
        bool, typer.Option("--processor", help="Count processor seconds, not the clock.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Also repeat parts measured with other code versions.")
    ] = False,
    docs: Annotated[Path, typer.Option(metavar="DIR", help="The pages to write.")] = Path("docs"),
    partial: Annotated[
        bool, typer.Option("--partial", help="Also write tables that lack some parts.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit code 1 if a page would change.")
    ] = False,
) -> None:
    """Measure the figures of the docs, and write their tables.

    An interrupted run resumes. Exit code 0 if it finished, 1 if a part failed or --check found a
    page that would change.

    \b
    Examples:
      closedform figures list --store bench/measurements
      closedform figures run random --store bench/measurements --seed 4711
      closedform figures write --store bench/measurements
    """
    from closedform_bench.figures.measurement_store import MeasurementStore

    if store is None and action != "list":
        raise typer.BadParameter(f"`figures {action}` needs --store, where measurements are kept.")
    kept = None if store is None else MeasurementStore(store)
    if kept is None or action == "list":
        _list(kept)
    elif action == "run":
        _run(kept, names or [], seed=seed, processor=processor, again=again)
    else:
        _write(kept, names or [], docs, partial=partial, check=check)


def _list(store: "MeasurementStore | None") -> None:
    from closedform_bench.figures.figure_catalogue import FIGURE_PARTS, FIGURE_TABLES

    widest = max(map(len, FIGURE_PARTS))
    typer.echo(f"{'part':<{widest}}  {'page':<18}  minutes  stored")
    for name, part in FIGURE_PARTS.items():
        pages = dict.fromkeys(table.page for table in FIGURE_TABLES.values() if name in table.parts)
        found = [] if store is None else store.all_of(name)
        seeds = [f"seed {one.seed} ({one.code or 'no commit'}, {one.date[:10]})" for one in found]
        said = ", ".join(seeds) or "-"
        typer.echo(f"{name:<{widest}}  {next(iter(pages)):<18}  {part.minutes:>7g}  {said}")
    minutes = sum(part.minutes for part in FIGURE_PARTS.values())
    typer.echo(f"{len(FIGURE_PARTS)} parts, about {minutes / 60:.0f} hours of one processor")


def _run(
    store: "MeasurementStore", names: list[str], *, seed: int, processor: bool, again: bool
) -> None:
    from closedform.basics.files import check_folder
    from closedform_bench.figures.figure_catalogue import FIGURE_PARTS, FIGURE_TABLES
    from closedform_bench.figures.runner import run_parts

    chosen: dict[str, None] = {}
    for name in names or FIGURE_PARTS:
        _check_name(name, [*FIGURE_TABLES, *FIGURE_PARTS])
        own = FIGURE_TABLES[name].parts if name in FIGURE_TABLES else (name,)
        chosen |= dict.fromkeys(own)
    check_folder(store.path)
    failed = run_parts(
        [FIGURE_PARTS[name] for name in chosen],
        store,
        seed=seed,
        processor=processor,
        again=again,
        say=lambda line: typer.echo(line, err=True),
    )
    typer.echo(f"{len(chosen) - len(failed)} of {len(chosen)} parts are stored in {store.path}")
    if failed:
        typer.echo(f"failed: {', '.join(failed)}")
        raise typer.Exit(1)


def _write(
    store: "MeasurementStore", names: list[str], docs: Path, *, partial: bool, check: bool
) -> None:
    from closedform_bench.figures.figure_catalogue import FIGURE_PARTS, FIGURE_TABLES
    from closedform_bench.figures.marked_pages import make_pages

    for name in names:
        _check_name(name, [*FIGURE_TABLES])
    tables = [FIGURE_TABLES[name] for name in names or FIGURE_TABLES]
    pages = make_pages(tables, FIGURE_PARTS, store, docs, partial=partial)
    for remark in pages.remarks:
        typer.echo(remark, err=True)
    if not check:
        pages.write()
    for page in pages.changed:
        typer.echo(f"{shown(page)} {'would change' if check else 'written'}")
    if not pages.changed:
        typer.echo(f"No page changes; tables from measurements: {len(pages.written)}.")
    raise typer.Exit(1 if check and pages.changed else 0)


def _check_name(name: str, known: list[str]) -> None:
    from closedform.basics.keywords import suggestion

    if name not in known:
        hint = suggestion(name, known) or "."
        raise typer.BadParameter(
            f"There is no {name!r}{hint} `closedform figures list` shows what there is."
        )
