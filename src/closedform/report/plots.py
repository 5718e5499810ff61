"""Pictures for notebooks and papers: Axes in, Axes out.

Every function draws on the given Axes, or on those of a new figure as wide as a column of a
two-column paper, and changes no global setting. Where there is nothing to draw, a ReportError or a
ConceptError says why. Colours are those of Okabe and Ito, which the
colour-blind can tell apart, and none carries its meaning alone.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.basics.optional import require
from closedform.errors import ConceptError, ReportError, shown
from closedform.interpretation.answer import Interpretation, ability
from closedform.interpretation.digits import formula_text
from closedform.interpretation.evidence import FrontEntry
from closedform.report.figure_numbers import (
    SMALLEST,
    angle_histogram,
    arrows,
    coefficients,
    front_axis,
    scatter,
    short_number,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


BLUE, ORANGE, GREEN = "#0072B2", "#E69F00", "#009E73"
GREY, LIGHT, BLACK = "#8C96A0", "#C3CAD1", "#1D2125"
COLUMN = (3.4, 2.5)
"""Inches: a column of a two-column paper."""

_MOST_LABELS = 20  # of a front; with more, they overlap
_SMALL, _TINY = 7.5, 6.5  # points: axes, and legends
_LONGEST_LABEL = 40  # characters of a formula in a legend, which would hide the picture


@ability("plot_front")
def plot_front(interpretation: Interpretation, *, ax: "Axes | None" = None) -> "Axes":
    """Misalignment of each formula of the front as a bar, by complexity, with the choice marked."""
    _refuse_several(interpretation, "front")
    front, chosen = interpretation.front, interpretation.chosen
    if not front:
        raise ReportError("There is no candidate to draw; the search found nothing.")
    axis = front_axis(interpretation)
    ax = new_axes(ax)
    values = np.array([max(entry.misalignment, SMALLEST) for entry in front])
    bottom = 10.0**axis.low
    colours = [GREEN if place == chosen else LIGHT for place in range(len(front))]
    places = np.arange(len(front))
    edge = {"edgecolor": GREY, "linewidth": 0.4}
    ax.bar(places, values - bottom, bottom=bottom, width=0.82, color=colours, **edge)
    for place, entry in zip(places, front, strict=True):
        ends = [max(end, SMALLEST) for end in (entry.low, entry.high)]
        ax.plot([place, place], ends, color=BLACK, linewidth=0.8, solid_capstyle="butt")
    ax.set_yscale("log")
    ax.minorticks_off()
    ax.set_ylim(bottom, 10.0 ** (axis.high + 0.4))  # room for a mark above the highest bar
    floor = max(interpretation.floor, SMALLEST)
    ax.axhline(floor, color=BLACK, linewidth=0.7, linestyle=(0, (4, 3)), label="floor")
    _mark_places(ax, interpretation)
    step = 1 + len(front) // _MOST_LABELS
    ax.set_xticks(places[::step], [str(entry.complexity) for entry in front[::step]])
    ax.set_xlim(-0.6, len(front) - 0.4)
    ax.tick_params(axis="x", length=0)
    finish(ax, "complexity", "misalignment")
    ax.legend(frameon=False, fontsize=_TINY, loc="upper right", borderpad=0.1, handlelength=1.6)
    return ax


@ability("plot_phi")
def plot_phi(interpretation: Interpretation, *, ax: "Axes | None" = None) -> "Axes":
    """The network's latent against the concept, with the fitted phi."""
    data = scatter(_entry(interpretation, "phi").phi, limit=1500)
    if data is None:
        raise ReportError(
            "There are no finite values to draw: read a field that holds the values of its latent."
        )
    ax = new_axes(ax)
    dots = ax.scatter(data.x, data.y, s=7, color=BLUE, alpha=0.35, linewidths=0)
    dots.set(label="points", rasterized=len(data.x) > 500)
    ax.plot(*data.curve, color=BLACK, linewidth=1.1, label=r"fitted $\phi$")
    ax.set_xlim(*data.x_range)
    ax.set_ylim(*data.y_range)
    finish(ax, "concept $g$", "latent $f$")
    ax.legend(frameon=False, fontsize=_TINY, loc="best", handletextpad=0.4, borderpad=0.1)
    return ax


@ability("plot_angles")
def plot_angles(interpretation: Interpretation, *, ax: "Axes | None" = None) -> "Axes":
    """Histogram of the angles between the concept's gradient and the network's."""
    data = angle_histogram(_entry(interpretation, "angles").angles)
    if data is None:
        raise ReportError("The answer holds no angles to draw; read the concept again to get them.")
    ax = new_axes(ax)
    widths = 0.92 * np.diff(data.edges)
    ax.bar(data.edges[:-1], 100 * data.shares, width=widths, align="edge", color=BLUE, alpha=0.8)
    for degrees, style, label in (
        (data.median, (0, (4, 3)), f"median {short_number(data.median)}°"),
        (data.upper, ":", f"95% below {short_number(data.upper)}°"),
    ):
        ax.axvline(degrees, color=BLACK, linewidth=0.9, linestyle=style, label=label)
    ax.set_xlim(0, data.edges[-1])
    ax.set_ylim(0, 125 * float(data.shares.max()))  # room for the legend
    finish(ax, "angle to the network's gradient (degrees)", "share of points (%)")
    ground = {"edgecolor": "none", "facecolor": ax.get_facecolor(), "framealpha": 0.9}
    ax.legend(**ground, fontsize=_TINY, loc="upper right", handlelength=1.8)
    return ax


@ability("plot_directions")
def plot_directions(interpretation: Interpretation, *, ax: "Axes | None" = None) -> "Axes":
    """The network's directions under the concept's, for two inputs."""
    _entry(interpretation, "directions")
    names = interpretation.names
    if interpretation.directions is None:
        raise ConceptError(
            f"Directions are drawn for two inputs and one latent, not for {names}. Draw "
            f"answer.plot_angles() or answer.plot_importance(), or read two inputs with the others "
            f"held: wrt={list(names[:2])!r}."
        )
    data = arrows(interpretation.directions, limit=200)
    if data is None:
        raise ReportError(
            "No point has a direction of both network and concept; there is nothing to draw."
        )
    ax = new_axes(ax, (3.4, 3.1))
    (x, y), network, concept = data[0].T, *data[1:]
    layers = ((network, LIGHT, 0.013, "network"), (concept, BLUE, 0.0045, "concept"))
    for vectors, colour, width, label in layers:
        # `angles="xy"` turns each stroke as it appears on axes of different scales; without heads,
        # signs do not matter.
        ax.quiver(
            x, y, *vectors.T, angles="xy", pivot="mid", headwidth=0, headlength=0, headaxislength=0,
            width=width, scale=19, color=colour, label=label,
        )  # fmt: skip
    ax.margins(0.08)
    finish(ax, *(literal(name) for name in names))
    above = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0)}
    ax.legend(frameon=False, fontsize=_TINY, ncols=2, borderpad=0.1, **above)
    return ax


@ability("plot_importance")
def plot_importance(interpretation: Interpretation, *, ax: "Axes | None" = None) -> "Axes":
    """What leaving each input out of the concept costs: its misalignment with the input held."""
    _refuse_several(interpretation, "importance")
    needs = interpretation.inputs
    if not needs:
        raise ReportError("There is no formula whose inputs could be left out.")
    ax, places = row_axes(ax, [need.name for need in needs], "misalignment without the input")
    colours = [BLUE if need.is_used else LIGHT for need in needs]
    ax.barh(places, [need.without for need in needs], height=0.6, color=colours)
    if interpretation.alignment is not None:
        own = interpretation.alignment.misalignment
        ax.axvline(own, color=BLACK, linewidth=0.7, linestyle=(0, (4, 3)), label="with all inputs")
        ax.legend(frameon=False, fontsize=_TINY, loc="best", borderpad=0.1)
    return ax


@ability("plot_coefficients")
def plot_coefficients(interpretation: Interpretation, *, ax: "Axes | None" = None) -> "Axes":
    """Fitted numbers with their intervals, the first on top."""
    rows = coefficients(interpretation)
    if not rows:
        _refuse_several(interpretation, "coefficients")
        raise ReportError("There are no coefficients to draw; the formula has no fitted number.")
    ax, places = row_axes(ax, [row.term for row in rows], "coefficient")
    ax.axvline(0.0, color=GREY, linewidth=0.7, linestyle=(0, (4, 3)))
    ends = [row.low for row in rows], [row.high for row in rows]
    ax.hlines(places, *ends, color=BLUE, linewidth=2.2, alpha=0.55)
    ax.plot([row.value for row in rows], places, "o", color=BLUE, markersize=4.5)
    ax.set_ylim(places[-1] - 0.6, 0.6)
    ax.tick_params(axis="y", length=0)
    return ax


def row_axes(ax: "Axes | None", labels: Sequence[str], x_title: str) -> "tuple[Axes, FloatArray]":
    """Axes with a row for each label, the first on top, and the places of the rows."""
    ax = new_axes(ax, (3.4, 0.7 + 0.28 * len(labels)))
    places = -np.arange(len(labels), dtype=np.float64)
    ax.set_yticks(places, [literal(label) for label in labels])
    finish(ax, x_title, "")
    ax.grid(False, axis="y")
    return ax, places


def new_axes(ax: "Axes | None", size: tuple[float, float] = COLUMN) -> "Axes":
    """The given Axes, or those of a new figure."""
    if ax is not None:
        return ax
    return require("matplotlib.pyplot", extra="report").subplots(
        figsize=size, layout="constrained"
    )[1]


def finish(ax: "Axes", x_title: str, y_title: str) -> None:
    """Titles and the look that all pictures share."""
    ax.set_xlabel(x_title, fontsize=_SMALL)
    ax.set_ylabel(y_title, fontsize=_SMALL)
    ax.tick_params(labelsize=_SMALL, color=GREY, width=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set(color=GREY, linewidth=0.6)
    ax.grid(True, axis="y", color=LIGHT, linewidth=0.5, alpha=0.6)
    ax.set_axisbelow(True)


def _refuse_several(interpretation: Interpretation, what: str) -> None:
    if interpretation.parts:
        raise ReportError(
            f"This answer has {len(interpretation.parts)} concepts, each with its own picture; "
            f"draw answer.parts[0].plot_{what}(), and so on."
        )


def _entry(interpretation: Interpretation, what: str) -> FrontEntry:
    """The concept on the front."""
    _refuse_several(interpretation, what)
    if interpretation.entry is None:
        sentence = interpretation.verdict.sentence
        raise ConceptError(f"There is no formula to show: {sentence} Look at field_quality.")
    return interpretation.entry


def _mark_places(ax: "Axes", interpretation: Interpretation) -> None:
    chosen, steepest = interpretation.chosen, interpretation.steepest_drop
    marks = [] if chosen is None else [(chosen, "chosen", GREEN, 17)]
    if steepest is not None and steepest != chosen:
        is_near = chosen is not None and abs(steepest - chosen) <= 2
        marks.insert(0, (steepest, "steepest drop", BLACK, 32 if is_near else 17))
    for place, text, colour, height in marks:
        entry = interpretation.front[place]
        top = max(entry.misalignment, entry.high, SMALLEST)
        style = {"arrowstyle": "-|>", "color": colour, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 1}
        look = {"ha": "center", "fontsize": _SMALL, "color": colour, "weight": "bold"}
        above = {"xytext": (0, height), "textcoords": "offset points"}
        ax.annotate(text, (place, top), arrowprops=style, **above, **look)


def literal(text: str) -> str:
    """Text in which a dollar sign does not begin mathematics, and nothing is invisible."""
    return shown(text).replace("$", r"\$")


def plot_drift(laws: Any, *, ax: "Axes | None" = None) -> "Axes":
    """Mean change of each quantity over time, with the band of nine of ten trajectories.

    laws: what `closedform.conserved` returned.
    """
    followed = [law for law in laws.laws if law.drift is not None]
    if not followed:
        raise ReportError(
            "There is no drift to draw: no law was found, or there are neither trajectories nor a "
            "flow or simulator to follow."
        )
    ax = new_axes(ax)
    for law in followed:
        label, drift = formula_text(law.concept), law.drift
        label = label if len(label) <= _LONGEST_LABEL else f"{label[:37]}..."
        (drawn,) = ax.plot(drift.times, drift.mean, linewidth=1.2, label=label)
        ax.fill_between(drift.times, *drift.band, color=drawn.get_color(), alpha=0.2, linewidth=0)
    ax.axhline(0.0, color="black", linewidth=0.6)
    finish(ax, "time", "change (%)")
    ax.legend(frameon=False, fontsize=6.5, loc="best")
    return ax


def plot_constants(
    table: "pandas.DataFrame",
    constants: Sequence[str],
    curves: Mapping[str, Any],
    name: str,
    *,
    ax: "Axes | None" = None,
) -> "Axes":
    """Constants with two standard errors to either side, each labelled by its formula."""
    if ax is None:
        ax = require("matplotlib.pyplot", extra="report").figure().add_subplot()
    assert ax is not None
    index = table["index"].to_numpy(dtype=float)
    for constant in constants:
        curve = curves.get(constant)
        label = f"{constant}: {curve}" if curve is not None else constant
        errors = 2 * table[f"error of {constant}"].to_numpy(dtype=float)
        ax.errorbar(index, table[constant], yerr=errors, fmt=".", markersize=3, label=label)
    if (index > 0).all() and index.max() > 100 * index.min() > 0:
        ax.set_xscale("log")
    ax.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    ax.set_xlabel(name)
    ax.set_ylabel("coefficient")
    ax.legend(frameon=False)
    ax.margins(x=0.02)
    return ax


_GRID = 25  # points to a side at which the field is known
_SIZE, _ARROWS = 180, 9  # of the page's picture: its side, and arrows to a side


def plot_flow(found: Any, generator: int, *, ax: "Axes | None" = None) -> "Axes":
    """Stream lines of one of the generators that `closedform.symmetries` found."""
    names, box, one = found.names, found.box, found.generators[generator]
    if len(names) != 2:
        raise ReportError(
            f"A flow of {len(names)} inputs cannot be drawn in a plane; print the generators, or "
            "pass a field of two inputs."
        )
    ax = new_axes(ax)
    x, y = (np.linspace(low, high, _GRID) for low, high in box.T)
    places = np.stack(np.meshgrid(x, y), axis=-1)
    moves = places @ one.matrix[:, :-1].T + one.matrix[:, -1]
    look = {"color": BLUE, "linewidth": 0.8, "arrowsize": 0.7, "density": 0.6}
    ax.streamplot(x, y, moves[..., 0], moves[..., 1], **look)
    ax.set_xlim(*box[:, 0])
    ax.set_ylim(*box[:, 1])
    ax.set_title(str(one), fontsize=8)
    finish(ax, names[0], names[1])
    return ax


def symmetries_html(found: Any) -> str:
    """What a notebook shows: each generator as a formula, and for two inputs its flow."""
    parts = [f"<p>{escape(found.headline)}</p>"]
    for one in found.generators:
        picture = flow_svg(one.matrix, found.box) if len(found.names) == 2 else ""
        said = f"<code>{escape(str(one))}</code> {escape(str(one.broken))}"
        parts.append(f"<div>{picture}<div>{said}</div></div>")
    return "".join([*parts, *(f"<p>{escape(note)}</p>" for note in found.notes)])


def flow_svg(matrix: FloatArray, box: FloatArray) -> str:
    """A field of two inputs as arrows of one length, in the colours of the page."""
    shares = (np.arange(_ARROWS) + 0.5) / _ARROWS
    places = np.stack(np.meshgrid(shares, shares), axis=-1).reshape(-1, 2)
    span = np.where(box[1] > box[0], box[1] - box[0], 1.0)
    moves = ((box[0] + places * span) @ matrix[:, :-1].T + matrix[:, -1]) / span
    lengths = np.linalg.norm(moves, axis=1, keepdims=True)
    steps = moves / np.where(lengths > 0, lengths, 1.0) * (0.35 / _ARROWS)
    lines = []
    for (x, y), (right, up) in zip(places * _SIZE, steps * _SIZE, strict=True):
        top = _SIZE - y
        lines.append(
            f'<line x1="{x - right:.1f}" y1="{top + up:.1f}" x2="{x + right:.1f}" '
            f'y2="{top - up:.1f}"/><circle cx="{x + right:.1f}" cy="{top - up:.1f}" r="1.6"/>'
        )
    return (
        f'<svg viewBox="0 0 {_SIZE} {_SIZE}" width="{_SIZE}" height="{_SIZE}" role="img" '
        f'aria-label="flow" stroke="currentColor" fill="currentColor">{"".join(lines)}</svg>'
    )
