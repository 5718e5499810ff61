"""The page of a contest: one self-contained file, in the look of the report."""

from pathlib import Path
from typing import Any

import numpy as np

from closedform._version import __version__
from closedform.arrays import FloatArray
from closedform.basics.files import write_text
from closedform.basics.optional import require
from closedform.errors import shown
from closedform.report.contest_plots import cell_edges, cell_medians
from closedform.report.html import page_environment, style_sheet
from closedform.report.svg import cells_svg


def write_contest(contest: Any, path: str | Path) -> Path:
    """Write the page of a contest, which a higher room makes, to a file whose folder exists, and
    return where it is.
    """
    write_text(path, render_contest(contest))
    return Path(path)


def render_contest(contest: Any) -> str:
    """The page as text."""
    markup = require("markupsafe", extra="report").Markup
    pictures = [(one, markup(_picture(one) or "")) for one in contest.theories]
    return (
        page_environment()
        .get_template("contest.html.j2")
        .render(
            contest=contest,
            title=shown(contest.title or "Theories in contest"),
            pictures=pictures,
            widest=max(one.upper for one in contest.theories) or 1.0,
            style=style_sheet(),
            version=__version__,
        )
    )


def _picture(theory: Any) -> str | None:
    region = theory.where
    if len(region.inputs) != 2:
        return None
    edges = [cell_edges(column) for column in region.points.T]
    if min(map(len, edges)) < 3:
        return None
    table: FloatArray = cell_medians(region.points, region.angles, edges)
    known = {name: (low, high) for name, low, high in region.bounds}
    box = [known.get(name, (-np.inf, np.inf)) for name in region.inputs]
    return cells_svg(region.inputs, edges, table, box if region.stands_out else None)
