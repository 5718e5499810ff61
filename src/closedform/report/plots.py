"""Pictures for notebooks and papers: Axes in, Axes out.

Every function draws on the given Axes, or on those of a new figure as wide as a column of a two-column paper, and changes no
global setting. Colours are those of Okabe and Ito, which the colour-blind can tell apart, and none carries its meaning alone.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from closedform.optional import require
from closedform.report.errors import ReportError
from closedform.report.figure_data import CandidateView, Coefficient, DirectionField, ReportData
from closedform.report.figure_numbers import SMALLEST, LogAxis, angle_histogram, arrows, scatter, short_number
from closedform.shown import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE, GREEN, GREY, LIGHT, BLACK = "#0072B2", "#E69F00", "#009E73", "#8C96A0", "#C3CAD1", "#1D2125"
COLUMN = (3.4, 2.5)
"""Inches: a column of a two-column paper."""

_MOST_LABELS = 20
_SMALL = 7.5
_TINY = 6.5


def plot_front(data: ReportData, *, ax: "Axes | None" = None) -> "Axes":
    """Misalignment of each candidate as a bar, by complexity, with the choice marked.

    Parameters
    ----------
    data : ReportData
    ax : Axes, optional

    Raises
    ------
    ReportError
        If there is no candidate.
    """
    if not data.candidates:
        raise ReportError("There is no candidate to draw; the search found nothing.")
    ax = new_axes(ax)
    values = [max(candidate.misalignment, SMALLEST) for candidate in data.candidates]
    axis = LogAxis.around([*values, *([] if data.floor is None else [data.floor])])
    bottom = 10.0**axis.low
    colours = [GREEN if index == data.chosen else LIGHT for index in range(len(values))]
    places = np.arange(len(values))
    ax.bar(places, np.asarray(values) - bottom, bottom=bottom, width=0.82, color=colours, edgecolor=GREY, linewidth=0.4)
    for place, candidate in zip(places, data.candidates, strict=True):
        if candidate.interval is not None:
            ends = [max(end, SMALLEST) for end in candidate.interval]
            ax.plot([place, place], ends, color=BLACK, linewidth=0.8, solid_capstyle="butt")
    ax.set_yscale("log")
    ax.minorticks_off()
    ax.set_ylim(bottom, 10.0 ** (axis.high + 0.4))  # room for a mark above the highest bar
    if data.floor is not None:
        ax.axhline(max(data.floor, SMALLEST), color=BLACK, linewidth=0.7, linestyle=(0, (4, 3)), label="floor")
    if data.steepest_drop is not None and data.steepest_drop != data.chosen:
        is_near = data.chosen is not None and abs(data.steepest_drop - data.chosen) <= 2
        _mark(ax, data, data.steepest_drop, "steepest drop", BLACK, height=32 if is_near else 17)
    if data.chosen is not None:
        _mark(ax, data, data.chosen, "chosen", GREEN)
    step = 1 + len(values) // _MOST_LABELS
    ax.set_xticks(places[::step], [str(candidate.complexity) for candidate in data.candidates[::step]])
    ax.set_xlim(-0.6, len(values) - 0.4)
    ax.tick_params(axis="x", length=0)
    finish(ax, "complexity", "misalignment")
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, fontsize=_TINY, loc="upper right", borderpad=0.1, handlelength=1.6)
    return ax


def plot_phi(candidate: CandidateView, *, ax: "Axes | None" = None) -> "Axes":
    """The network's latent against a candidate at held-out points, with the fitted phi.

    Raises
    ------
    ReportError
        If the candidate has no values.
    """
    data = scatter(candidate, limit=1500)
    if data is None:
        raise ReportError("The candidate has no finite values to draw; interpret a field that holds the latent's values.")
    ax = new_axes(ax)
    ax.scatter(data.x, data.y, s=7, color=BLUE, alpha=0.35, linewidths=0, label="held-out points", rasterized=len(data.x) > 500)
    if data.phi is not None:
        ax.plot(data.phi.x, data.phi.y, color=BLACK, linewidth=1.1, label=r"fitted $\phi$")
    ax.set_xlim(*data.x_range)
    ax.set_ylim(*data.y_range)
    finish(ax, "concept $g$", "latent $f$")
    ax.legend(frameon=False, fontsize=_TINY, loc="best", handletextpad=0.4, borderpad=0.1)
    return ax


def plot_angles(candidate: CandidateView, *, ax: "Axes | None" = None) -> "Axes":
    """Histogram of the angles between a candidate's gradient and the network's at held-out points.

    Raises
    ------
    ReportError
        If the candidate has no angles.
    """
    data = None if candidate.angles is None else angle_histogram(candidate.angles)
    if data is None:
        raise ReportError("The candidate has no angles to draw; pass those at held-out points.")
    ax = new_axes(ax)
    ax.bar(data.edges[:-1], 100 * data.shares, width=np.diff(data.edges) * 0.92, align="edge", color=BLUE, alpha=0.8)
    ax.axvline(data.median, color=BLACK, linewidth=0.9, linestyle=(0, (4, 3)), label=f"median {short_number(data.median)}°")
    ax.axvline(data.upper, color=BLACK, linewidth=0.9, linestyle=":", label=f"95% below {short_number(data.upper)}°")
    ax.set_xlim(0, data.edges[-1])
    ax.set_ylim(0, 125 * float(data.shares.max()))  # room for the legend
    finish(ax, "angle to the network's gradient (degrees)", "share of points (%)")
    ax.legend(
        edgecolor="none", facecolor=ax.get_facecolor(), framealpha=0.9, fontsize=_TINY, loc="upper right", handlelength=1.8
    )
    return ax


def plot_directions(directions: DirectionField, *, ax: "Axes | None" = None) -> "Axes":
    """The network's directions under the concept's, for two inputs.

    Raises
    ------
    ReportError
        If no point has both directions.
    """
    data = arrows(directions, limit=200)
    if data is None:
        raise ReportError("No point has a direction of both network and concept; there is nothing to draw.")
    ax = new_axes(ax, (3.4, 3.1))
    x, y = data.points.T
    for vectors, colour, width, label in ((data.network, LIGHT, 0.013, "network"), (data.concept, BLUE, 0.0045, "concept")):
        # `angles="xy"` turns each stroke as it appears on axes of different scales; without heads, signs do not matter.
        ax.quiver(
            x, y, *vectors.T, angles="xy", pivot="mid", headwidth=0, headlength=0, headaxislength=0,
            width=width, scale=19, color=colour, label=label,
        )  # fmt: skip
    ax.margins(0.08)
    finish(ax, *(_literal(name) for name in directions.names))
    ax.legend(frameon=False, fontsize=_TINY, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, borderpad=0.1)
    return ax


def plot_coefficients(coefficients: Sequence[Coefficient], *, ax: "Axes | None" = None) -> "Axes":
    """Fitted numbers with their intervals, the first on top.

    Raises
    ------
    ReportError
        If there are none.
    """
    if not coefficients:
        raise ReportError("There are no coefficients to draw; the formula has no fitted number.")
    ax = new_axes(ax, (3.4, 0.7 + 0.28 * len(coefficients)))
    places = -np.arange(len(coefficients))
    values = np.array([coefficient.value for coefficient in coefficients])
    ends = np.array([(coefficient.low, coefficient.high) for coefficient in coefficients])
    ax.axvline(0.0, color=GREY, linewidth=0.7, linestyle=(0, (4, 3)))
    ax.hlines(places, ends[:, 0], ends[:, 1], color=BLUE, linewidth=2.2, alpha=0.55)
    ax.plot(values, places, "o", color=BLUE, markersize=4.5)
    ax.set_yticks(places, [_literal(str(coefficient.term)) for coefficient in coefficients])
    ax.set_ylim(places[-1] - 0.6, 0.6)
    finish(ax, "coefficient", "")
    ax.grid(False, axis="y")
    ax.tick_params(axis="y", length=0)
    return ax


def new_axes(ax: "Axes | None", size: tuple[float, float] = COLUMN) -> "Axes":
    """The given Axes, or those of a new figure."""
    if ax is not None:
        return ax
    return require("matplotlib.pyplot", extra="report").subplots(figsize=size, layout="constrained")[1]


def finish(ax: "Axes", x_title: str, y_title: str) -> None:
    """Titles and the look that all pictures share."""
    ax.set_xlabel(x_title, fontsize=_SMALL)
    ax.set_ylabel(y_title, fontsize=_SMALL)
    ax.tick_params(labelsize=_SMALL, color=GREY, width=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set(color=GREY, linewidth=0.6)
    ax.grid(True, axis="y", color=LIGHT, linewidth=0.5, alpha=0.6)
    ax.set_axisbelow(True)


def _mark(ax: "Axes", data: ReportData, index: int, text: str, colour: str, *, height: float = 17) -> None:
    candidate = data.candidates[index]
    top = max(candidate.misalignment, *(candidate.interval or (0.0,)), SMALLEST)
    style = {"arrowstyle": "-|>", "color": colour, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 1}
    where = {"xytext": (0, height), "textcoords": "offset points", "ha": "center", "fontsize": _SMALL}
    ax.annotate(text, (index, top), color=colour, weight="bold", arrowprops=style, **where)


def _literal(text: str) -> str:
    """Text in which a dollar sign is no mathematics, and nothing is invisible."""
    return shown(text).replace("$", r"\$")
