"""What the tests of this room share."""

import numba
import numpy as np
import pytest

from closedform.expressions.kernel import to_blocks
from closedform.expressions.sweeps import (
    backward,
    forward,
    load_sweeps,
    tangent_backward,
    tangent_forward,
)
from closedform.expressions.tape import CONSTANT_CODE, TapeBatch


@pytest.fixture
def constant_tangents():
    """How each tree's input gradient changes with each of its constants, by the sweeps that fits
    use: the constants' positions in the batch, and an array of shape (n_constants, n_points,
    n_inputs).
    """
    return _constant_tangents


def _constant_tangents(tapes: TapeBatch, points: np.ndarray):
    nodes = np.flatnonzero(tapes.codes == CONSTANT_CODE)
    tangents = np.empty((len(nodes), *points.shape))
    load_sweeps("forward", "backward", "tangent_forward", "tangent_backward")
    _fill_tangents(
        tapes.codes, tapes.first, tapes.second, tapes.inputs, tapes.numbers, tapes.starts,
        to_blocks(points), len(points), tapes.longest, nodes, tangents,
    )  # fmt: skip
    return nodes, tangents


@numba.njit
def _fill_tangents(
    codes, first, second, inputs, numbers, starts, blocks, n_points, longest, nodes, tangents
):
    n_blocks, n_inputs, width = blocks.shape
    values = np.empty((longest, width))
    adjoints = np.empty((longest, width))
    changes = np.empty((longest, width))
    adjoint_changes = np.empty((longest, width))
    gradient = np.empty((n_inputs, width))
    tape = codes.ctypes, first.ctypes, second.ctypes, inputs.ctypes, numbers.ctypes
    for block in range(n_blocks):
        offset = block * width
        n = min(width, n_points - offset)
        tree = -1
        start = length = 0
        for m in range(nodes.shape[0]):
            while nodes[m] >= starts[tree + 1]:
                tree += 1
                start = starts[tree]
                length = starts[tree + 1] - start
                if nodes[m] < starts[tree + 1]:
                    forward(*tape, start, length, blocks[block].ctypes, n, values.ctypes)
                    backward(
                        *tape,
                        start,
                        length,
                        n,
                        n_inputs,
                        values.ctypes,
                        adjoints.ctypes,
                        gradient.ctypes,
                    )
            which = nodes[m] - start
            tangent_forward(
                *tape, start, length, blocks[block].ctypes, n, which, values.ctypes, changes.ctypes
            )
            tangent_backward(
                *tape,
                start,
                length,
                n,
                n_inputs,
                which,
                values.ctypes,
                adjoints.ctypes,
                changes.ctypes,
                adjoint_changes.ctypes,
                gradient.ctypes,
            )
            for k in range(n):
                for column in range(n_inputs):
                    tangents[m, offset + k, column] = gradient[column, k]
