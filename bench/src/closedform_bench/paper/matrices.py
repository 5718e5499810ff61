"""Experiments 1 to 5: matrices under similarity transformations, as rows of entries."""

import numpy as np

from closedform.arrays import FloatArray

WORST_CONDITION = 10.0
"""Changes of basis with a larger condition number are drawn again: close to singular they make huge
entries.
"""

TRACE = 5.0
"""The trace of every matrix in experiment 2."""


def entry_names(size: int) -> tuple[str, ...]:
    """Names of the entries by rows.

    Examples
    --------
    >>> entry_names(2)
    ('A11', 'A12', 'A21', 'A22')
    """
    return tuple(f"A{row}{column}" for row in range(1, size + 1) for column in range(1, size + 1))


def similar_matrices(n: int, rng: np.random.Generator, *, size: int) -> FloatArray:
    """Experiments 1, 3 and 5: entries uniform in [0, 1], positives C A inverse(C).

    Examples
    --------
    >>> a, p, _ = similar_matrices(1, np.random.default_rng(0), size=2)[0]
    >>> bool(np.isclose(a[0] + a[3], p[0] + p[3]))
    True
    """
    anchor, negative = rng.uniform(0, 1, (2, n, size, size))
    return _triplets(anchor, _in_another_basis(anchor, rng), negative)


def similar_matrices_of_one_trace(n: int, rng: np.random.Generator) -> FloatArray:
    """Experiment 2: 2x2 matrices, entries uniform in [-4, 4], then the diagonal shifted so that
    every trace is `TRACE`.
    """
    anchor, negative = rng.uniform(-4, 4, (2, n, 2, 2))
    for matrices in (anchor, negative):
        matrices += ((TRACE - np.trace(matrices, axis1=1, axis2=2)) / 2)[:, None, None] * np.eye(2)
    return _triplets(anchor, _in_another_basis(anchor, rng), negative)


def antisymmetric_matrices(n: int, rng: np.random.Generator) -> FloatArray:
    """Experiment 4: antisymmetric 3x3 matrices with normal entries, positives in another
    orthonormal basis.
    """
    anchor, negative = np.triu(rng.normal(size=(2, n, 3, 3)), 1)
    for matrices in (anchor, negative):
        matrices -= np.swapaxes(matrices.copy(), 1, 2)
    basis = np.linalg.qr(rng.normal(size=(n, 3, 3)))[0]
    return _triplets(anchor, basis @ anchor @ np.swapaxes(basis, 1, 2), negative)


def _in_another_basis(matrices: FloatArray, rng: np.random.Generator) -> FloatArray:
    change = rng.uniform(-1, 1, matrices.shape)
    while (bad := np.linalg.cond(change) > WORST_CONDITION).any():
        change[bad] = rng.uniform(-1, 1, (int(bad.sum()), *matrices.shape[1:]))
    return change @ matrices @ np.linalg.inv(change)


def _triplets(anchor: FloatArray, positive: FloatArray, negative: FloatArray) -> FloatArray:
    return np.stack([anchor, positive, negative], axis=1).reshape(len(anchor), 3, -1)
