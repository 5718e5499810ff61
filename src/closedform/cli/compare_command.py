"""``closedform compare``: which neurons kept their formula between two networks."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from closedform.cli.shared_options import Builder, Trust
from closedform.shown import shown

if TYPE_CHECKING:
    from closedform.families.network_comparison import NetworkComparison, NeuronChange


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
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of points and searches.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
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
        typer.echo(_text(found))
    changed = sum(found.counts[name] for name in ("moved", "other", "appeared", "lost"))
    raise typer.Exit(1 if changed else 0)


def _text(found: "NetworkComparison") -> str:
    lines = [line for change in found.changes for line in _lines(change)]
    left = [f"only in one of the two: {', '.join(map(shown, found.unmatched))}"]
    return "\n".join(
        [*lines, str(found) or "No neuron is in both.", *(left if found.unmatched else [])]
    )


def _lines(change: "NeuronChange") -> list[str]:
    if change.status == "none":
        return []
    head = f"{shown(change.neuron):<20} {change.status:<9}"
    if change.status in ("kept", "moved"):
        shifts = [
            f"{shown(shift.term)} {shift.first:.5g} -> {shift.second:.5g} ({shift.errors:+.1f} SE)"
            for shift in change.shifts
        ]
        return [f"{head} {'; '.join(shifts) or shown(change.first)}"]
    return [f"{head} {shown(change.first) or '-'}  ->  {shown(change.second) or '-'}"]
