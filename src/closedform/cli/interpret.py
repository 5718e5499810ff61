"""``closedform interpret``: from a saved field to a formula with a verdict."""

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from closedform.interpretation import Interpretation


def interpret(
    field: Annotated[
        Path, typer.Argument(metavar="FIELD.npz", exists=True, dir_okay=False, help="What `closedform extract` wrote.")
    ],
    engine: Annotated[str, typer.Option(help="auto, terms, evolution, or an installed one.")] = "auto",
    budget: Annotated[float, typer.Option(help="Seconds for everything, after compilation.")] = 60.0,
    seed: Annotated[int, typer.Option(help="The same seed gives the same answer where time does not decide.")] = 0,
    rule: Annotated[str, typer.Option(help="factor, steepest_drop, accuracy, or a complexity.")] = "factor",
    hypothesis: Annotated[str | None, typer.Option(help="A formula to compare the concept with.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    report: Annotated[Path | None, typer.Option(help="Write a page, OUT.html.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write everything, R.json.")] = None,
) -> None:
    """Search a field for its concept: exit code 0 if it is verified, 1 if it is approximate or none.

    Example: closedform interpret field.npz --budget 20 --report concept.html
    """
    from closedform.field.storage import load_field
    from closedform.live_progress import choose_progress
    from closedform.pipeline import interpret_field

    found = interpret_field(
        load_field(field),
        engine=engine,
        budget=budget,
        rng=seed,
        rule=int(rule) if rule.isdigit() else rule,
        hypothesis=hypothesis,
        progress=None if as_json else choose_progress(True),
        title=field.stem,
        command=shlex.join(["closedform", *sys.argv[1:]]),
    )
    if out is not None:
        found.save(out)
    if report is not None:
        found.report(report)
    typer.echo(json.dumps(summary(found)) if as_json else _text(found))
    raise typer.Exit(0 if found.verdict.status == "verified" else 1)


def summary(found: "Interpretation") -> dict[str, Any]:
    """The object that ``--json`` prints."""
    entry, provenance = found.entry, found.provenance
    return {
        "concept": None if found.concept is None else str(found.concept),
        "concepts": [str(concept) for concept in found.concepts],
        "verdict": found.verdict.status,
        "reasons": list(found.verdict.reasons),
        "misalignment": None if found.alignment is None else found.alignment.misalignment,
        "interval": None if found.alignment is None else [found.alignment.low, found.alignment.high],
        "floor": found.floor,
        "complexity": None if entry is None else entry.complexity,
        "engine": provenance.engine,
        "seconds": provenance.seconds,
        "seed": provenance.seed,
        "names": list(found.names),
        "front": [
            {"complexity": e.complexity, "misalignment": e.misalignment, "expression": str(e.expression)} for e in found.front
        ],
    }


def _text(found: "Interpretation") -> str:
    lines = [*map(str, found.concepts or ("" if found.concept is None else found.concept,)), str(found.verdict)]
    lines += [f"  {reason}" for reason in found.verdict.reasons]
    lines += ["", "complexity  misalignment  formula"]
    for place, entry in enumerate(found.front):
        mark = ">" if place == found.chosen else " "
        lines.append(f"{mark} {entry.complexity:>8}  {entry.misalignment:>12.2e}  {entry.expression}")
    return "\n".join(lines)
