"""``closedform sweep``, ``results`` and ``compare``: many neurons, and two networks."""

import json
from collections import Counter
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from closedform.basics.files import replacing
from closedform.cli.shared_options import (
    TABLE,
    AsJson,
    Builder,
    Constraints,
    DataFile,
    EngineName,
    InputNames,
    ModelFile,
    Processes,
    Scheduler,
    Smoothing,
    SweepSeed,
    TangentKind,
    TermEvaluations,
    Trust,
    check_outputs,
    deliver,
    executor_of,
    split_names,
)
from closedform.errors import shown
from closedform.networks.tolerances import MAX_POINTS

if TYPE_CHECKING:
    import pandas


def sweep(
    model: ModelFile,
    data: DataFile,
    layer: Annotated[list[str], typer.Option(metavar="L", help="Path of a layer; may repeat.")],
    store: Annotated[
        str, typer.Option(metavar="PATH", help="Where to keep results; s3://.. works.")
    ],
    neurons: Annotated[
        str | None, typer.Option(metavar="0:4096", help="Which units; default: all.")
    ] = None,
    scheduler: Scheduler = None,
    processes: Processes = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue with a store that has results.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Try failed neurons again.")
    ] = False,
    terms: TermEvaluations = 1000,
    evaluations: Annotated[
        int, typer.Option(metavar="N", help="Of --engine if terms fail.")
    ] = 20_000,
    engine: EngineName = "auto",
    seed: SweepSeed = 0,
    max_points: Annotated[
        int, typer.Option(metavar="N", help="Largest number of points.", max=MAX_POINTS)
    ] = 2000,
    names: InputNames = None,
    tangent: TangentKind = "auto",
    constraint: Constraints = None,
    smoothing: Smoothing = 0.0,
    time_limit: Annotated[
        float, typer.Option(metavar="S", help="Seconds per neuron, in other processes.")
    ] = 1800.0,
    memory_limit: Annotated[
        int, typer.Option(metavar="MB", help="Memory per neuron, in other processes.")
    ] = 4096,
    attempts: Annotated[int, typer.Option(metavar="N", help="How often a neuron is tried.")] = 2,
    patience: Annotated[
        float, typer.Option(metavar="S", help="Seconds without any workers.")
    ] = 600.0,
    drop_fields: Annotated[
        bool, typer.Option("--drop-fields", help="Delete gradients when done.")
    ] = False,
    builder: Builder = None,
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Read all neurons of a layer.

    Exit code 0 if a neuron in the store is verified, 1 if none is.

    \b
    Example:
      closedform sweep net.onnx data.npz --layer encoder.2 --store results
    """
    from closedform.networks.model_files import load_inputs, load_network
    from closedform.sweeping.execution.coordinator import TerminalWatcher
    from closedform.sweeping.execution.task import Limits
    from closedform.sweeping.neuron_task import Effort
    from closedform.sweeping.sweep import parse_range
    from closedform.sweeping.sweep import sweep as run

    executor = executor_of(scheduler, processes)
    inputs, known = load_inputs(data)
    found = run(
        load_network(model, builder=builder, trust=trust),
        inputs,
        layer,
        neurons=None if neurons is None else parse_range(neurons),
        executor=executor,
        store=store,
        resume=resume,
        names=split_names(names, known),
        tangent=tangent,
        constraints=constraint or (),
        max_points=max_points,
        smoothing=smoothing,
        effort=Effort(terms=terms, evaluations=evaluations, engine=engine),
        limits=Limits(
            seconds=time_limit, memory=memory_limit * 2**20, attempts=attempts, patience=patience
        ),
        retry_failed=retry_failed,
        keep_fields=not drop_fields,
        rng=seed,
        watcher=TerminalWatcher("sweep"),
    )
    table = found.table()
    verified = table.loc[table["verdict"] == "verified"]
    verdicts = sorted(Counter(table["verdict"].dropna().tolist()).items())
    tally = {**dict(verdicts), "failed": table["status"].tolist().count("failed")}
    if as_json:
        told = {"seconds": found.seconds, "in_store": tally, "store": store}
        typer.echo(json.dumps({**found.counts, **told}))
    else:
        # A sweep that found nothing still shows what it looked at.
        typer.echo(_text(verified if len(verified) else table))
        counts = ", ".join(f"{count} {shown(name)}" for name, count in tally.items())
        typer.echo(f"{found}; in {shown(store)}: {counts}", err=True)
    raise typer.Exit(0 if len(verified) else 1)


def results(
    store: Annotated[str, typer.Argument(metavar="STORE", help="What `closedform sweep` wrote.")],
    where: Annotated[
        str, typer.Option(metavar="CONDITION", help="As pandas.DataFrame.query takes it.")
    ] = "",
    out: Annotated[Path | None, typer.Option(metavar="OUT", help="Write .csv or .parquet.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per row.")] = False,
) -> None:
    """Show what a sweep has found.

    Exit code 1 if nothing meets the condition.

    \b
    Example:
      closedform results STORE --where "verdict == 'verified' and complexity < 10"
    """
    from closedform.sweeping.execution.store import ResultStore
    from closedform.sweeping.sweep_result import sweep_table

    check_outputs((out, TABLE))
    table = sweep_table(ResultStore(store), where)
    typer.echo(
        (table.to_json(orient="records", lines=True) or "").strip() if as_json else _text(table)
    )
    deliver((partial(write_table, table), out))
    raise typer.Exit(0 if len(table) else 1)


def write_table(table: "pandas.DataFrame", path: Path) -> None:
    """Write a table as CSV, or as Parquet if the name says so; the old file stays if that fails."""
    with replacing(path) as file:
        if path.suffix.lower() == ".parquet":
            table.to_parquet(file)
        else:
            file.write(table.map(_cell).rename(columns=_cell).to_csv(index=False).encode())


def _cell(value: Any) -> Any:
    """Text that a spreadsheet would take for a formula or a command gets a space in front, which
    `closedform.parse` ignores; numbers stay.
    """
    starts = isinstance(value, str) and (value[:1] in "=+-@" or not value[:1].isprintable())
    return f" {value}" if value and starts else value


def _text(table: "pandas.DataFrame") -> str:
    """The first rows, the simplest first."""
    from closedform.interpretation.digits import few_digits
    from closedform.sweeping.sweep_result import MOST_SHOWN, simplest

    if not len(table):
        return "No neurons to show."
    lines = [f"{'neuron':<20} {'verdict':<12} {'complexity':>10} {'misalignment':>13}  concept"]
    for neuron, verdict, complexity, misalignment, concept in simplest(table).itertuples(
        index=False
    ):
        size = "" if complexity != complexity else f"{complexity:.0f}"
        angle = "" if misalignment != misalignment else f"{misalignment:.2e}"
        lines.append(
            f"{shown(neuron):<20} {_word(verdict):<12} {size:>10} {angle:>13}  "
            f"{few_digits(_word(concept))}"
        )
    left = len(table) - MOST_SHOWN
    return "\n".join([*lines, f"and {left} more"] if left > 0 else lines)


def _word(value: object) -> str:
    return shown(value) if isinstance(value, str) else ""


def compare(
    first: Annotated[str, typer.Argument(metavar="A", help="A sweep's store, or a network.")],
    second: Annotated[str, typer.Argument(metavar="B", help="The other one.")],
    data: Annotated[
        Path | None, typer.Argument(metavar="DATA.npz", help="For networks: their inputs.")
    ] = None,
    layer: Annotated[
        list[str] | None, typer.Option(metavar="L", help="For networks: which layer.")
    ] = None,
    moved: Annotated[
        float, typer.Option(metavar="N", help="Shift that counts, in standard errors.")
    ] = 3.0,
    builder: Builder = None,
    trust: Trust = False,
    seed: SweepSeed = 0,
    as_json: AsJson = False,
) -> None:
    """Compare what the neurons of two networks encode.

    Exit code 0 if every neuron in both kept its formula and constants, 1 if one changed.

    \b
    Examples:
      closedform compare before after
      closedform compare old.onnx new.onnx data.npz --layer encoder.2
    """
    from closedform.sweeping.compare import compare as run

    if (data is None) != (not layer):
        raise typer.BadParameter("Two networks need DATA.npz and --layer; two stores need neither.")
    if data is None:
        found = run(first, second, moved=moved)
    else:
        from closedform.networks.model_files import load_inputs, load_network

        inputs, names = load_inputs(data)
        one, other = (
            load_network(Path(path), builder=builder, trust=trust) for path in (first, second)
        )
        found = run(one, other, inputs, layer, moved=moved, names=names, rng=seed)
    if as_json:
        changes = [asdict(change) for change in found.changes]
        told = {"counts": found.counts, "changes": changes, "unmatched": found.unmatched}
        typer.echo(json.dumps(told))
    else:
        typer.echo(str(found))
    changed = sum(found.counts[name] for name in ("moved", "other", "appeared", "lost"))
    raise typer.Exit(1 if changed else 0)
