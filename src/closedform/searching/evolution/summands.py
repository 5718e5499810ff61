"""Coefficients of an expression's outermost sum, solved as an eigenproblem instead of fitted step
by step.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
from closedform.expressions.kernel import FINE, ZERO_GRADIENT, values_and_gradients
from closedform.expressions.sums_and_products import scaled_terms
from closedform.expressions.tape import compile_tapes
from closedform.expressions.tree import Tree, apply, constant
from closedform.field.alignment.eigen import fit_coefficients
from closedform.field.alignment.tolerances import LARGEST_FITTED

MAX_TERMS = 8
"""Sums of more terms are left alone: few of them are answers, and small problems give the same bits
everywhere.
"""

NEGLIGIBLE = 1e-7
"""A term whose gradient is smaller than this, relative to the largest, is dropped."""

STEEPEST = 1e50
"""Gradients beyond this are left out: their squares would overflow."""

_EQUAL = 1e-6


@dataclass(frozen=True, slots=True)
class SumSolver:
    """Points and directions on which coefficients are solved.

    Attributes
    ----------
    points : ndarray, shape (n_points, n_inputs)
    frames : ndarray, shape (n_points, n_tangent, k)
    scale : ndarray, shape (n_inputs,)
    tangent : ndarray, shape (n_inputs, n_tangent) or (n_points, n_inputs, n_tangent), or None
    weights : ndarray, shape (n_points,)
    """

    points: FloatArray
    frames: FloatArray
    scale: FloatArray
    tangent: FloatArray | None
    weights: FloatArray

    def solve(self, tree: Tree) -> Tree | None:
        """The sum of the same terms with the coefficients of least misalignment; None if it is no
        sum of a few terms.

        The first term has the coefficient 1: an overall factor does not matter.
        """
        terms = summands(tree)
        if not 2 <= len(terms) <= MAX_TERMS:
            return None
        # Steep terms and terms of vanishing slope overflow here; what is not finite in the end is
        # dropped.
        with np.errstate(all="ignore"):
            jacobians, fine = self._jacobians(terms)
            if fine.mean() < 0.5:
                return None
            try:
                found = fit_coefficients(jacobians[fine], self.frames[fine], self.weights[fine])
            except np.linalg.LinAlgError:
                return None
        kept = np.flatnonzero((found.shares > NEGLIGIBLE) & np.isfinite(found.coefficients))
        if len(kept) == 0:
            return None
        total = terms[kept[0]]
        for index in kept[1:]:
            ratio = float(found.coefficients[index] / found.coefficients[kept[0]])
            if not abs(ratio) <= LARGEST_FITTED:
                return None
            total = _add(total, ratio, terms[index])
        return total

    def _jacobians(self, terms: list[Tree]) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Gradients of the terms in scaled tangent coordinates, shape (n_points, n_tangent,
        n_terms); and where to use them.
        """
        _, gradients, status = values_and_gradients(compile_tapes(terms), self.points)
        scaled = np.moveaxis(gradients * self.scale, 0, 2)
        fine = np.all(np.isin(status, (FINE, ZERO_GRADIENT)), axis=0) & np.all(
            np.abs(scaled) < STEEPEST, axis=(1, 2)
        )
        return scaled if self.tangent is None else np.swapaxes(
            self.tangent, -1, -2
        ) @ scaled, np.asarray(fine)


def summands(tree: Tree) -> list[Tree]:
    """The different terms of an outermost sum, without their signs and constant factors.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> [term.size for term in summands(parse("x - (3*sin(y) + 2 - x)", names=["x", "y"]).tree)]
    [1, 2]
    """
    return list(dict.fromkeys(term for _, term in scaled_terms(tree)))


def _add(total: Tree, coefficient: float, term: Tree) -> Tree:
    name, size = ("sub", -coefficient) if coefficient < 0 else ("add", coefficient)
    return apply(
        name, total, term if abs(size - 1) < _EQUAL else apply("mul", constant(size), term)
    )
