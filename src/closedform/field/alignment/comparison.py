"""Comparison: a field prepared for the compiled judge, which scores a batch of trees at once."""

from dataclasses import dataclass, replace

import numpy as np

from closedform.arrays import FloatArray
from closedform.basics.compiled import compiled, compiled_part
from closedform.errors import ShapeError
from closedform.expressions.expression import Expression
from closedform.expressions.kernel import BLOCK, to_blocks
from closedform.expressions.sweeps import backward, forward, load_sweeps
from closedform.expressions.tape import TapeBatch
from closedform.field.alignment.misalignment import point_misalignment
from closedform.field.alignment.tolerances import ZERO_SHARE
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
        result = np.empty((2, tapes.n_trees))
        load_sweeps("forward", "backward")
        _judge(
            tapes.codes, tapes.first, tapes.second, tapes.inputs, tapes.numbers, tapes.starts,
            tapes.longest,
            self.blocks, self.concept, self.tangent, self.scale, self.weights, self.n_points,
            give_up, result,
        )  # fmt: skip
        return result[0], result[1]

    def weighted(self, weights: FloatArray) -> "Comparison":
        """The same points with other weights, shape (n_points,), of which some are positive."""
        return replace(self, weights=_filled(weights, len(self.blocks)))


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


@compiled
def _judge(
    codes, first, second, inputs, numbers, starts, longest, blocks, concept, tangent, scale,
    weights, n_points, give_up, result
):  # fmt: skip
    _, n_inputs, width = blocks.shape
    values = np.empty((longest, width))
    adjoints = np.empty((longest, width))
    gradient = np.empty((n_inputs, width))
    work = np.empty((4, width))
    for tree in range(starts.shape[0] - 1):
        start = starts[tree]
        result[0, tree], result[1, tree] = judge_tree(
            codes, first, second, inputs, numbers, start, starts[tree + 1] - start, blocks, concept,
            tangent, scale, weights,
            n_points, give_up, values, adjoints, gradient, work,
        )  # fmt: skip


@compiled_part
def judge_tree(
    codes, first, second, inputs, numbers, start, length, blocks, concept, tangent, scale, weights,
    n_points, give_up,
    values, adjoints, gradient, work,
):  # fmt: skip
    """Misalignment of one tree and its share of bad points; the last arguments are work space."""
    width = blocks.shape[2]
    total, norm, aligned, part = work[0], work[1], work[2], work[3]
    tape = codes.ctypes, first.ctypes, second.ctypes, inputs.ctypes, numbers.ctypes
    lost = 0.0
    bad = 0.0
    undefined = 0.0
    for block in range(blocks.shape[0]):
        n = min(width, n_points - block * width)
        forward(*tape, start, length, blocks[block].ctypes, n, values.ctypes)
        undefined += undefined_weight(values[length - 1], weights[block], n)
        if undefined > give_up:
            return 1.0, 1.0
        backward(
            *tape, start, length, n, blocks.shape[1], values.ctypes, adjoints.ctypes,
            gradient.ctypes,
        )  # fmt: skip
        squared_norm(gradient, scale, n, total)
        squared_projection(gradient, concept[block], n, part, aligned)
        if tangent.shape[1] > 0:
            squared_projection(
                gradient, tangent[block if tangent.shape[0] > 1 else 0], n, part, norm
            )
        else:
            for point in range(n):
                norm[point] = total[point]
        block_lost, block_bad = add_up(values[length - 1], total, norm, aligned, weights[block], n)
        lost += block_lost
        bad += block_bad
    return lost, bad


@compiled_part
def undefined_weight(values, weights, n):
    """Weight of the points at which the value is not finite."""
    weight = 0.0
    for k in range(n):
        weight += weights[k] * (0.0 if values[k] - values[k] == 0.0 else 1.0)
    return weight


@compiled_part
def squared_norm(gradient, scale, n, out):
    """Squared norm of the scaled gradient at each point."""
    for k in range(n):
        out[k] = 0.0
    for column in range(gradient.shape[0]):
        row = gradient[column]
        factor = scale[column] * scale[column]
        for k in range(n):
            out[k] += factor * row[k] * row[k]


@compiled_part
def squared_projection(gradient, rows, n, part, out):
    """Squared length of rows times gradient; rows are the same at all points or one for each."""
    for k in range(n):
        out[k] = 0.0
    for m in range(rows.shape[0]):
        for k in range(n):
            part[k] = 0.0
        for column in range(gradient.shape[0]):
            values = gradient[column]
            row = rows[m, column]
            if rows.shape[2] == 1:
                factor = row[0]
                for k in range(n):
                    part[k] += factor * values[k]
            else:
                for k in range(n):
                    part[k] += row[k] * values[k]
        for k in range(n):
            out[k] += part[k] * part[k]


@compiled_part
def add_up(values, total, norm, aligned, weights, n):
    """Weighted misalignment of a block, and the weight of the bad points, which count 1."""
    lost = 0.0
    bad = 0.0
    for k in range(n):
        share = aligned[k] / norm[k]
        fine = (
            (norm[k] > ZERO_SHARE * total[k]) & (total[k] < np.inf) & (values[k] - values[k] == 0.0)
        )
        inside = 1.0 - share if share < 1.0 else 0.0
        lost += weights[k] * (inside if fine else 1.0)
        bad += weights[k] * (0.0 if fine else 1.0)
    return lost, bad


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
