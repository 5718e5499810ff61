"""Groups that act on points: similarity, rotations, SL(2) on forms, Moebius maps, and walks on
level sets.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.polynomial import polynomial

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform_bench.invariants.system import Move

STRETCH = 0.35
"""Spread of the generators of maps that stretch: with larger ones a few huge entries would decide
everything.
"""


def substitutions(n: int, rng: np.random.Generator) -> FloatArray:
    """2x2 matrices of determinant 1, shape (n, 2, 2): exponentials of random matrices without a
    trace.

    Examples
    --------
    >>> bool(np.allclose(np.linalg.det(substitutions(3, np.random.default_rng(0))), 1))
    True
    """
    a, b, c = STRETCH * rng.normal(size=(3, n))
    root = np.sqrt((a * a + b * c).astype(complex))
    # The exponential of X is cosh(s) + sinh(s)/s X with s^2 = -det X, a real number also where s is
    # not.
    along, across = np.cosh(root).real, np.sinc(root / (1j * np.pi)).real
    return np.stack(
        [along + across * a, across * b, across * c, along - across * a], axis=1
    ).reshape(n, 2, 2)


def changes_of_basis(n: int, size: int, rng: np.random.Generator) -> FloatArray:
    """Matrices of determinant 1 up to a sign, shape (n, size, size): a rotation, stretches along
    the axes, a rotation.
    """
    stretches = STRETCH * rng.normal(size=(n, size))
    stretches -= stretches.mean(axis=1, keepdims=True)
    return rotations(n, size, rng) @ (np.exp(stretches)[:, :, None] * rotations(n, size, rng))


def rotations(n: int, size: int, rng: np.random.Generator) -> FloatArray:
    """Rotations, shape (n, size, size)."""
    matrices = np.linalg.qr(rng.normal(size=(n, size, size)))[0]
    matrices[:, :, 0] *= np.sign(np.linalg.det(matrices))[:, None]
    return matrices


def similarity(size: int) -> Move:
    """Matrices, as rows of entries, in another basis."""

    def move(points: FloatArray, rng: np.random.Generator) -> FloatArray:
        change = changes_of_basis(len(points), size, rng)
        return (change @ points.reshape(-1, size, size) @ np.linalg.inv(change)).reshape(
            points.shape
        )

    return move


def antisymmetric_rotation(size: int) -> Move:
    """Antisymmetric matrices, as their entries above the diagonal, turned."""
    above = tuple(np.array(list(combinations(range(size), 2))).T)

    def move(points: FloatArray, rng: np.random.Generator) -> FloatArray:
        matrices = np.zeros((len(points), size, size))
        matrices[:, above[0], above[1]] = points
        turn = rotations(len(points), size, rng)
        return (turn @ (matrices - matrices.swapaxes(1, 2)) @ turn.swapaxes(1, 2))[
            :, above[0], above[1]
        ]

    return move


def binary_form(points: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Coefficients of a x^n + b x^(n-1) y + ..., after a substitution of determinant 1."""
    degree = points.shape[1] - 1
    maps = substitutions(len(points), rng)
    moved = np.zeros_like(points)
    for row, ((a, b), (c, d)) in enumerate(maps):
        for place in range(degree + 1):
            product = polynomial.polymul(
                polynomial.polypow([a, b], degree - place), polynomial.polypow([c, d], place)
            )
            moved[row, : len(product)] += points[row, place] * product
    return moved


def moebius(points: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Points on a line under x -> (a x + b)/(c x + d)."""
    maps = substitutions(len(points), rng)
    above = maps[:, 0, :1] * points + maps[:, 0, 1:]
    return above / (maps[:, 1, :1] * points + maps[:, 1, 1:])


def weighted_scaling(weights: Sequence[int], largest: float = 1.3) -> Move:
    """Each input times a power of one random factor."""

    def move(points: FloatArray, rng: np.random.Generator) -> FloatArray:
        factor = np.exp(rng.uniform(-np.log(largest), np.log(largest), (len(points), 1)))
        return points * factor ** np.asarray(weights)

    return move


def two_unitaries(points: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Complex 2x2 matrices, as real and imaginary parts by turns, between two matrices of SU(2)."""
    matrices = (points[:, ::2] + 1j * points[:, 1::2]).reshape(-1, 2, 2)
    moved = (_unitaries(len(points), rng) @ matrices @ _unitaries(len(points), rng)).reshape(-1, 4)
    return np.stack([moved.real, moved.imag], axis=2).reshape(points.shape)


def _unitaries(n: int, rng: np.random.Generator) -> np.ndarray:
    parts = rng.normal(size=(n, 4))
    a, b, c, d = (parts / np.linalg.norm(parts, axis=1, keepdims=True)).T
    return np.stack([a + 1j * b, c + 1j * d, -c + 1j * d, a - 1j * b], axis=1).reshape(n, 2, 2)


def three_substitutions(points: FloatArray, rng: np.random.Generator) -> FloatArray:
    """2x2x2 tensors under a matrix of determinant 1 for each index."""
    maps = [substitutions(len(points), rng) for _ in range(3)]
    tensors = points.reshape(-1, 2, 2, 2)
    return np.einsum("nai,nbj,nck,nijk->nabc", *maps, tensors).reshape(points.shape)


def level_set_walk(function: Expression, step: float = 0.4, n_steps: int = 6) -> Move:
    """A random walk along the level sets of a function: steps along the tangent plane, each brought
    back by Newton's method.
    """

    def move(points: FloatArray, rng: np.random.Generator) -> FloatArray:
        level, places = function(points), points.copy()
        for _ in range(n_steps):
            slopes = function.gradient(places)
            normal = slopes / np.linalg.norm(slopes, axis=1, keepdims=True)
            steps = step * rng.normal(size=places.shape)
            tried = places + steps - (steps * normal).sum(axis=1, keepdims=True) * normal
            with np.errstate(all="ignore"):
                for _ in range(20):
                    slopes = function.gradient(tried)
                    tried = (
                        tried
                        - ((function(tried) - level) / (slopes**2).sum(axis=1))[:, None] * slopes
                    )
                fine = np.isfinite(tried).all(axis=1) & (
                    np.abs(function(tried) - level) < 1e-10 * (1 + np.abs(level))
                )
            places = np.where(fine[:, None], tried, places)
        return places

    return move
