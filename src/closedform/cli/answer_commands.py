"""``closedform layers``, ``extract``, ``interpret``, ``verify`` and ``report``: from a network to
an answer and its page.
"""

import json
import shlex
import shutil
import sys
import textwrap
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from closedform.cli import STOPPED
from closedform.cli.shared_options import (
    FIELD,
    JSON,
    PAGE,
    AsJson,
    Budget,
    Builder,
    ConstantOption,
    Constraints,
    DataFile,
    EngineName,
    FieldFile,
    InputNames,
    ModelFile,
    PureNumbersOption,
    ReportPage,
    ResultFile,
    Seed,
    Smoothing,
    TangentKind,
    Trust,
    UnitsOption,
    check_outputs,
    deliver,
    existing_file,
    read_units,
    split_names,
)
from closedform.errors import shown
from closedform.networks.tolerances import MAX_POINTS

if TYPE_CHECKING:
    from closedform.interpretation.answer import Interpretation


def extract(
    model: ModelFile,
    data: DataFile,
    neuron: Annotated[
        list[str], typer.Option(metavar="L:I", help="Layer and index; repeat for several latents.")
    ],
    out: Annotated[Path, typer.Option(metavar="FIELD.npz", help="Where to write the field.")],
    builder: Builder = None,
    names: InputNames = None,
    tangent: TangentKind = "auto",
    constraint: Constraints = None,
    smoothing: Smoothing = 0.0,
    max_points: Annotated[
        int, typer.Option(metavar="N", help="Largest number of points to use.")
    ] = MAX_POINTS,
    units: UnitsOption = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed for choosing the points.")] = 0,
    trust: Trust = False,
) -> None:
    """Write the gradient field of a neuron of a network.

    \b
    Examples:
      closedform extract net.onnx data.npz --neuron encoder.2:0 --out field.npz
      closedform extract net.safetensors data.npz --builder nets:make \\
          --neuron latent:0 --neuron latent:1 --out both.npz
    `closedform layers MODEL` lists the layers.
    """
    from closedform.networks.extract import extract_field
    from closedform.networks.model_files import load_inputs, load_network

    check_outputs((out, FIELD), inputs=[model, data])
    inputs, known = load_inputs(data)
    field = extract_field(
        load_network(model, builder=builder, trust=trust),
        inputs,
        neuron if len(neuron) > 1 else neuron[0],
        names=split_names(names, known),
        tangent=tangent,
        constraints=constraint or (),
        max_points=max_points,
        smoothing=smoothing,
        rng=seed,
        units=read_units(units),
    )
    size = f"{field.n_points} points, {len(field.names)} inputs"
    typer.echo(f"{shown(out)}: {size}, rank {field.rank}, tangent {field.tangent.kind}")
    for sentence in [*field.notes, *(finding.message for finding in field.quality.findings)]:
        typer.echo(shown(sentence), err=True)
    deliver((field.save, out))


def layers(
    model: ModelFile,
    data: Annotated[
        Path | None,
        typer.Argument(metavar="DATA.npz", help="With `inputs` (n, d); shows exact shapes."),
    ] = None,
    builder: Builder = None,
    trust: Trust = False,
) -> None:
    """List the layers of a network, for `extract --neuron`.

    \b
    Examples:
      closedform layers net.onnx
      closedform layers net.safetensors data.npz --builder nets:make
    """
    from closedform.networks.model_files import load_inputs, load_network
    from closedform.networks.torch_layers import list_layers

    found = list_layers(
        load_network(model, builder=builder, trust=trust),
        None if data is None else load_inputs(data)[0],
    )
    rows = [("layer", "kind", "units", "weights")]
    for layer in found:
        weights = f"{layer.weights:,}" if layer.weights else ""
        rows.append((shown(layer.name), shown(layer.kind), layer.units, weights))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for place, (*texts, weights) in enumerate(rows):
        columns = [text.ljust(width) for text, width in zip(texts, widths, strict=True)]
        line = "  ".join([*columns, weights.rjust(10)]).rstrip()
        typer.echo(typer.style(line, bold=True) if place == 0 else line)
    example = next(
        (layer for layer in reversed(found) if layer.name and layer.units not in ("", "?")), None
    )
    if example is not None:
        neuron = shown(example.example)
        typer.echo(
            f"\nclosedform extract {shown(model)} DATA.npz --neuron {neuron} --out field.npz",
            err=True,
        )


def interpret(
    field: FieldFile,
    engine: EngineName = "auto",
    budget: Budget = 60.0,
    seed: Seed = 0,
    rule: Annotated[
        str, typer.Option(metavar="R", help="evidence, steepest_drop, accuracy, or a complexity.")
    ] = "evidence",
    hypothesis: Annotated[
        str | None, typer.Option(metavar="EXPR", help="A formula to compare with.")
    ] = None,
    units: UnitsOption = None,
    constant: ConstantOption = None,
    pure_numbers: PureNumbersOption = False,
    as_json: AsJson = False,
    report: ReportPage = None,
    out: ResultFile = None,
) -> None:
    """Search a field for its concept, and judge it.

    Exit code 0 if it is verified, 1 if it is ambiguous, approximate or none, 3 if a file could not
    be written. Ctrl-C ends the search: the best so far is judged and written (130).

    \b
    Examples:
      closedform interpret field.npz
      closedform interpret field.npz --budget 20 --report concept.html
      closedform interpret field.npz --hypothesis "x**2*v" --json
    """
    from closedform.field.field_file import load_field
    from closedform.reading.one_field import interpret_field

    check_outputs((out, JSON), (report, PAGE), inputs=[field])
    found = interpret_field(
        load_field(field),
        engine=engine,
        budget=budget,
        rng=seed,
        rule=_rule(rule),
        hypothesis=hypothesis,
        progress=False if as_json else None,
        title=field.stem,
        command=shlex.join(["closedform", *sys.argv[1:]]),
        units=read_units(units, constant, pure_numbers),
    )
    _tell(found, as_json, out, report)


def _tell(
    found: "Interpretation", as_json: bool, out: Path | None, report: Path | None
) -> NoReturn:
    """Print and write an answer; exit code 0 if it is verified, 1 if not, 130 if it was stopped."""
    typer.echo(json.dumps(summary(found)) if as_json else show(found))
    deliver((found.save, out), (found.report, report))
    if found.provenance.status == "interrupted":
        raise typer.Exit(STOPPED)
    raise typer.Exit(0 if found.verdict.status == "verified" else 1)


def _rule(text: str) -> str | int:
    """A rule's name, or a complexity; superscripts are digits to Python, and no numbers."""
    try:
        return int(text)
    except ValueError:
        return text


def summary(found: "Interpretation") -> dict[str, Any]:
    """The object that ``--json`` prints."""
    entry, provenance, alignment = found.entry, found.provenance, found.alignment
    misalignment = None if alignment is None else alignment.misalignment
    return {
        "concept": None if found.concept is None else str(found.concept),
        "concepts": [str(concept) for concept in found.concepts],
        "confidence": found.confidence,
        "verdict": found.verdict.status,
        "alternatives": [str(formula) for formula in found.alternatives],
        "reasons": list(found.verdict.reasons),
        "points": found.verdict.n_points,
        "misalignment": misalignment if found.together is None else found.together.outside,
        "interval": None if alignment is None else [alignment.low, alignment.high],
        "floor": found.floor,
        "complexity": None if entry is None else entry.complexity,
        "engine": provenance.engine,
        "seconds": provenance.seconds,
        "seed": provenance.seed,
        "names": list(found.names),
        "units": None if found.units is None else found.units.text,
        "front": [
            {
                "complexity": e.complexity,
                "misalignment": e.misalignment,
                "expression": str(e.expression),
            }
            for e in found.front
        ],
    }


def show(found: "Interpretation") -> str:
    """An answer for the terminal."""
    from closedform.interpretation.digits import formula_text
    from closedform.report.figures import LOOKS

    status = found.verdict.status
    lines: list[str] = []
    for place, line in enumerate(in_a_shell(str(found)).splitlines()):
        if line.startswith(f"{status}:"):
            word = typer.style(status, fg=LOOKS[status].terminal, bold=True)
            lines.append(word + _folded(line).removeprefix(status))
        else:
            is_formula = status != "none" and place < max(len(found.concepts), 1)
            lines.append(typer.style(line, bold=True) if is_formula else _folded(line))
    rows = ["", "complexity  misalignment  formula"]
    for place, entry in enumerate(found.front):
        formula = formula_text(entry.expression, entry.errors)
        row = f"{entry.complexity:>8}  {entry.misalignment:>12.2e}  {formula}"
        chosen = typer.style(f"> {row}", fg=LOOKS["verified"].terminal)
        rows.append(chosen if place == found.chosen else f"  {row}")
    # The table comes before the next step, which is to be read last.
    return "\n".join([*lines[:-1], *rows, "", lines[-1]])


def in_a_shell(text: str) -> str:
    """An answer's text with next steps for someone who has no object ``answer``."""
    from closedform.interpretation.answer_text import EVERYTHING, OUT_OF_TIME

    text = text.replace(OUT_OF_TIME, "The search ran out of time; raise --budget.")
    return text.replace(EVERYTHING, "--report page.html writes every check and the pictures.")


def _folded(sentence: str) -> str:
    """A sentence in lines that fit the terminal; whole, where it goes to a file or a pipe."""
    if not sys.stdout.isatty():
        return sentence
    indent = " " * (len(sentence) - len(sentence.lstrip()) + 2)
    width = shutil.get_terminal_size().columns
    return textwrap.fill(
        sentence, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def verify(
    field: FieldFile,
    formula: Annotated[
        str,
        typer.Argument(metavar="FORMULA", help="Such as 'v**2/2 + sin(x)', constants as given."),
    ],
    search: Annotated[bool, typer.Option(help="Look for other formulas that fit as well.")] = True,
    engine: EngineName = "auto",
    budget: Budget = 60.0,
    seed: Seed = 0,
    as_json: AsJson = False,
    report: ReportPage = None,
    out: ResultFile = None,
) -> None:
    """Judge your own formula on all points of a field.

    Exit code 0 if it is verified, 1 if it is not.

    \b
    Examples:
      closedform verify field.npz "v**2/2 + sin(x)"
      closedform verify field.npz "x**2 + v**2" --no-search --json
    """
    from closedform.field.field_file import load_field
    from closedform.judge.verify_stage import verify as judge

    check_outputs((out, JSON), (report, PAGE), inputs=[field])
    judged = partial(judge, formula, load_field(field), engine=engine, budget=budget, rng=seed)
    try:
        found = judged(rivals="auto" if search else None, progress=False if as_json else None)
    except KeyboardInterrupt:
        # The first interrupt ends the searching, and what is known without it is told.
        found = judged(rivals=None, progress=False)
        found = replace(found, provenance=replace(found.provenance, status="interrupted"))
    provenance = replace(
        found.provenance, title=field.stem, command=shlex.join(["closedform", *sys.argv[1:]])
    )
    found = replace(found, provenance=provenance)
    _tell(found, as_json, out, report)


def report(
    result: Annotated[Path, existing_file("R.json", "What `closedform interpret --out` wrote.")],
    out: Annotated[Path, typer.Option(metavar="OUT.html", help="Where to write the page.")],
) -> None:
    """Write the report of a saved interpretation.

    The report is one self-contained HTML page.

    \b
    Example:
      closedform report result.json --out result.html
    """
    from closedform.interpretation.answer import load_interpretation
    from closedform.report.html import write_report

    check_outputs((out, PAGE), inputs=[result])
    found = load_interpretation(result)
    deliver((partial(write_report, found), out))
    typer.echo(shown(out))
