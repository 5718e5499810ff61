"""A library of terms with all that a search needs to know about it: gradients, moments, lines,
costs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
from closedform.expressions.legality import Legality, addable
from closedform.field.gradient_field import GradientField
from closedform.searching.terms.library import Term
from closedform.searching.terms.moments import Jacobian, Moments, compute_moments, differentiate
from closedform.searching.terms.next_terms import Lines, prepare_lines
from closedform.searching.terms.term_beam import Support

N_MOMENT_POINTS = 400
"""Points of which moments are taken: they say which terms depend on each other and which sums are
perfect.
"""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A library with all that was computed about it.

    Attributes
    ----------
    terms : list of Term
    jacobian : Jacobian
    moments : Moments
    lines : Lines
    costs : ndarray of int64, shape (n_terms,)
    addable : ndarray of bool, shape (n_terms, n_terms), or None
        Which terms units let stand in one sum; None if all may.
    """

    terms: list[Term]
    jacobian: Jacobian
    moments: Moments
    lines: Lines
    costs: NDArray[np.int64]
    addable: NDArray[np.bool_] | None = None

    def groups(self) -> list[NDArray[np.int64]]:
        """Terms that may stand in one sum, as places in the library: all of them without units."""
        if self.addable is None:
            return [np.arange(len(self.terms))]
        return [np.flatnonzero(row) for row in np.unique(self.addable, axis=0)]

    def cost(self, support: Support, join: int) -> int:
        """What the terms of a sum cost, with `join` for each plus between them, without numbers."""
        return int(self.costs[list(support)].sum()) + join * (len(support) - 1)

    def projected(self, support: Support, sample: GradientField) -> tuple[FloatArray, FloatArray]:
        """Gradients of a few terms and the network's directions, in coordinates in which both can
        be compared.
        """
        used, gradients = self.jacobian.dense(support)
        basis, frames = sample.tangent.basis, sample.frames
        if basis is None:
            # Other inputs' components of the gradients are zero.
            return gradients, frames[:, used]
        return np.swapaxes(basis[..., used, :], -1, -2) @ gradients, frames


def prepare(
    terms: Sequence[Term],
    sample: GradientField,
    n_line_points: int,
    legality: Legality | None = None,
) -> Prepared | None:
    """Differentiate a library's terms and take their moments; None if no term varies on the data.

    Parameters
    ----------
    terms : sequence of Term
    sample : GradientField
        The points that the search sees.
    n_line_points : int
        How many of them lines are made of.
    legality : Legality, optional
        What units allow.
    """
    jacobian, finite = differentiate([term.tree for term in terms], sample.points, sample.scale)
    if len(finite) == 0:
        return None
    some = np.unique(
        np.linspace(0, sample.n_points - 1, min(sample.n_points, N_MOMENT_POINTS)).astype(np.int64)
    )
    moments, kept = compute_moments(jacobian.at(some), sample.subset(some))
    if len(kept) == 0:
        return None
    if len(kept) < jacobian.n_terms:
        jacobian = jacobian.select(kept)
    usable = [terms[i] for i in finite[kept]]
    costs = np.array([term.cost for term in usable], dtype=np.int64)
    lines = prepare_lines(jacobian, sample, n_line_points)
    trees = [term.tree for term in usable]
    pairs = None if legality is None else addable(trees, sample.names, legality)
    return Prepared(usable, jacobian, moments, lines, costs, pairs)
