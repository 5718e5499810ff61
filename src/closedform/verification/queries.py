"""Ask the network itself where two formulas point most differently."""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.spatial import KDTree

from closedform.alignment.misalignment import trimmed_mean
from closedform.alignment.scores import field_misalignment
from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.keywords import KeywordError
from closedform.verification.same_form import points_apart

Query = Callable[[FloatArray], FloatArray]
"""From points (n_points, n_inputs) to the network's gradients there, of the same shape."""

N_PROBES, N_ASKED = 4000, 300

REFUTED = 2.0
"""How many times worse a formula is where the two differ most before it is refuted: there, at the
data's edge, a network's own error is larger than elsewhere."""


def refuted(
    query: Query,
    concept: Expression,
    rivals: Sequence[Expression],
    field: GradientField,
    rng: np.random.Generator,
) -> list[bool]:
    """Which rivals the network tells from the concept, at new points among the data.

    Parameters
    ----------
    query : callable
    concept : Expression
    rivals : sequence of Expression
    field : GradientField
        Without a tangent space: points on a curved surface cannot be drawn.
    rng : Generator
    """
    if field.tangent.basis is not None or field.rank > 1:
        return [False] * len(rivals)
    probes = _among(field, rng)
    if len(probes) < N_ASKED:
        return [False] * len(rivals)
    plain = GradientField.from_arrays(
        probes, np.ones_like(probes), names=list(field.names), tangent="none"
    )
    found = []
    for rival in rivals:
        places = np.sort(np.argsort(-points_apart(concept, rival, plain))[:N_ASKED])
        asked = GradientField.from_arrays(
            probes[places], _asked(query, probes[places]), names=list(field.names), tangent="none"
        )
        mine, theirs = (
            trimmed_mean(field_misalignment(formula, asked), asked.weights)
            for formula in (concept, rival)
        )
        found.append(theirs > REFUTED * mine)
    return found


def _among(field: GradientField, rng: np.random.Generator) -> FloatArray:
    """Points of the data's box that are as near to the data as its own points are to each other."""
    data = field.points[field.weights > 0]
    probes = rng.uniform(data.min(axis=0), data.max(axis=0), (N_PROBES, data.shape[1]))
    tree = KDTree(data / field.scale)
    typical = np.quantile(tree.query(data / field.scale, k=2)[0][:, 1], 0.9)
    return probes[tree.query(probes / field.scale)[0] <= typical]


def _asked(query: Query, points: FloatArray) -> FloatArray:
    gradients = np.asarray(query(points), dtype=np.float64)
    if gradients.shape != points.shape:
        raise KeywordError(
            f"query returned an array of shape {gradients.shape} for points of shape "
            f"{points.shape}; it must return a gradient for each point."
        )
    return gradients
