"""Pictures of a neuron's field beside its formula."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from closedform.errors import ClosedformError
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.gradient_field import GradientField
from closedform.interpretation.evidence import Directions
from closedform.judge.alignment import angles_in_degrees
from closedform.report.figure_numbers import shown_range
from closedform.report.svg import Frame, angles_svg, directions_svg, dots
from closedform.sweeping.execution.store import ResultStore
from closedform.sweeping.neuron_task import FIELD_PARTS, load_neuron

MOST_POINTS = 300
"""Points of a scatter plot: more would hide each other."""


def field_pictures(store: ResultStore, row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Captions and pictures of a record's field; none where its field was not kept."""
    if "field" not in row or not isinstance(row.get("concept"), str):
        return []
    payload = {"neuron": row["neuron"], "store": [store.path, store.options]}
    try:
        field = load_neuron(payload | {name: row["field"][name] for name in FIELD_PARTS})
        concept = parse(row["concept"], names=list(field.names))
    except ClosedformError:  # the fields of a sweep may be dropped
        return []
    angles = angles_in_degrees(field_misalignment(concept, field)[field.weights > 0])
    made = [
        ("Directions of the network under those of the formula", _directions(field, concept)),
        ("The neuron against the formula", _values(field, concept)),
        ("Angles between formula and network", angles_svg(angles[np.isfinite(angles)].tolist())),
    ]
    return [(caption, picture) for caption, picture in made if picture is not None]


def _directions(field: GradientField, concept: Expression) -> str | None:
    if len(field.names) != 2:
        return None
    usable = field.weights > 0
    points = field.points[usable]
    vectors = (points, field.directions[usable, :, 0], concept.gradient(points))
    pairs = [tuple((float(x), float(y)) for x, y in array) for array in vectors]
    return directions_svg(Directions(*pairs), field.names)


def _values(field: GradientField, concept: Expression) -> str | None:
    if field.latents is None:
        return None
    with np.errstate(all="ignore"):
        x, y = concept(field.points), field.latents[:, 0]
    good = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if len(good) < 2 or not np.ptp(x[good]) or not np.ptp(y[good]):
        return None
    few = good[:: max(len(good) // MOST_POINTS, 1)]
    frame = Frame(shown_range(x[good]), shown_range(y[good]))
    shapes = [f'<path class="dots" d="{dots(frame, x[few], y[few])}"/>']
    return frame.picture("The neuron against the formula", "formula", "neuron", shapes)
