"""Misalignments of many trees, and Levenberg-Marquardt on their constants, compiled.

With u the tangential gradient of a tree and Q the field's directions, the residual at a point is r
= (1 - Q Q^T) u/|u|, whose squared length is the misalignment there. Its change with a constant
follows from that of the gradient (``sweeps``); all inner products that the normal equations need
are formed from Q^T u and u alone.
"""

import numpy as np

from closedform.basics.compiled import compiled, compiled_part
from closedform.expressions.sweeps import backward, forward, tangent_backward, tangent_forward
from closedform.field.alignment.tolerances import LARGEST_FITTED, MOST_FITTED, ZERO_SHARE


@compiled
def fit_and_judge(
    codes, first, second, inputs, numbers, starts, longest, blocks, concept, tangent, scale,
    weights, n_points,
    iterations, free, give_up, result,
):  # fmt: skip
    """Write misalignments and bad shares to ``result``, and fitted constants to ``numbers``."""
    _, n_inputs, width = blocks.shape
    values = np.empty((longest, width))
    adjoints = np.empty((longest, width))
    changes = np.empty((longest, width))
    adjoint_changes = np.empty((longest, width))
    gradient = np.empty((n_inputs, width))
    work = np.empty((3, width))
    n_tangent = tangent.shape[1] if tangent.shape[1] > 0 else n_inputs
    coordinates = np.empty((MOST_FITTED + 1, n_tangent, width))
    components = np.empty((MOST_FITTED + 1, concept.shape[1], width))
    nodes = np.empty(MOST_FITTED, np.int64)
    old = np.empty(MOST_FITTED)
    tape = codes.ctypes, first.ctypes, second.ctypes, inputs.ctypes, numbers.ctypes
    for tree in range(starts.shape[0] - 1):
        start = starts[tree]
        length = starts[tree + 1] - start
        current, bad = _judge_tree(
            codes, first, second, inputs, numbers, start, length, blocks, concept, tangent, scale,
            weights, n_points, give_up,
            values, adjoints, gradient, coordinates[0], components[0], work,
        )  # fmt: skip
        # A plain 0 is a type of its own, for which all that takes it would be compiled again.
        count = np.int64(0)
        for i in range(length):
            if free[start + i] and count < MOST_FITTED:
                nodes[count] = i
                count += 1
        damping = 1e-3
        for _ in range(iterations[tree] if count > 0 and bad < 0.5 else 0):
            hessian = np.zeros((count, count))
            slope = np.zeros(count)
            for block in range(blocks.shape[0]):
                n = min(width, n_points - block * width)
                forward(*tape, start, length, blocks[block].ctypes, n, values.ctypes)
                backward(
                    *tape, start, length, n, n_inputs, values.ctypes, adjoints.ctypes,
                    gradient.ctypes,
                )  # fmt: skip
                rows = tangent[block if tangent.shape[0] > 1 else 0]
                _apply(gradient, rows, scale, n, coordinates[0])
                _multiply(gradient, concept[block], n, components[0])
                for m in range(count):
                    tangent_forward(
                        *tape, start, length, blocks[block].ctypes, n, nodes[m], values.ctypes,
                        changes.ctypes,
                    )  # fmt: skip
                    tangent_backward(
                        *tape, start, length, n, n_inputs, nodes[m], values.ctypes,
                        adjoints.ctypes, changes.ctypes, adjoint_changes.ctypes, gradient.ctypes,
                    )  # fmt: skip
                    _apply(gradient, rows, scale, n, coordinates[m + 1])
                    _multiply(gradient, concept[block], n, components[m + 1])
                _accumulate(
                    coordinates, components, weights[block], values[length - 1], n, count,
                    hessian, slope,
                )  # fmt: skip
            improved = False
            new = current
            new_bad = bad
            for m in range(count):
                old[m] = numbers[start + nodes[m]]
            for _ in range(4):
                step = _solve(hessian, slope, damping)
                inside = True
                for m in range(count):
                    numbers[start + nodes[m]] = old[m] + step[m]
                    inside = inside and abs(old[m] + step[m]) <= LARGEST_FITTED
                new = 2.0
                if inside:
                    new, new_bad = _judge_tree(
                        codes, first, second, inputs, numbers, start, length, blocks, concept,
                        tangent, scale, weights,
                        n_points, give_up, values, adjoints, gradient, coordinates[0],
                        components[0], work,
                    )  # fmt: skip
                if new < current:
                    improved = True
                    break
                damping = max(damping * 10.0, 1e-3)
            if not improved:
                for m in range(count):
                    numbers[start + nodes[m]] = old[m]
                break
            gain = (current - new) / current
            current, bad = new, new_bad
            damping = max(damping * 0.1, 1e-9)
            if gain < 1e-4 or current < 1e-14:
                break
        result[0, tree] = current
        result[1, tree] = bad


@compiled_part
def _judge_tree(
    codes, first, second, inputs, numbers, start, length, blocks, concept, tangent, scale, weights,
    n_points, give_up,
    values, adjoints, gradient, coordinates, components, work,
):  # fmt: skip
    """Misalignment of one tree and its share of bad points; the last arguments are work space."""
    width = blocks.shape[2]
    total, norm, aligned = work[0], work[1], work[2]
    tape = codes.ctypes, first.ctypes, second.ctypes, inputs.ctypes, numbers.ctypes
    lost = 0.0
    bad = 0.0
    undefined = 0.0
    for block in range(blocks.shape[0]):
        n = min(width, n_points - block * width)
        forward(*tape, start, length, blocks[block].ctypes, n, values.ctypes)
        undefined += _undefined_weight(values[length - 1], weights[block], n)
        if undefined > give_up:
            return 1.0, 1.0
        backward(
            *tape, start, length, n, blocks.shape[1], values.ctypes, adjoints.ctypes,
            gradient.ctypes,
        )  # fmt: skip
        _squared_norm(gradient, scale, n, total)
        _multiply(gradient, concept[block], n, components)
        _squared_length(components, n, aligned)
        if tangent.shape[1] > 0:
            rows = tangent[block if tangent.shape[0] > 1 else 0]
            _multiply(gradient, rows, n, coordinates)
            _squared_length(coordinates, n, norm)
        else:
            for point in range(n):
                norm[point] = total[point]
        block_lost, block_bad = _add_up(values[length - 1], total, norm, aligned, weights[block], n)
        lost += block_lost
        bad += block_bad
    return lost, bad


@compiled_part
def _undefined_weight(values, weights, n):
    """Weight of the points at which the value is not finite."""
    weight = 0.0
    for k in range(n):
        weight += weights[k] * (0.0 if values[k] - values[k] == 0.0 else 1.0)
    return weight


@compiled_part
def _squared_norm(gradient, scale, n, out):
    """Squared norm of the scaled gradient at each point."""
    for k in range(n):
        out[k] = 0.0
    for column in range(gradient.shape[0]):
        row = gradient[column]
        factor = scale[column] * scale[column]
        for k in range(n):
            out[k] += factor * row[k] * row[k]


@compiled_part
def _squared_length(rows, n, out):
    """Sum of the rows' squares at each point."""
    for k in range(n):
        out[k] = 0.0
    for m in range(rows.shape[0]):
        for k in range(n):
            out[k] += rows[m, k] * rows[m, k]


@compiled_part
def _add_up(values, total, norm, aligned, weights, n):
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


@compiled_part
def _apply(gradient, rows, scale, n, out):
    """Tangential coordinates of a gradient; without a tangent space the scaled gradient itself."""
    if rows.shape[0] > 0:
        _multiply(gradient, rows, n, out)
    else:
        for column in range(gradient.shape[0]):
            for k in range(n):
                out[column, k] = scale[column] * gradient[column, k]


@compiled_part
def _multiply(gradient, rows, n, out):
    """Rows times gradient at each point; rows have one entry for all points or one for each."""
    for m in range(rows.shape[0]):
        for k in range(n):
            out[m, k] = 0.0
        for column in range(gradient.shape[0]):
            if rows.shape[2] == 1:
                factor = rows[m, column, 0]
                for k in range(n):
                    out[m, k] += factor * gradient[column, k]
            else:
                for k in range(n):
                    out[m, k] += rows[m, column, k] * gradient[column, k]


@compiled_part
def _accumulate(coordinates, components, weights, values, n, count, hessian, slope):
    """Add a block to the normal equations.

    With P = 1 - Q Q^T and e = u/|u|, the residual P e changes with a constant by P (du - e (e.du))
    / |u|. P is a projection, so inner products of such changes are those of du - e (e.du) without
    those of their components along Q.
    """
    n_tangent = coordinates.shape[1]
    rank = components.shape[1]
    along = np.empty(count)
    for k in range(n):
        norm = 0.0
        for t in range(n_tangent):
            norm += coordinates[0, t, k] * coordinates[0, t, k]
        if not (norm > 0.0 and norm < 1e200 and values[k] - values[k] == 0.0) or weights[k] == 0.0:
            continue
        share = 0.0
        for q in range(rank):
            share += components[0, q, k] * components[0, q, k]
        if not share <= norm * (1.0 + ZERO_SHARE):
            share = norm
        finite = True
        for a in range(count):
            product = 0.0
            for t in range(n_tangent):
                product += coordinates[0, t, k] * coordinates[a + 1, t, k]
            along[a] = product / norm
            finite = finite and abs(product) < 1e150
        if not finite:
            continue
        weight = weights[k] / norm
        for a in range(count):
            inner = 0.0
            for q in range(rank):
                inner += components[0, q, k] * (
                    components[a + 1, q, k] - components[0, q, k] * along[a]
                )
            slope[a] += weight * inner
            for b in range(a + 1):
                full = 0.0
                for t in range(n_tangent):
                    full += coordinates[a + 1, t, k] * coordinates[b + 1, t, k]
                full -= along[a] * along[b] * norm
                for q in range(rank):
                    part_a = components[a + 1, q, k] - components[0, q, k] * along[a]
                    part_b = components[b + 1, q, k] - components[0, q, k] * along[b]
                    full -= part_a * part_b
                hessian[a, b] += weight * full
                if a != b:
                    hessian[b, a] += weight * full


@compiled_part
def _solve(hessian, slope, damping):
    """The damped step; zero where the equations give none."""
    count = slope.shape[0]
    matrix = hessian.copy()
    for a in range(count):
        matrix[a, a] = hessian[a, a] * (1.0 + damping) + 1e-12
    lower = np.zeros((count, count))
    for a in range(count):
        for b in range(a + 1):
            total = matrix[a, b]
            for c in range(b):
                total -= lower[a, c] * lower[b, c]
            if a == b:
                if not total > 1e-18:
                    return np.zeros(count)
                lower[a, a] = np.sqrt(total)
            else:
                lower[a, b] = total / lower[b, b]
    step = np.zeros(count)
    for a in range(count):
        total = slope[a]
        for b in range(a):
            total -= lower[a, b] * step[b]
        step[a] = total / lower[a, a]
    for a in range(count - 1, -1, -1):
        total = step[a]
        for b in range(a + 1, count):
            total -= lower[b, a] * step[b]
        step[a] = total / lower[a, a]
    return step
