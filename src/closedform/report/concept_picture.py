"""The picture of a concept: level lines over the data for two inputs, slices for more."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from closedform.arrays import FloatArray
from closedform.basics.optional import require
from closedform.interpretation.answer import Interpretation
from closedform.interpretation.evidence import InputNeed
from closedform.report.figure_numbers import padded, shown_range
from closedform.report.svg import Frame, dots, line

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
