"""Many inputs, and nobody said that they are alike: whether they look it."""

import numpy as np

from closedform.expressions.site_groups import Group
from closedform.field.findings import Finding
from closedform.field.gradient_field import GradientField
from closedform.reading.alike.alike_reading import degrees
from closedform.reading.alike.site_spans import find_span
from closedform.reading.alike.sites import Sites

FEW_INPUTS = 12
"""Up to so many inputs a formula of all of them can be found and read."""

ENOUGH = 50
"""Inputs, and points, that show whether inputs are alike, in a tenth of a second."""


def alike_finding(field: GradientField, line: float) -> Finding | None:
    """A finding if one function of each input, the same for all, holds the gradient: exchange two
    inputs, and their derivatives are exchanged.

    line: the share of the squared gradient that may be left.
    """
    count = len(field.names)
    usable = field.weights > 0
    if count <= FEW_INPUTS or field.rank != 1 or field.tangent.kind != "none" or not usable.any():
        return None
    some = np.linspace(0, count - 1, min(count, ENOUGH)).astype(int)
    points, slopes = field.points[usable][:, some], field.directions[usable][:, some, 0]
    sites = Sites("x", Group(range(len(some))), points, slopes)
    if not (slopes**2).sum() > 0:
        return None
    span = find_span(sites.some(ENOUGH), may_fit=False)
    if span.left > line:
        return None
    sums = ", ".join(str(term.summed("x", sites.group)) for term in span.used)
    said = (
        f"The {count} inputs look alike: exchange two of them, and the gradient follows, up to "
        f"{degrees(span.left):.2g} degrees outside {sums}. Read sums over them: "
        f"groups={{'x': range({count})}}."
    )
    return Finding("alike-inputs", "info", said, {"left_degrees": degrees(span.left)})
