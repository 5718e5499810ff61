"""Comparison: a field prepared for the compiled judge, which scores a batch of trees at once."""

from dataclasses import dataclass, replace

import numpy as np

from closedform.arrays import FloatArray
from closedform.errors import ShapeError
from closedform.expressions.expression import Expression
from closedform.expressions.kernel import BLOCK, to_blocks
from closedform.expressions.sweeps import load_sweeps
from closedform.expressions.tape import CONSTANT_CODE, TapeBatch
from closedform.field.alignment.constant_fit import fit_and_judge
from closedform.field.alignment.misalignment import point_misalignment
from closedform.field.gradient_field import GradientField


@dataclass(frozen=True, slots=True)
class Comparison:
    """Points and directions in blocks, with scale and tangent space folded into them.

    Make one with `prepare`.
    """

    blocks: FloatArray  # (n_blocks, n_inputs, BLOCK): the points
    # (n_blocks, k, n_inputs, BLOCK): rows that take a gradient to its components along the
    # network's directions.
    concept: FloatArray
    # (n_blocks or 1, n_tangent, n_inputs, BLOCK or 1): rows that take a gradient to its tangential
    # components; no rows without a tangent space.
    tangent: FloatArray
    scale: FloatArray  # (n_inputs,)
    # (n_blocks, BLOCK): they sum to 1; points that fill up the last block have weight 0.
    weights: FloatArray
    n_points: int

    def misalignments(
        self, tapes: TapeBatch, *, give_up: float = 1.0
    ) -> tuple[FloatArray, FloatArray]:
        """Judge every tree.

        give_up: a tree whose value is not finite on more than this share of the weight counts 1
            everywhere and its gradients are not computed: a search has no use for it. With 1, the
            default, nothing is given up.

        Returns misalignments (n_trees,); bad_shares (n_trees,): share of the weight at points where
        value or gradient is not finite or the gradient is zero; they count 1.
        """
        _, misalignments, bad_shares = fit_constants(
            self, tapes, np.zeros(tapes.n_trees), give_up=give_up
        )
        return misalignments, bad_shares

    def weighted(self, weights: FloatArray) -> "Comparison":
        """The same points with other weights, shape (n_points,), of which some are positive."""
        return replace(self, weights=_filled(weights, len(self.blocks)))


def fit_constants(
    comparison: Comparison,
    tapes: TapeBatch,
    iterations: np.ndarray,
    *,
    give_up: float = 1.0,
    is_free: np.ndarray | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Fit the constants of chosen trees and judge all of them.

    iterations (n_trees,): steps for each tree; 0 leaves its constants alone.
    give_up: as in `Comparison.misalignments`.
    is_free (n_nodes,): which nodes' numbers may change, of those that are constants; all by
        default.

    Returns numbers (n_nodes,): the tapes' numbers with the fitted constants in their places;
    misalignments, bad_shares (n_trees,).
    """
    numbers = tapes.numbers.copy()
    result = np.empty((2, tapes.n_trees))
    free = tapes.codes == CONSTANT_CODE
    if is_free is not None:
        free &= is_free
    load_sweeps("forward", "backward", "tangent_forward", "tangent_backward")
    fit_and_judge(
        tapes.codes, tapes.first, tapes.second, tapes.inputs, numbers, tapes.starts, tapes.longest,
        comparison.blocks, comparison.concept, comparison.tangent, comparison.scale,
        comparison.weights, comparison.n_points,
        np.asarray(iterations, dtype=np.int64), free, give_up, result,
    )  # fmt: skip
    return numbers, result[0], result[1]


def prepare(
    points: FloatArray,
    frames: FloatArray,
    *,
    scale: FloatArray | None = None,
    tangent: FloatArray | None = None,
    weights: FloatArray | None = None,
) -> Comparison:
    """Fold scale and tangent space into the directions.

    points (n_points, n_inputs): in the user's coordinates.
    frames (n_points, n_inputs, k) or (n_points, n_tangent, k): orthonormal bases of the network's
        gradients, in scaled (and, with a tangent space, tangent) coordinates.
    scale (n_inputs,): the spread of each input; gradients are multiplied by it.
    tangent (n_inputs, n_tangent) or (n_points, n_inputs, n_tangent): orthonormal tangent basis in
        scaled coordinates.
    weights (n_points,)
    """
    n_points, n_inputs = points.shape
    # A copy, for an array that may be written to is another type for the compiler than one that may
    # not.
    scale = np.ones(n_inputs) if scale is None else np.array(scale, dtype=np.float64)
    weights = np.ones(n_points) if weights is None else weights
    filled = _filled(weights, -(-n_points // BLOCK))
    rows = np.swapaxes(frames, 1, 2)
    if tangent is not None:
        # One product for all points where there is one tangent space.
        rows = rows @ tangent.T if tangent.ndim == 2 else np.einsum("nkt,ndt->nkd", rows, tangent)
    return Comparison(
        blocks=to_blocks(points),
        concept=_row_blocks(rows * scale),
        tangent=_tangent_rows(tangent, n_inputs, scale),
        scale=scale,
        weights=filled,
        n_points=n_points,
    )


def _filled(weights: FloatArray, n_blocks: int) -> FloatArray:
    """Weights that sum to 1, in blocks; 0 at the points that fill up the last one."""
    total = weights.sum()
    if not total > 0:
        raise ShapeError(
            "No point has a positive weight; there is nothing to compare. Check the field's "
            "quality."
        )
    filled = np.zeros((n_blocks, BLOCK))
    filled.flat[: len(weights)] = weights / total
    return filled


def _tangent_rows(tangent: FloatArray | None, n_inputs: int, scale: FloatArray) -> FloatArray:
    if tangent is None:
        return np.empty((1, 0, n_inputs, 1))
    rows = np.swapaxes(tangent, -1, -2) * scale
    return _row_blocks(rows) if rows.ndim == 3 else np.ascontiguousarray(rows[None, :, :, None])


def _row_blocks(rows: FloatArray) -> FloatArray:
    """Rows of shape (n_points, m, n_inputs) as blocks of shape (n_blocks, m, n_inputs, BLOCK)."""
    n_points, m, n_inputs = rows.shape
    return to_blocks(rows.reshape(n_points, m * n_inputs)).reshape(-1, m, n_inputs, BLOCK)


def field_misalignment(expression: Expression, field: GradientField) -> FloatArray:
    """Misalignment at each point of a field, also at those of weight 0, where it means nothing.

    expression: its inputs are found among the field's by name.

    Returns an array of shape (n_points,).
    """
    gradients = expression.rename(field.names).gradient(field.points)
    return point_misalignment(gradients * field.scale, field.frames, field.tangent.basis)


def comparison_of(field: GradientField) -> Comparison:
    """A field prepared for the compiled judge."""
    return prepare(
        field.points,
        field.frames,
        scale=field.scale,
        tangent=field.tangent.basis,
        weights=field.weights,
    )
