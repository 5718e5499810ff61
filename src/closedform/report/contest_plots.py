"""Pictures of a contest: the angle of each theory, and where one fails; and its page,
in the look of the report.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform._version import __version__
from closedform.arrays import FloatArray
from closedform.basics.files import write_text
from closedform.basics.optional import require
from closedform.errors import shown
from closedform.report.html import page_environment, style_sheet
from closedform.report.plots import BLACK, BLUE, GREEN, LIGHT, finish, literal, new_axes
from closedform.report.svg import cells_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CELLS = 12
"""Cells along each input, with about ten of the kept points in each."""


def plot_angles_of_theories(
    rows: Sequence[tuple[str, float, float, float, float]],
    winner: str | None,
    *,
    ax: "Axes | None" = None,
) -> "Axes":
    """A bar for each theory: name, median, its interval, and what 90% lie below."""
    ax = new_axes(ax, (3.4, 0.8 + 0.34 * len(rows)))
    places = -np.arange(len(rows), dtype=np.float64)
    for place, (name, median, low, high, upper) in zip(places, rows, strict=True):
        ax.barh(place, upper, height=0.6, color=LIGHT)
        ax.barh(place, median, height=0.6, color=GREEN if name == winner else BLUE)
        ax.plot([low, high], [place, place], color=BLACK, linewidth=1.0)
    ax.set_yticks(places, [literal(row[0]) for row in rows])
    finish(ax, "angle to the network, degrees: median with its interval, and 90%", "")
    ax.grid(False, axis="y")
    return ax


def plot_failing_region(
    name: str,
    inputs: Sequence[str],
    points: FloatArray,
    angles: FloatArray,
    bounds: Mapping[str, tuple[float, float]],
    *,
    ax: "Axes | None" = None,
) -> "Axes":
    """The median angle in cells of two inputs (of one: the angles), the worst region framed."""
    ax = new_axes(ax)
    edges = [cell_edges(column) for column in points.T]
    if len(edges) == 1:
        ax.plot(points[:, 0], angles, ".", markersize=2, color=BLUE)
        finish(ax, literal(inputs[0]), "angle, degrees")
        return ax
    table = cell_medians(points, angles, edges)
    drawn = ax.pcolormesh(edges[0], edges[1], table.T, cmap="viridis", vmin=0, shading="flat")
    (left, right), (low, high) = (
        np.clip(bounds.get(label, (-np.inf, np.inf)), own[0], own[-1])
        for label, own in zip(inputs, edges, strict=True)
    )
    ax.plot([left, right, right, left, left], [low, low, high, high, low], color="white", lw=1.4)
    bar = ax.figure.colorbar(drawn, ax=ax)
    bar.set_label("median angle, degrees", fontsize=7.5)
    bar.ax.tick_params(labelsize=7.5)
    finish(ax, literal(inputs[0]), literal(inputs[1]))
    ax.grid(False)
    ax.set_title(literal(name), fontsize=7.5)
    return ax


def cell_edges(values: FloatArray) -> FloatArray:
    """Quantiles, so that cells hold about as many points; those that coincide once."""
    return np.unique(np.quantile(values, np.linspace(0, 1, CELLS + 1)))


def cell_medians(points: FloatArray, angles: FloatArray, edges: Sequence[FloatArray]) -> FloatArray:
    """Median angles in cells, nan where there is no point.

    Examples
    --------
    >>> points = np.array([[0.1, 0.1], [0.9, 0.9], [0.8, 0.9]])
    >>> cell_medians(points, np.array([1.0, 2.0, 4.0]), [np.array([0, 0.5, 1])] * 2)
    array([[ 1., nan],
           [nan,  3.]])
    """
    shape = tuple(len(own) - 1 for own in edges)
    places = [
        np.clip(np.searchsorted(own, column, side="right") - 1, 0, count - 1)
        for own, column, count in zip(edges, points.T, shape, strict=True)
    ]
    flat = np.ravel_multi_index(tuple(places), shape)
    table = np.full(shape, np.nan)
    for cell in np.unique(flat):
        table.flat[cell] = np.median(angles[flat == cell])
    return table


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
