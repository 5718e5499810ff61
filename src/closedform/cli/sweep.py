"""``closedform sweep`` and ``closedform results``: all neurons of a layer, and the table of what was found."""

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from closedform.cli.extract import MAX_POINTS as MOST_POINTS

if TYPE_CHECKING:
    import pandas

SHOWN = ["neuron", "verdict", "complexity", "misalignment", "concept"]
MOST_SHOWN = 20
MEGABYTE = 2**20


def sweep(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A .pt2 of torch.export, or weights with --builder.")],
    data: Annotated[Path, typer.Argument(metavar="DATA.npz", help="An array `inputs` (n, d), and optionally `names`.")],
    layer: Annotated[list[str], typer.Option(help="Path of a layer, such as encoder.2; repeat it for several.")],
    store: Annotated[str, typer.Option(help="Where results are kept: a path, or s3://bucket/run. Started if it is missing.")],
    neurons: Annotated[str | None, typer.Option(help="START:STOP, such as 0:4096, or units separated by ';'.")] = None,
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask scheduler, tcp://host:8786.")] = None,
    processes: Annotated[int | None, typer.Option(help="Local processes; by default neurons are read here.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a store that holds results.")] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Try again what failed before.")] = False,
    terms: Annotated[int, typer.Option(help="Evaluations of the term search, for every neuron.")] = 1000,
    evaluations: Annotated[int, typer.Option(help="Evaluations of both engines, where terms do not explain all.")] = 20_000,
    engine: Annotated[str, typer.Option(help="auto, terms, evolution, or an installed one.")] = "auto",
    seed: Annotated[int, typer.Option(help="Of points and searches; the same seed gives the same results.")] = 0,
    max_points: Annotated[int, typer.Option(help="How many points are taken.", max=MOST_POINTS)] = 2000,
    names: Annotated[str | None, typer.Option(help="The inputs, such as x,v; by default those in DATA.npz.")] = None,
    tangent: Annotated[str, typer.Option(help="auto, none, linear, local or constraints.")] = "auto",
    constraint: Annotated[list[str] | None, typer.Option(help="What is constant on the data. May repeat.")] = None,
    smoothing: Annotated[float, typer.Option(help="For rectified networks: radius as a share of the spread.")] = 0.0,
    time_limit: Annotated[float, typer.Option(help="Seconds after which a neuron is given up.")] = 1800.0,
    memory_limit: Annotated[int, typer.Option(help="Megabytes above which a neuron is given up.")] = 4096,
    attempts: Annotated[int, typer.Option(help="How often a neuron is tried.")] = 2,
    drop_fields: Annotated[bool, typer.Option("--drop-fields", help="Remove gradients that are not needed any more.")] = False,
    builder: Annotated[str | None, typer.Option(help="package.module:function that makes the network.")] = None,
    allow_pickle: Annotated[bool, typer.Option(help="Open a pickled model: runs whatever code is in it.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Read every neuron of a layer: exit code 0 if at least one is verified, 1 if none is.

    Example: closedform sweep net.pt2 data.npz --layer encoder.2 --store results --processes 8
    """
    from closedform.execution.task import Limits
    from closedform.execution.terminal import TerminalWatcher
    from closedform.networks.model_files import load_inputs, load_model
    from closedform.sweeping.effort import Effort
    from closedform.sweeping.selection import parse_range
    from closedform.sweeping.sweep import sweep as run

    if scheduler is not None and processes is not None:
        raise typer.BadParameter("Give --scheduler or --processes, not both.")
    inputs, known = load_inputs(data)
    found = run(
        load_model(model, builder=builder, allow_pickle=allow_pickle),
        inputs,
        layer,
        neurons=None if neurons is None else parse_range(neurons),
        executor=scheduler or processes,
        store=store,
        resume=resume,
        names=[name.strip() for name in names.split(",")] if names else known,
        tangent=tangent,
        constraints=constraint or (),
        max_points=max_points,
        smoothing=smoothing,
        effort=Effort(terms=terms, evaluations=evaluations, engine=engine),
        limits=Limits(seconds=time_limit, memory=memory_limit * MEGABYTE, attempts=attempts),
        retry_failed=retry_failed,
        keep_fields=not drop_fields,
        rng=seed,
        watcher=TerminalWatcher("sweep"),
    )
    table = found.table()
    verified = table.loc[table["verdict"] == "verified"]
    if as_json:
        typer.echo(json.dumps({**found.counts, "seconds": found.seconds, "in_store": _tally(table), "store": store}))
    else:
        typer.echo(_text(verified))
        typer.echo(f"{found}; in {store}: {', '.join(f'{count} {name}' for name, count in _tally(table).items())}", err=True)
    raise typer.Exit(0 if len(verified) else 1)


def results(
    store: Annotated[str, typer.Argument(metavar="STORE", help="What `closedform sweep --store` wrote.")],
    where: Annotated[str, typer.Option(help="Conditions that must all hold: 'verdict = verified, complexity < 10'.")] = "",
    out: Annotated[Path | None, typer.Option(help="Write the table, OUT.csv or OUT.parquet.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per row.")] = False,
) -> None:
    """Show what a sweep has found: exit code 0 if a row meets the conditions, 1 if none does.

    Example: closedform results results --where "verdict = verified, complexity < 10"
    """
    from closedform.execution.store import ResultStore
    from closedform.sweeping.result import sweep_table

    table = sweep_table(ResultStore(store), where)
    if out is not None:
        if out.suffix == ".parquet":
            table.to_parquet(out)
        else:
            table.to_csv(out, index=False)
    typer.echo((table.to_json(orient="records", lines=True) or "").strip() if as_json else _text(table))
    raise typer.Exit(0 if len(table) else 1)


def _text(table: "pandas.DataFrame") -> str:
    """The first rows, the simplest first."""
    if not len(table):
        return "No neuron."
    ordered = table.sort_values(["complexity", "neuron"], na_position="last")
    lines = [f"{'neuron':<20} {'verdict':<12} {'complexity':>10} {'misalignment':>13}  concept"]
    for neuron, verdict, complexity, misalignment, concept in ordered[SHOWN].head(MOST_SHOWN).itertuples(index=False):
        size = "" if complexity != complexity else f"{complexity:.0f}"
        angle = "" if misalignment != misalignment else f"{misalignment:.2e}"
        lines.append(f"{neuron:<20} {_word(verdict):<12} {size:>10} {angle:>13}  {_word(concept)}")
    left = len(table) - MOST_SHOWN
    return "\n".join([*lines, f"and {left} more"] if left > 0 else lines)


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""


def _tally(table: "pandas.DataFrame") -> dict[str, int]:
    verdicts = Counter(table["verdict"].dropna().tolist())
    return {**dict(sorted(verdicts.items())), "failed": table["status"].tolist().count("failed")}
