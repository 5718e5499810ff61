"""Near-degenerate data: quantities that hardly vary on them, so that laws cannot be told from
coincidences.

On nearly circular orbits r.v is nearly 0, and so r is nearly conserved. Trajectories of one energy
cannot show that the energy is conserved. Both times some simple function hardly varies on the data,
compared with what its gradients and the spread of the inputs allow.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.field.tangent import TangentSpace
from closedform.laws.motions import differentiated, inside
from closedform.laws.supports import best_supports
from closedform.laws.tolerances import HARDLY
from closedform.searching.space import SearchSpace
from closedform.searching.terms.families import family_library
from closedform.searching.terms.sum_formula import sums, write

MOST_TERMS = 6
N_POINTS = 1500
_STATED = 1e-6
_ACROSS = 1e-12
"""What gradients count across the tangent space, so that none vanishes."""


@dataclass(frozen=True, slots=True)
class Degeneracy:
    """A function that hardly varies on the data.

    Attributes
    ----------
    concept : Expression
    share : float
        Its spread over what its gradients and the spread of the inputs allow.
    """

    concept: Expression
    share: float

    @property
    def sentence(self) -> str:
        """What it means, and what to do."""
        return (
            f"{self.concept} hardly varies in these data ({100 * self.share:.1g}% of what it "
            f"could), so they cannot tell a law from something that holds only at this value. "
            f"Choose initial conditions that give it other values."
        )


def find_degeneracy(
    points: FloatArray,
    names: tuple[str, ...],
    scale: FloatArray,
    rng: np.random.Generator,
    tangent: TangentSpace | None = None,
) -> Degeneracy | None:
    """The simplest quadratic function that hardly varies on the data, if there is one.

    Functions that do not vary at all are no coincidence and do not count, nor do those that vary
    across the stated tangent space only: what is known to be constant varies by noise.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> angle, radius = rng.uniform(0, 6.3, 500), rng.uniform(0.99, 1.01, 500)
    >>> ring = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    >>> found = find_degeneracy(ring, ("x", "y"), ring.std(axis=0), rng)
    >>> print(found.concept)
    x**2 + y**2
    >>> find_degeneracy(rng.normal(size=(500, 2)), ("x", "y"), np.ones(2), rng) is None
    True
    """
    if len(points) > N_POINTS:
        some = rng.choice(len(points), N_POINTS, replace=False)
        points, tangent = points[some], None if tangent is None else tangent.subset(some)
    library = family_library("polynomials", SearchSpace(), names, points, scale, 2)
    values, gradients, kept = differentiated([term.tree for term in library], points, scale)
    if len(kept) < 2:
        return None
    whole = _moments(gradients)
    if tangent is not None:
        whole = _moments(inside(gradients, tangent)) + _ACROSS * whole
    lengths = np.sqrt(np.diagonal(whole))
    whole = whole / lengths / lengths[:, None]
    centred = (values - values.mean(axis=1, keepdims=True)) / lengths[:, None]
    spread = centred @ centred.T / len(points)
    for support in best_supports(spread, whole, MOST_TERMS, per_size=1):
        block = np.ix_(support, support)
        value, vector = eigh(spread[block], whole[block], subset_by_index=[0, 0])
        share = float(np.sqrt(max(value[0], 0.0)))
        if _STATED < share <= HARDLY:
            coefficients = vector[:, 0] / lengths[list(support)]
            option = sums(coefficients, np.abs(vector[:, 0]))[-1]
            trees = [library[kept[k]].tree for k in support]
            return Degeneracy(Expression(write(option, trees), names), share)
    return None


def _moments(gradients: FloatArray) -> FloatArray:
    """Second moments, shape (n_terms, n_terms)."""
    flat = gradients.reshape(len(gradients), -1)
    return flat @ flat.T / gradients.shape[1]
