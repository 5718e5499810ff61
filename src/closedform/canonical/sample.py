"""What formulas do on the data: their range and sign, and whether two are the same concept."""

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.evaluate import evaluate, value_and_gradient
from closedform.expressions.tree import Tree, apply, constant, variable
from closedform.field.alignment.misalignment import point_misalignment
from closedform.field.alignment.tolerances import ROUNDING, SAME


class Sample:
    """Points, and one formula to which others are compared.

    Points at which the formula is not finite or its gradient vanishes do not count.

    points (n_points, n_inputs)
    """

    def __init__(self, tree: Tree, points: FloatArray) -> None:
        scale = points.std(axis=0) if len(points) else np.ones(points.shape[1])
        self.scale = np.where(np.isfinite(scale) & (scale > 0), scale, 1.0)
        values, slopes = _values_and_slopes(tree, points, self.scale)
        with np.errstate(all="ignore"):
            norms = np.linalg.norm(slopes, axis=1)
        usable = np.isfinite(values) & np.isfinite(norms) & (norms > 1e-150) & (norms < 1e150)
        self.points, self.values = points[usable], values[usable]
        self.directions = slopes[usable] / norms[usable, None]
        self._ranges: dict[Tree, tuple[float, float] | None] = {}

    def range_of(self, tree: Tree) -> tuple[float, float] | None:
        """Lowest and highest value; None if it is not finite everywhere."""
        if tree not in self._ranges:
            values = evaluate(tree, self.points)
            finite = len(values) > 0 and bool(np.isfinite(values).all())
            self._ranges[tree] = (float(values.min()), float(values.max())) if finite else None
        return self._ranges[tree]

    def sign_of(self, tree: Tree) -> int:
        """1 or -1 if the values keep this sign, else 0."""
        bounds = self.range_of(tree)
        return 0 if bounds is None else int(bounds[0] > 0) - int(bounds[1] < 0)

    def is_invertible(self, outer: Tree, inner: Tree) -> bool:
        """Whether a function of one input is strictly monotone on the range of another formula."""
        bounds = self.range_of(inner)
        if bounds is None or bounds[0] == bounds[1]:
            return False
        # An odd number, so that the middle of a symmetric range is met.
        steps = np.diff(evaluate(outer, np.linspace(*bounds, 257)[:, None]))
        return bool(
            np.isfinite(steps).all() and ((steps >= 0).all() or (steps <= 0).all()) and steps.any()
        )

    def is_same(self, tree: Tree) -> bool:
        """Whether a formula is the same concept: gradients parallel, values in one order."""
        if len(self.points) < 2:
            return False
        values, slopes = _values_and_slopes(tree, self.points, self.scale)
        if not (np.isfinite(values).all() and np.isfinite(slopes).all()):
            return False
        if not point_misalignment(slopes, self.directions[:, :, None]).mean() < ROUNDING:
            return False
        with np.errstate(all="ignore"):
            along = np.einsum("nd,nd->n", slopes, self.directions)
        sign = 1.0 if along[0] > 0 else -1.0
        return bool((sign * along > 0).all() and _in_order(self.values, sign * values))


def power_function(exponent: float) -> Tree:
    """The power as a function of one input."""
    return apply("pow", variable(0), constant(exponent))


def _values_and_slopes(
    tree: Tree, points: FloatArray, scale: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Values and gradients in scaled inputs, in one pass."""
    slopes = np.zeros(points.shape)
    with np.errstate(all="ignore"):
        values, columns = value_and_gradient(tree, list(points.T))
        for column, derivative in columns.items():
            slopes[:, column] = derivative * scale[column]
    return np.broadcast_to(np.asarray(values, dtype=np.float64), len(points)), slopes


def _in_order(first: FloatArray, second: FloatArray) -> bool:
    """Whether the second never falls where the first rises, up to rounding."""
    order = np.lexsort((second, first))
    a, b = first[order], second[order]
    highest = np.maximum.accumulate(b)
    fallen = np.flatnonzero(b < highest - SAME * np.abs(highest))
    if not len(fallen):
        return True
    places = np.maximum.accumulate(np.where(b == highest, np.arange(len(b)), 0))[fallen]
    return bool((a[fallen] - a[places] <= SAME * np.abs(a[places])).all())
