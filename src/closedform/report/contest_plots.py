"""Pictures of a contest: the angle of each theory, and where one fails; and its page,
in the look of the report.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform import __version__
from closedform.arrays import FloatArray
from closedform.basics.files import write_text
from closedform.basics.optional import require
from closedform.errors import shown
from closedform.report.html import page_environment, style_sheet
from closedform.report.plots import BLACK, BLUE, GREEN, LIGHT, finish, literal, new_axes, row_axes
from closedform.report.svg import cells_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CELLS = 12
"""Cells along each input, with about ten of the kept points in each."""


def plot_angles_of_theories(contest: Any, *, ax: "Axes | None" = None) -> "Axes":
    """A bar for each theory of a contest: median with its interval, and what 90% lie below."""
    title = "angle to the network, degrees: median with its interval, and 90%"
    ax, places = row_axes(ax, [one.name for one in contest.theories], title)
    for place, one in zip(places, contest.theories, strict=True):
        ax.barh(place, one.upper, height=0.6, color=LIGHT)
        colour = GREEN if one.name == contest.winner else BLUE
        ax.barh(place, one.median, height=0.6, color=colour)
        ax.plot([one.low, one.high], [place, place], color=BLACK, linewidth=1.0)
    return ax


def plot_failing_region(theory: Any, *, ax: "Axes | None" = None) -> "Axes":
    """The median angle in cells of two inputs (of one: the angles), the worst region framed."""
    ax, region = new_axes(ax), theory.where
    labels = [literal(name) for name in region.inputs]
    if len(labels) == 1:
        ax.plot(region.points[:, 0], region.angles, ".", markersize=2, color=BLUE)
        finish(ax, labels[0], "angle, degrees")
        return ax
    edges, table, ((left, right), (low, high)) = region_cells(region)
    drawn = ax.pcolormesh(*edges, table.T, cmap="viridis", vmin=0, shading="flat")
    ax.plot([left, right, right, left, left], [low, low, high, high, low], color="white", lw=1.4)
    bar = ax.figure.colorbar(drawn, ax=ax)
    bar.set_label("median angle, degrees", fontsize=7.5)
    bar.ax.tick_params(labelsize=7.5)
    finish(ax, *labels)
    ax.grid(False)
    ax.set_title(literal(theory.name), fontsize=7.5)
    return ax


def region_cells(region: Any) -> tuple[list[FloatArray], FloatArray, list[list[float]]]:
    """Edges of cells over two inputs, the median angle in each (nan where there is no point), and
    the ends of the region in which a theory fails.
    """
    from scipy.stats import binned_statistic_2d

    # Quantiles, so that cells hold about as many points; those that coincide once.
    shares = np.linspace(0, 1, CELLS + 1)
    # SciPy's types know numbers of bins only.
    edges: Any = [np.unique(np.quantile(column, shares)) for column in region.points.T]
    x, y = region.points.T
    table = binned_statistic_2d(x, y, region.angles, "median", bins=edges).statistic
    bounds = {name: ends for name, *ends in region.bounds}
    box = [
        np.clip(bounds.get(name, (-np.inf, np.inf)), own[0], own[-1]).tolist()
        for name, own in zip(region.inputs, edges, strict=True)
    ]
    return edges, table, box


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
    edges, table, box = region_cells(region)
    if min(map(len, edges)) < 3:
        return None
    return cells_svg(region.inputs, edges, table, box if region.stands_out else None)
