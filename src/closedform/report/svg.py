"""Small pictures as SVG text whose colours are the page's, so that they follow light and dark."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil

import numpy as np

from closedform.arrays import FloatArray
from closedform.basics.optional import require
from closedform.errors import shown
from closedform.interpretation.answer import Interpretation
from closedform.interpretation.evidence import Directions, InputNeed, Phi
from closedform.report.figure_numbers import (
    angle_histogram,
    arrows,
    padded,
    scatter,
    short_number,
    shown_range,
    tick_labels,
    ticks,
)

WIDTH, HEIGHT = 380, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 10, 12, 38
_CHARACTER = 7  # width of a tick's character, with the space between ticks
_ARROW = 0.38  # of the distance between neighbouring arrows, to either side


@dataclass(frozen=True, slots=True)
class Frame:
    """The plot's rectangle and the ranges that it shows."""

    x_range: tuple[float, float]
    y_range: tuple[float, float]
    height: int = HEIGHT

    @property
    def bottom(self) -> float:
        """Where the axis of x lies."""
        return self.height - _BOTTOM

    def x(self, value: float) -> float:
        """The place of a value, from the left."""
        low, high = self.x_range
        return _LEFT + (value - low) / (high - low) * (WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        """The place of a value, from the top."""
        low, high = self.y_range
        return self.bottom - (value - low) / (high - low) * (self.bottom - _TOP)

    def picture(
        self,
        description: str,
        x_title: str,
        y_title: str,
        shapes: Iterable[str],
        *,
        percent: bool = False,
    ) -> str:
        """The whole element: grid, shapes inside the rectangle, ticks and titles."""
        size = f'viewBox="0 0 {WIDTH} {self.height}"'
        pieces = [f'<svg {size} role="img" aria-label="{escape(description)}">']
        marks = ticks(*self.y_range, 4)
        for value, label in zip(marks, tick_labels(marks), strict=True):
            y = self.y(value)
            text = f"{100 * value:g}%" if percent else label
            pieces.append(f'<path class="grid" d="M{_LEFT} {y:.1f}H{WIDTH - _RIGHT}"/>')
            pieces.append(_text("tick", f'x="{_LEFT - 6}" y="{y + 3.5:.1f}"', text, "end"))
        marks = ticks(*self.x_range, 5)
        labels = tick_labels(marks)
        # Powers of ten are wide: of labels that would lie on each other every so many stay.
        room = (WIDTH - _LEFT - _RIGHT) / (_CHARACTER * max(map(len, labels), default=1))
        step = ceil(len(labels) / max(room, 1.0))
        for value, text in zip(marks[::step], labels[::step], strict=True):
            x = self.x(value)
            pieces.append(f'<path class="axis" d="M{x:.1f} {self.bottom}v4"/>')
            pieces.append(_text("tick", f'x="{x:.1f}" y="{self.bottom + 16}"', text))
        pieces.extend(shapes)
        middle_x, middle_y = (_LEFT + WIDTH - _RIGHT) / 2, (_TOP + self.bottom) / 2
        turned = f'transform="translate(11 {middle_y}) rotate(-90)"'
        pieces += [
            f'<path class="axis" d="M{_LEFT} {self.bottom}H{WIDTH - _RIGHT}"/>',
            _text("name", f'x="{middle_x}" y="{self.height - 5}"', escape(shown(x_title))),
            _text("name", turned, escape(shown(y_title))),
            "</svg>",
        ]
        return "".join(pieces)


def _text(kind: str, place: str, text: str, anchor: str = "middle") -> str:
    return f'<text class="{kind}" {place} text-anchor="{anchor}">{text}</text>'


def phi_svg(phi: Phi | None) -> str | None:
    """Latent against concept with the fitted phi; None without values."""
    data = scatter(phi)
    if data is None:
        return None
    frame = Frame(data.x_range, data.y_range)
    shapes = [f'<path class="dots" d="{dots(frame, data.x, data.y)}"/>']
    shapes.append(f'<path class="curve" d="{line(frame, *data.curve)}"/>')
    label = "Latent against concept, with the fitted phi"
    return frame.picture(label, "concept", "latent", shapes)


def angles_svg(angles: Sequence[float]) -> str | None:
    """Histogram of the angles; None without angles."""
    data = angle_histogram(angles)
    if data is None:
        return None
    frame = Frame((0.0, float(data.edges[-1])), (0.0, float(data.shares.max()) * 1.06))
    shapes = []
    for left, right, share in zip(data.edges, data.edges[1:], data.shares, strict=False):
        x, y, width = frame.x(left) + 0.6, frame.y(share), frame.x(right) - frame.x(left) - 1.2
        shapes.append(
            f'<rect class="bin" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
            f'height="{frame.bottom - y:.1f}" rx="1"/>'
        )
    middle = frame.x(data.median)
    anchor = "end" if middle > WIDTH * 0.65 else "start"
    offset = -5 if anchor == "end" else 5
    shapes.append(f'<path class="median" d="M{middle:.1f} {_TOP}V{frame.bottom}"/>')
    place = f'x="{middle + offset:.1f}" y="{_TOP + 9}"'
    shapes.append(_text("label", place, f"median {short_number(data.median)}°", anchor))
    label = (
        f"Angles to the network's gradient: median {short_number(data.median)}, 95% below "
        f"{short_number(data.upper)} degrees"
    )
    return frame.picture(
        label, "angle to the network's gradient, degrees", "share of points", shapes, percent=True
    )


def directions_svg(directions: Directions | None, names: Sequence[str]) -> str | None:
    """The network's directions under the concept's, for two inputs; None if there are none."""
    data = arrows(directions)
    if data is None:
        return None
    points, network, concept = data
    ends = zip(points.min(axis=0), points.max(axis=0), strict=True)
    frame = Frame(*(padded(low, high, 0.06) for low, high in ends), height=330)
    # A direction has no head: signs mean nothing. Arrows are turned as they appear, with the axes'
    # different scales.
    scale = np.array([frame.x(1.0) - frame.x(0.0), frame.y(1.0) - frame.y(0.0)])
    spacing = (WIDTH - _LEFT - _RIGHT) / max(np.sqrt(len(points)), 1.0)
    shapes = []
    for kind, vectors in (("network", network), ("concept", concept)):
        drawn = vectors * scale
        drawn = drawn / np.linalg.norm(drawn, axis=1, keepdims=True) * spacing * _ARROW
        path = "".join(
            f"M{frame.x(x) - dx:.1f} {frame.y(y) - dy:.1f}l{2 * dx:.1f} {2 * dy:.1f}"
            for (x, y), (dx, dy) in zip(points, drawn, strict=True)
        )
        shapes.append(f'<path class="direction {kind}" d="{path}"/>')
    first, second = names
    return frame.picture("Directions of the network and of the concept", first, second, shapes)


def dots(frame: Frame, x: FloatArray, y: FloatArray) -> str:
    """Points inside the frame, as a path."""
    (x_low, x_high), (y_low, y_high) = frame.x_range, frame.y_range
    inside = (x >= x_low) & (x <= x_high) & (y >= y_low) & (y <= y_high)
    return "".join(
        f"M{frame.x(a):.1f} {frame.y(b):.1f}h0" for a, b in zip(x[inside], y[inside], strict=True)
    )


def line(frame: Frame, x: FloatArray, y: FloatArray) -> str:
    """A polyline, cut at the sides of the frame; of a flat stretch its ends are enough."""
    good = np.isfinite(x) & np.isfinite(y) & (x >= frame.x_range[0]) & (x <= frame.x_range[1])
    x, y = x[good], np.clip(y[good], *frame.y_range)
    turns = np.ones(len(y), dtype=np.bool_)
    turns[1:-1] = (y[1:-1] != y[:-2]) | (y[1:-1] != y[2:])
    places = [f"{frame.x(a):.1f} {frame.y(b):.1f}" for a, b in zip(x[turns], y[turns], strict=True)]
    return "M" + "L".join(places) if places else ""


def cells_svg(
    names: Sequence[str],
    edges: Sequence[FloatArray],
    table: FloatArray,
    box: Sequence[Sequence[float]] | None,
) -> str:
    """Cells of two inputs, the darker the larger the number in them, with a box around some."""
    (left, right), (low, high) = ((float(own[0]), float(own[-1])) for own in edges)
    frame = Frame((left, right), (low, high))
    highest = float(np.nanmax(table)) or 1.0
    shapes = []
    for i, j in zip(*np.nonzero(np.isfinite(table)), strict=True):
        x, y = frame.x(float(edges[0][i])), frame.y(float(edges[1][j + 1]))
        size = frame.x(float(edges[0][i + 1])) - x, frame.y(float(edges[1][j])) - y
        shapes.append(
            f'<rect class="cell" x="{x:.1f}" y="{y:.1f}" width="{size[0]:.1f}" '
            f'height="{size[1]:.1f}" fill-opacity="{table[i, j] / highest:.2f}"/>'
        )
    if box is not None:
        (left, right), (low, high) = box
        path = f"M{frame.x(left):.1f} {frame.y(low):.1f}H{frame.x(right):.1f}V{frame.y(high):.1f}"
        shapes.append(f'<path class="box" d="{path}H{frame.x(left):.1f}Z"/>')
    label = f"Median angle over {names[0]} and {names[1]}, up to {short_number(highest)} degrees"
    return frame.picture(label, names[0], names[1], shapes)


CELLS, N_LEVELS = 60, 9
"""Of the grid that level lines are drawn on, and how many lines."""

N_STEPS, MOST_SLICES = 80, 6
"""Of the curve of a slice, and inputs that get one: those that the concept needs most."""

_TALL, _SLICE = 330, 200
_FAINTEST = 0.25  # opacity of the lowest level line


@dataclass(frozen=True, slots=True)
class ConceptPicture:
    """Pictures of one concept as SVG, and what they show."""

    caption: str
    pictures: tuple[str, ...]


def concept_picture(answer: Interpretation) -> ConceptPicture | None:
    """What the concept looks like on the data; None without a formula or without ranges."""
    needs = [need for need in answer.inputs if need.is_used and _varies(need)]
    if answer.concept is None or not needs:
        return None
    # Sums over sites are not drawn; and of an edited file the inputs may not be the answer's.
    used = {answer.concept.names[place] for place in answer.concept.tree.variables}
    if tuple(need.name for need in answer.inputs) != answer.names or not used <= {*answer.names}:
        return None
    if len(answer.names) == 2 and len(needs) == 2:
        caption = "The concept on the data: level lines, stronger where it is larger, and points"
        pictures = tuple(_contours(answer, needs))
    else:
        held = " with the other inputs at their medians" if len(answer.names) > 1 else ""
        caption = f"The concept by each input{held}"
        needs = sorted(needs, key=lambda need: -need.without)[:MOST_SLICES]
        pictures = tuple(_slices(answer, needs))
    return ConceptPicture(caption, pictures) if pictures else None


def _varies(need: InputNeed) -> bool:
    return need.low is not None and need.high is not None and need.high > need.low


def _contours(answer: Interpretation, needs: list[InputNeed]) -> Iterator[str]:
    """Level lines at even shares of the values, so that a steep corner does not take them all."""
    spans = [(float(need.low or 0.0), float(need.high or 0.0)) for need in needs]
    x, y = (np.linspace(low, high, CELLS) for low, high in spans)
    grid = np.stack(np.meshgrid(x, y), axis=-1)
    values = _values(answer, grid.reshape(-1, 2)).reshape(CELLS, CELLS)
    finite = values[np.isfinite(values)]
    if len(finite) == 0 or np.ptp(finite) == 0:
        return
    frame = Frame(*(padded(*span) for span in spans), height=_TALL)
    levels = np.unique(np.quantile(finite, (np.arange(N_LEVELS) + 0.5) / N_LEVELS))
    made = require("contourpy", extra="report").contour_generator(
        x, y, np.ma.masked_invalid(values)
    )
    shapes = []
    for place, level in enumerate(levels):
        path = "".join(line(frame, *part.T) for part in made.lines(float(level)))
        opacity = _FAINTEST + (1 - _FAINTEST) * place / max(len(levels) - 1, 1)
        shapes.append(f'<path class="contour" style="opacity:{opacity:.2f}" d="{path}"/>')
    if answer.directions is not None and answer.directions.points:
        points = np.array(answer.directions.points)
        shapes.append(f'<path class="dots few" d="{dots(frame, *points.T)}"/>')
    first, second = answer.names
    said = f"Level lines of the concept over {first} and {second}"
    yield frame.picture(said, first, second, shapes)


def _slices(answer: Interpretation, needs: list[InputNeed]) -> Iterator[str]:
    """A curve for each input, all with one scale of values: a flat one hardly matters."""
    medians = np.array([need.median or 0.0 for need in answer.inputs])
    columns = {need.name: column for column, need in enumerate(answer.inputs)}
    curves: list[tuple[InputNeed, FloatArray, FloatArray]] = []
    for need in needs:
        x = np.linspace(float(need.low or 0.0), float(need.high or 0.0), N_STEPS)
        points = np.tile(medians, (N_STEPS, 1))
        points[:, columns[need.name]] = x
        values = _values(answer, points)
        if np.isfinite(values).sum() > 1:
            curves.append((need, x, values))
    if not curves:
        return
    every = np.concatenate([values[np.isfinite(values)] for _, _, values in curves])
    y_range = shown_range(every)
    for need, x, values in curves:
        frame = Frame(padded(x[0], x[-1], 0.02), y_range, height=_SLICE)
        shapes = [f'<path class="curve" d="{line(frame, x, values)}"/>']
        yield frame.picture(f"The concept by {need.name}", need.name, "concept", shapes)


def _values(answer: Interpretation, points: FloatArray) -> FloatArray:
    assert answer.concept is not None
    with np.errstate(all="ignore"):
        return np.asarray(answer.concept.rename(answer.names)(points), dtype=np.float64)
