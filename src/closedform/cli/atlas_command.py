"""``closedform atlas add``, ``find`` and ``build``: what networks have learned, by formula."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from closedform.cli.shared_options import (
    AsJson,
    Builder,
    DataFile,
    FormulaCommand,
    InputNames,
    ModelFile,
    Processes,
    Scheduler,
    Smoothing,
    SweepSeed,
    TermEvaluations,
    Trust,
    UnitsOption,
    executor_of,
    read_units,
    split_names,
)
from closedform.errors import shown

StoreOption = Annotated[
    str, typer.Option(metavar="PATH", help="Where the atlas keeps its records; s3://.. works.")
]

atlas = typer.Typer(
    help="Look up what networks have learned, by formula.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@atlas.command()
def add(
    model: ModelFile,
    data: DataFile,
    store: StoreOption,
    name: Annotated[str, typer.Option(metavar="TEXT", help="What the network is called.")],
    version: Annotated[str, typer.Option(metavar="TEXT", help="Its version.")] = "",
    licence: Annotated[str, typer.Option(metavar="TEXT", help="Of its weights.")] = "",
    source: Annotated[str, typer.Option(metavar="TEXT", help="Where its weights are from.")] = "",
    layer: Annotated[
        list[str] | None, typer.Option(metavar="L", help="A layer; default: all with weights.")
    ] = None,
    scheduler: Scheduler = None,
    processes: Processes = None,
    terms: TermEvaluations = 1000,
    evaluations: Annotated[
        int, typer.Option(metavar="N", help="Of the other engines if terms fail.")
    ] = 20_000,
    max_points: Annotated[int, typer.Option(metavar="N", help="Largest number of points.")] = 2000,
    smoothing: Smoothing = 0.0,
    names: InputNames = None,
    units: UnitsOption = None,
    seed: SweepSeed = 0,
    no_untrained: Annotated[
        bool, typer.Option("--no-untrained", help="Do not read an untrained network beside it.")
    ] = False,
    builder: Builder = None,
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Read every neuron of a network into an atlas.

    What is there already is not read again. Exit code 0 if a neuron is verified that an untrained
    network of the same shape does not show, 1 if none is.

    \b
    Example:
      closedform atlas add net.onnx data.npz --store atlas --name pendulum --licence MIT
    """
    from closedform.networks.model_files import load_inputs, load_network
    from closedform.sweeping.atlas.census import Identity, add_network
    from closedform.sweeping.atlas.records import Atlas
    from closedform.sweeping.execution.coordinator import TerminalWatcher
    from closedform.sweeping.execution.store import ResultStore
    from closedform.sweeping.neuron_task import Effort

    executor = executor_of(scheduler, processes)
    stated = read_units(units)
    texts = {} if stated is None else {name: unit.text for name, unit in stated.inputs.items()}
    inputs, known = load_inputs(data)
    kept = ResultStore(store)
    census = add_network(
        load_network(model, builder=builder, trust=trust),
        inputs,
        store=kept,
        identity=Identity(name, version, licence, source, texts),
        layers=layer or None,
        names=split_names(names, known),
        executor=executor,
        effort=Effort(terms=terms, evaluations=evaluations),
        max_points=max_points,
        smoothing=smoothing,
        untrained=None if no_untrained else "auto",
        rng=seed,
        watcher=TerminalWatcher("atlas"),
    )
    own = [each for each in Atlas(kept).records() if each.card.id == census.card.id]
    counts = Counter(each.verdict for each in own)
    verdicts = dict(sorted(counts.items()))
    told = {"network": census.card.id, "neurons": len(own), "verdicts": verdicts}
    if as_json:
        typer.echo(json.dumps({**told, "store": store, "seconds": census.sweep.seconds}))
    else:
        listed = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
        neurons = _counted(len(own), "neurons")
        typer.echo(f"{shown(name)} ({census.card.id}): {neurons}, {listed}")
    raise typer.Exit(0 if counts["verified"] else 1)


@atlas.command(cls=FormulaCommand, context_settings={"ignore_unknown_options": True})
def find(
    formula: Annotated[str, typer.Argument(metavar="FORMULA", help="Such as 'v**2/2 + g*h'.")],
    store: StoreOption,
    count: Annotated[int, typer.Option(metavar="N", help="How many near ones to show.")] = 5,
    as_json: AsJson = False,
) -> None:
    """Find a formula: the same concept, the same up to constants, and the nearest ones.

    Any invertible function of the formula is the same concept, and inputs may have any names. Exit
    code 0 if there is a match, up to constants at least, 1 if there is none.

    \b
    Example:
      closedform atlas find "A*exp(-2*tau)" --store atlas
    """
    from closedform.sweeping.atlas.finding import find as search
    from closedform.sweeping.atlas.records import Atlas
    from closedform.sweeping.execution.store import ResultStore

    opened = Atlas(ResultStore(store), is_brief=True)
    index = opened.book.index()
    places: dict[str, list[Any]] = {}
    for record in opened.records():
        if record.concept:
            places.setdefault(record.concept, []).append(record)
    rows = []
    for match in search(index, formula, count=count + len(index) - len(places)):
        # Formulas of untrained networks are in the book, and not in the atlas.
        concept = index.concepts[match.number].id
        rows += [_row(match, concept, record) for record in places.get(concept, [])]
    kinds = {row["match"] for row in rows}
    near = [row for row in rows if row["match"] == "nearest"]
    rows = [row for row in rows if row["match"] != "nearest"] + near[:count]
    if as_json:
        typer.echo(json.dumps({"formula": formula, "matches": rows}))
    else:
        typer.echo(_text(rows))
    raise typer.Exit(0 if kinds & {"exact", "constants"} else 1)


@atlas.command()
def build(
    store: Annotated[str, typer.Argument(metavar="STORE", help="What `atlas add` wrote.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to write the site.")],
) -> None:
    """Write an atlas as pages that need no server.

    \b
    Example:
      closedform atlas build atlas --out site
    """
    from closedform.sweeping.atlas.site import build_site

    def told(kind: str, done: int, total: int) -> None:
        end = "\n" if done == total else ""
        typer.echo(f"\r{done} of {total} pages ({kind})    {end}", err=True, nl=False)

    pages = build_site(store, out, progress=told if sys.stderr.isatty() else None)
    counts = ", ".join(_counted(number, kind) for kind, number in pages.items())
    typer.echo(f"{shown(out / 'index.html')}: {counts}")


def _counted(number: int, plural: str) -> str:
    """'1 neuron' or '2 neurons'."""
    return f"{number} {plural.removesuffix('s') if number == 1 else plural}"


def _row(match: Any, concept: str, record: Any) -> dict[str, Any]:
    return {
        "match": match.kind,
        "degrees": match.degrees,
        "confirmed": match.is_confirmed,
        "concept": concept,
        "formula": record.content.get("concept"),
        "inputs": dict(match.inputs),
        "verdict": record.verdict,
        "network": record.card.name,
        "version": record.card.version,
        "neuron": record.neuron,
    }


def _text(rows: list[dict[str, Any]]) -> str:
    from closedform.interpretation.digits import few_digits

    if not rows:
        return "The atlas has no formula of so many inputs."
    head = f"{'match':<10} {'angle':>8}  {'verdict':<12} {'network':<24} {'neuron':<16} formula"
    lines = [head]
    for row in rows:
        angle = f"{row['degrees']:.2g}°"
        network = f"{row['network']} {row['version']}".strip()
        lines.append(
            f"{row['match']:<10} {angle:>8}  {row['verdict']:<12} {shown(network):<24} "
            f"{shown(row['neuron']):<16} {few_digits(shown(row['formula'] or ''))}"
        )
    return "\n".join(lines)
