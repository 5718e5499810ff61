"""Values and input gradients for whole batches of trees, compiled and block by block.

A block holds few enough points that every node's values stay in the processor's cache, whatever the
number of points.
"""

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
from closedform.basics.compiled import compiled, compiled_part
from closedform.expressions.sweeps import BLOCK, backward, forward, load_sweeps
from closedform.expressions.tape import TapeBatch

FINE, BAD_VALUE, BAD_GRADIENT, ZERO_GRADIENT = 0, 1, 2, 3
"""What a tree can be at a point: fine, value not finite, gradient not finite, gradient exactly
zero."""


def to_blocks(rows: FloatArray) -> FloatArray:
    """Rows (n_points, m) as blocks (n_blocks, m, BLOCK), the last filled up with its last point."""
    n_points, width = rows.shape
    n_blocks = -(-n_points // BLOCK)
    padded = np.empty((n_blocks * BLOCK, width))
    padded[:n_points] = rows
    padded[n_points:] = rows[-1]
    return np.ascontiguousarray(padded.reshape(n_blocks, BLOCK, width).swapaxes(1, 2))


def values_and_gradients(
    tapes: TapeBatch, points: FloatArray
) -> tuple[FloatArray, FloatArray, NDArray[np.int8]]:
    """Every tree at every point, in one call.

    points (n_points, n_inputs)

    Returns values (n_trees, n_points); gradients (n_trees, n_points, n_inputs); status (n_trees,
    n_points): FINE, BAD_VALUE, BAD_GRADIENT or ZERO_GRADIENT; nothing that is not finite is hidden.
    """
    n_points, n_inputs = points.shape
    values = np.empty((tapes.n_trees, n_points))
    gradients = np.empty((tapes.n_trees, n_points, n_inputs))
    status = np.empty((tapes.n_trees, n_points), dtype=np.int8)
    if n_points:
        load_sweeps("forward", "backward")
        _fill(
            tapes.codes, tapes.first, tapes.second, tapes.inputs, tapes.numbers, tapes.starts,
            to_blocks(points), n_points, tapes.longest, values, gradients, status,
        )  # fmt: skip
    return values, gradients, status


@compiled_part
def point_status(value: float, norm: float) -> int:
    """Classify one point by the tree's value and the squared norm of its gradient."""
    if not np.isfinite(value):
        return BAD_VALUE
    if not np.isfinite(norm):
        return BAD_GRADIENT
    return ZERO_GRADIENT if norm == 0.0 else FINE


@compiled
def _fill(
    codes, first, second, inputs, numbers, starts, blocks, n_points, longest, values, gradients,
    status,
):  # fmt: skip
    n_blocks, n_inputs, width = blocks.shape
    node_values = np.empty((longest, width))
    adjoints = np.empty((longest, width))
    gradient = np.empty((n_inputs, width))
    tape = codes.ctypes, first.ctypes, second.ctypes, inputs.ctypes, numbers.ctypes
    for block in range(n_blocks):
        offset = block * width
        n = min(width, n_points - offset)
        for tree in range(starts.shape[0] - 1):
            start = starts[tree]
            length = starts[tree + 1] - start
            forward(*tape, start, length, blocks[block].ctypes, n, node_values.ctypes)
            backward(
                *tape, start, length, n, n_inputs, node_values.ctypes, adjoints.ctypes,
                gradient.ctypes,
            )  # fmt: skip
            for k in range(n):
                norm = 0.0
                for column in range(n_inputs):
                    norm += gradient[column, k] * gradient[column, k]
                    gradients[tree, offset + k, column] = gradient[column, k]
                values[tree, offset + k] = node_values[length - 1, k]
                status[tree, offset + k] = point_status(node_values[length - 1, k], norm)
