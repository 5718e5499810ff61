"""Quotients of polynomials in an exact field, by linear algebra.

The gradient of N/D is along V = D*grad(N) - N*grad(D). So first the polynomials V of least degree
that lie along the field are found, from one null space: multiples of V have a higher degree. As
V/D**2 is a gradient, D*curl(V) = 2*grad(D) x V: D and N, which may take its place, are the null
space of these equations. Where N has a repeated factor, such as x**2, V is found without x, and
x*V/D**2 is the gradient.
"""

from itertools import combinations

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.tree import Tree
from closedform.searching.structure_search.quantities import Data, State, substitute
from closedform.searching.structure_search.quotients import Side, written_quotient

HIGHEST, HIGHEST_SIDE = (8, 8, 7, 5), 4
"""Degrees of N*D by the number of quantities, from two on, and of N and D."""

NULL, APART, FILLED = 1e-10, 1e-3, 1e-5
"""A singular value that is none, as a share of the largest, and of the next one; and a coefficient
that is one, as a share of the largest."""

MOST_REPEATED = 2
"""Degree of the monomial whose square is tried as a factor of N."""

TWICE = 2
"""So many times as many points as monomials are needed, and twice as many are taken."""


def exact_quotients(data: Data, state: State) -> list[Tree]:
    """The quotient of polynomials of least degree that has the field's directions, as a tree over
    the inputs, if there is one.
    """
    if not 2 <= state.size < 2 + len(HIGHEST):
        return []
    values = np.stack([quantity.values for quantity in state.quantities], axis=1)
    sizes = np.abs(values).max(axis=0)
    lengths = np.stack([quantity.lengths for quantity in state.quantities], axis=1)
    points = values / sizes
    slopes = state.slopes / lengths * sizes
    slopes = slopes / np.linalg.norm(slopes, axis=1, keepdims=True)
    usable = np.isfinite(slopes).all(axis=1) & (data.weights > 0)
    points, slopes = points[usable], slopes[usable]
    for degree in range(2, HIGHEST[state.size - 2] + 1):
        vector = _along(points, slopes, degree)
        if vector is not None:
            powers = _powers(state.size, min(degree, HIGHEST_SIDE))
            sides = _sides(points[: TWICE * len(powers)], powers, vector, degree)
            if sides is None:
                return []
            tree = written_quotient(sides, [*powers], values, sizes)
            parts = [quantity.tree for quantity in state.quantities]
            return [] if tree.is_constant else [substitute(tree, parts)]
    return []


def _powers(count: int, degree: int) -> np.ndarray:
    """Exponents up to a degree."""
    every = np.indices((degree + 1,) * count).reshape(count, -1).T
    return every[every.sum(axis=1) <= degree]


def _monomials(points: FloatArray, powers: np.ndarray) -> tuple[FloatArray, FloatArray]:
    """Values (n_points, n_monomials), and gradients (n_points, n_monomials, n_quantities)."""
    values = np.prod(points[:, None, :] ** powers, axis=2)
    gradients = np.empty((*values.shape, points.shape[1]))
    for place in range(points.shape[1]):
        lower = powers - np.eye(points.shape[1], dtype=int)[place]
        with_one = np.prod(points[:, None, :] ** np.maximum(lower, 0), axis=2)
        gradients[:, :, place] = powers[:, place] * with_one
    return values, gradients


def _along(points: FloatArray, slopes: FloatArray, degree: int) -> FloatArray | None:
    """Coefficients of the one polynomial vector of this degree, less one, that lies along the
    slopes.
    """
    count = points.shape[1]
    powers = _powers(count, degree - 1)
    few = slice(None, None, max(len(points) // (TWICE * TWICE * len(powers)), 1))
    values, own = _monomials(points[few], powers)[0], slopes[few]
    across = np.eye(count) - own[:, :, None] * own[:, None, :]
    rows = (across[:, :, None, :] * values[:, None, :, None]).reshape(-1, count * len(powers))
    found = _null_space(rows, 1, len(values) * (count - 1))
    return None if found is None else found[0].reshape(len(powers), count)


def _sides(
    points: FloatArray, powers: np.ndarray, vector: FloatArray, degree: int
) -> tuple[Side, Side] | None:
    """Numerator and denominator, with the fewest monomials, from the vector along
    D**2*grad(N/D).
    """
    values, gradients = _monomials(points, _powers(points.shape[1], degree - 1))
    own = values @ vector
    slopes = np.einsum("nkj,ki->nij", gradients, vector)  # of component i by input j
    values, gradients = _monomials(points, powers)
    factors = _powers(points.shape[1], MOST_REPEATED)
    for factor in sorted(factors, key=np.sum):
        with np.errstate(divide="ignore", invalid="ignore"):
            rates = factor / points
        rows = np.concatenate(
            [
                values * (slopes[:, j, i] + rates[:, i] * own[:, j])[:, None]
                - values * (slopes[:, i, j] + rates[:, j] * own[:, i])[:, None]
                - 2 * (gradients[:, :, i] * own[:, j, None] - gradients[:, :, j] * own[:, i, None])
                for i, j in combinations(range(points.shape[1]), 2)
            ]
        )
        plane = _null_space(rows, 2, len(rows))
        if plane is not None:
            return _sparsest(plane)
    return None


def _sparsest(plane: FloatArray) -> tuple[Side, Side] | None:
    """The pair of fewest monomials: any two of the plane's polynomials have the same directions,
    so each pair of monomials stands on one side alone in turn.
    """
    best: tuple[int, FloatArray, np.ndarray] | None = None
    for pair in combinations(range(plane.shape[1]), 2):
        corner = plane[:, pair]
        if abs(np.linalg.det(corner)) > FILLED * np.abs(corner).max() ** 2 > 0:
            sides = np.asarray(np.linalg.solve(corner, plane), dtype=np.float64)
            filled = np.abs(sides) > FILLED * np.abs(sides).max(axis=1, keepdims=True)
            if best is None or filled.sum() < best[0]:
                best = int(filled.sum()), sides, filled
    if best is None:
        return None
    above, below = (
        {int(k): float(values[k]) for k in np.flatnonzero(filled)}
        for values, filled in zip(*best[1:], strict=True)
    )
    return above, below


def _null_space(rows: FloatArray, count: int, rank: int) -> FloatArray | None:
    """The vectors that rows of at most a rank are orthogonal to, if they are so many."""
    lengths = np.sqrt((rows**2).sum(axis=0))
    if not lengths.all() or not np.isfinite(lengths).all() or rank < rows.shape[1]:
        return None
    _, values, vectors = np.linalg.svd(np.linalg.qr(rows / lengths, mode="r"))
    is_none = values[-count] < NULL * values[0] and values[-count] < APART * values[-count - 1]
    return vectors[-count:] / lengths if is_none else None
