"""Whether what was found is a function of the invariants: ranks of gradients decide, never the
spelling.
"""

from collections.abc import Sequence

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.field.tangent import TangentSpace, constraint_tangent
from closedform.field.tangent_space import robust_spread

FUNCTION = 1e-3
"""A concept is a function of the invariants if less than this share of its directions lies outside
theirs.
"""

INDEPENDENT = 1e-3
"""Concepts are independent while the smallest singular value of their unit gradients is typically
above this.
"""


def outside(
    concepts: Sequence[Expression],
    truths: Sequence[Expression],
    points: FloatArray,
    constraints: Sequence[str] = (),
) -> FloatArray:
    """For each concept the share of its directions that lies outside those of the truths, inside
    the data's tangent space.

    Parameters
    ----------
    concepts, truths : sequence of Expression
        Of the same inputs.
    points : ndarray, shape (n_points, n_inputs)
    constraints : sequence of str
        What is constant on the data.

    Returns
    -------
    ndarray, shape (n_concepts,)
        1 for a concept that has no finite gradient somewhere, or for all without truths.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> points = np.random.default_rng(0).uniform(1, 2, (50, 2))
    >>> truth, *found = (parse(text, ["x", "y"]) for text in ("x*y", "log(x) + log(y)", "x + y"))
    >>> outside(found, [truth], points).round(3)
    array([0.   , 0.019])
    """
    if not truths:
        return np.ones(len(concepts))
    spans = np.linalg.svd(unit_gradients(truths, points, constraints), full_matrices=False)[0]
    shares = np.ones(len(concepts))
    for place, concept in enumerate(concepts):
        units = unit_gradients([concept], points, constraints)[:, :, 0]
        inside = (np.einsum("nrk,nr->nk", spans, units) ** 2).sum(axis=1)
        shares[place] = 1 - inside.mean() if np.isfinite(inside).all() else 1.0
    return shares


def count_independent(
    concepts: Sequence[Expression], points: FloatArray, constraints: Sequence[str] = ()
) -> int:
    """How many of the concepts are independent of each other, and of what is constant.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> points = np.random.default_rng(0).uniform(1, 2, (50, 3))
    >>> count_independent(
    ...     [parse(text, ["x", "y", "z"]) for text in ("x*y", "log(x) + log(y)", "z")], points
    ... )
    2
    """
    if not concepts:
        return 0
    sizes = np.linalg.svd(unit_gradients(concepts, points, constraints), compute_uv=False)
    return int(np.median((sizes > INDEPENDENT).sum(axis=1)))


def unit_gradients(
    expressions: Sequence[Expression], points: FloatArray, constraints: Sequence[str] = ()
) -> FloatArray:
    """Gradients of unit length in scaled tangent coordinates, shape (n_points, r,
    n_expressions).
    """
    scale, n_inputs = robust_spread(points), points.shape[1]
    names = expressions[0].names
    tangent = (
        constraint_tangent(points, scale, constraints, names)
        if constraints
        else TangentSpace("none", n_inputs)
    )
    gradients = np.stack(
        [expression.rename(names).gradient(points) for expression in expressions], axis=2
    )
    columns = tangent.coordinates(gradients, scale)
    with np.errstate(all="ignore"):
        return columns / np.linalg.norm(columns, axis=1, keepdims=True)
