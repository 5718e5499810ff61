"""Write outcomes into a directory: tables, the paper's figures, and a report for each
experiment.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from closedform.arrays import FloatArray
from closedform.basics.files import write_text
from closedform_bench.paper.answer_scoring import expected
from closedform_bench.paper.experiment_catalogue import EXPERIMENTS
from closedform_bench.paper.reproduction import ExperimentOutcome, summary
from closedform_bench.paper.sheets import Panel, plot_correlation, write_sheet


def write_results(outcomes: Sequence[ExperimentOutcome], directory: Path) -> None:
    """Write ``results.json``, ``.csv`` and ``.md``, ``figures/*.png`` and ``reports/*.html``.

    Parameters
    ----------
    outcomes : sequence of ExperimentOutcome
    directory : Path
        Made if it is not there; files of the same names are replaced.
    """
    figures, reports = directory / "figures", directory / "reports"
    for folder in (figures, reports):
        folder.mkdir(parents=True, exist_ok=True)
    result = summary(outcomes)
    write_text(directory / "results.json", json.dumps(result, indent=1) + "\n")
    table = pd.json_normalize(result["experiments"], sep="_")
    write_text(directory / "results.csv", table.to_csv(index=False))
    write_text(directory / "results.md", markdown(outcomes))
    read = [outcome for outcome in outcomes if outcome.reading is not None]
    for outcome in read:
        _write_reading(outcome, figures, reports)
    if read:
        write_sheet([_correlation(outcome) for outcome in read], figures / "correlation.png")
    fronts = [panel for outcome in read if (panel := _front(outcome)) is not None]
    if fronts:
        write_sheet(fronts, figures / "pareto.png")
    overlays = [panel for outcome in read if (panel := _overlay(outcome)) is not None]
    if overlays:
        write_sheet(overlays, figures / "direct.png")


def markdown(outcomes: Sequence[ExperimentOutcome]) -> str:
    """The table as Markdown, with formulas as code."""
    titles = [
        "",
        "expected",
        "found",
        "equivalence",
        "verdict",
        "misalignment",
        "search (s)",
        "training (s)",
    ]
    has_direct = any(outcome.direct is not None for outcome in outcomes)
    titles += ["direct regression"] if has_direct else []
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    lines += ["| " + " | ".join(_cells(outcome, has_direct)) + " |" for outcome in outcomes]
    result = summary(outcomes)
    said = f"Recovered {result['recovered']} of {result['of']}"
    if result["direct_recovered"] is not None:
        said += f", by direct regression {result['direct_recovered']}"
    return "\n".join([*lines, "", said + "."]) + "\n"


def _cells(outcome: ExperimentOutcome, has_direct: bool) -> list[str]:
    row = outcome.row()
    cells = [str(row["number"])] + [
        "-" if row[key] is None else f"`{row[key]}`" for key in ("expected", "found")
    ]
    cells += [row["equivalence"], row["verdict"]]
    for key, form in (("misalignment", ".1e"), ("search_seconds", ".1f"), ("train_seconds", ".0f")):
        cells.append("-" if row[key] is None else format(row[key], form))
    return (
        [*cells, "-" if outcome.direct is None else outcome.direct.score.status]
        if has_direct
        else cells
    )


def _write_reading(outcome: ExperimentOutcome, figures: Path, reports: Path) -> None:
    assert outcome.reading is not None
    found, name = outcome.reading.interpretation, f"experiment_{outcome.number:02d}"
    found.report(reports / f"{name}.html")
    write_sheet([_correlation(outcome)], figures / f"{name}_correlation.png")
    for kind, panel in (("pareto", _front(outcome)), ("direct", _overlay(outcome))):
        if panel is not None:
            write_sheet([panel], figures / f"{name}_{kind}.png")


def _correlation(outcome: ExperimentOutcome) -> Panel:
    concept, latent = _values(outcome)
    return _title(outcome), lambda ax: plot_correlation(concept, latent, ax=ax)


def _front(outcome: ExperimentOutcome) -> Panel | None:
    if outcome.reading is None or not outcome.reading.interpretation.front:
        return None
    return _title(outcome), outcome.reading.interpretation.plot_front


def _overlay(outcome: ExperimentOutcome) -> Panel | None:
    if outcome.reading is None or outcome.direct is None or outcome.direct.fit is None:
        return None
    concept, latent = _values(outcome)
    prediction = outcome.direct.fit(outcome.reading.field.points)
    return _title(outcome), lambda ax: plot_correlation(concept, latent, other=prediction, ax=ax)


def _values(outcome: ExperimentOutcome) -> tuple[FloatArray, FloatArray]:
    """The true concept and the latent at all points."""
    assert outcome.reading is not None
    field = outcome.reading.field
    assert field.latents is not None
    return expected(outcome.number)(field.points), field.latents[:, 0]


def _title(outcome: ExperimentOutcome) -> str:
    return f"{outcome.number}: {EXPERIMENTS[outcome.number].name}"
