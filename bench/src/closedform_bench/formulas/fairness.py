"""Which drawn formulas are fair problems, and which are what their class promises: checks on the
gradients, so that phi, a function of the whole, never matters.
"""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

import closedform as cf
from closedform.arrays import FloatArray
from closedform.expressions.tree import Tree, arity
from closedform_bench.formulas.problem import Problem

N_POINTS = 4000

LARGEST = 1e6
"""Largest value of a drawn formula."""

LEAST_SHARE = 1e-3
"""An input matters if it has this share of the mean squared slope; less could not be seen."""

STEEPEST = 1e3
"""Largest slope, relative to the median: a pole in the data is no fair problem."""

SEEN_DEGREES = 5.0
"""Every part of a form turns its directions by more than this: a network that carries the truth may
be off by 4 degrees, noise is 1.
"""

SEEN_POINTS = 0.1
"""At this share of the points: a branch that is taken less often is not missed by a formula that
lacks it.
"""

UNEQUAL = 1e-3
"""Products of slopes that differ by more than this share of their size differ; rounding is far
below.
"""


def is_fair(problem: Problem) -> bool:
    """Finite everywhere, and every input that occurs has a slope that can be seen."""
    points, formula = problem.points(N_POINTS, np.random.default_rng(0)), problem.formula()
    with np.errstate(all="ignore"):
        values, slopes = formula(points), formula.gradient(points) * points.std(axis=0)
        sizes = np.linalg.norm(slopes, axis=1)
    if not (np.isfinite(values).all() and np.isfinite(sizes).all()):
        return False
    if np.abs(values).max() > LARGEST or sizes.max() > STEEPEST * np.median(sizes):
        return False
    return bool(slope_shares(slopes)[sorted(formula.tree.variables)].min() > LEAST_SHARE)


def slope_shares(slopes: FloatArray) -> FloatArray:
    """Each input's mean squared slope (of scaled inputs), relative to the mean of all inputs."""
    return (slopes**2).mean(axis=0) / (slopes**2).mean()


def is_separable(problem: Problem) -> bool:
    """Whether a formula is a function of a sum (or product) of two parts with separate inputs.

    Of such a sum a(p) + b(q), the ratio of two slopes in p does not depend on q, nor that of two in
    q on p; and the ratio of a slope in p and one in q is a product of a function of p and one of q,
    so that a double ratio at the corners (p, q), (p', q), (p, q') and (p', q') is one.

    Examples
    --------
    >>> ranges = {"x": (1.0, 2.0), "y": (1.0, 2.0), "z": (1.0, 2.0)}
    >>> [is_separable(Problem("", t, ranges)) for t in ("exp(x*y)*sin(z)", "x*y + y*z + x*z")]
    [True, False]
    """
    count, places = len(problem.names), range(len(problem.names))
    return any(
        _splits(problem, [0, *others])
        for size in range(count - 1)
        for others in combinations(places[1:], size)
    )


def has_needless_part(problem: Problem) -> bool:
    """Whether a formula that is one step simpler has the same directions: an operator and all but
    one of its operands left out.

    Examples
    --------
    >>> ranges = {"x": (1.0, 2.0), "y": (1.0, 2.0)}
    >>> texts = ("log(1 + x**y)", "x + 0.01*sin(y) + y", "x**2 + sin(x*y)")
    >>> [has_needless_part(Problem("", text, ranges)) for text in texts]
    [True, True, False]
    """
    points = problem.points(N_POINTS // 4, np.random.default_rng(0))
    formula, scale = problem.formula(), points.std(axis=0)
    truth = _unit(formula.gradient(points) * scale)
    with np.errstate(all="ignore"):
        for tree in _one_step_simpler(formula.tree):
            other = _unit(cf.Expression(tree, formula.names).gradient(points) * scale)
            sines = 1 - np.clip((truth * other).sum(axis=1) ** 2, 0, 1)
            angles = np.degrees(np.arcsin(np.sqrt(np.where(np.isfinite(sines), sines, 1.0))))
            if (angles > SEEN_DEGREES).mean() < SEEN_POINTS:
                return True
    return False


def _splits(problem: Problem, first: list[int]) -> bool:
    rng, formula = np.random.default_rng(0), problem.formula()
    here, there = problem.points(N_POINTS // 4, rng), problem.points(N_POINTS // 4, rng)
    same_first, same_second = there.copy(), here.copy()  # as here
    same_first[:, first], same_second[:, first] = here[:, first], there[:, first]
    at, far, left, right = (
        _unit(formula.gradient(points) * here.std(axis=0)).T
        for points in (here, there, same_first, same_second)
    )
    second = [place for place in range(len(problem.names)) if place not in first]
    return (
        all(_equal(at[i] * left[j], at[j] * left[i]) for i, j in combinations(first, 2))
        and all(_equal(at[i] * right[j], at[j] * right[i]) for i, j in combinations(second, 2))
        and all(
            _equal(at[i] * far[i] * left[j] * right[j], at[j] * far[j] * left[i] * right[i])
            for i in first
            for j in second
        )
    )


def _equal(one: FloatArray, other: FloatArray) -> bool:
    size = np.abs(one).sum() + np.abs(other).sum()
    return bool(np.abs(one - other).sum() <= UNEQUAL * size)


def _one_step_simpler(tree: Tree) -> Iterator[Tree]:
    """Every tree in which one operator is replaced by one of its operands that has inputs; plain
    factors stay, as they only weigh.
    """
    for end, token in enumerate(tree.tokens):
        part = _part_that_ends(tree, end)
        has_number = any(child.is_constant for child in part.children)
        if arity(token) == 0 or token == "neg" or (token in ("mul", "div") and has_number):
            continue
        for child in part.children:
            whole = (*tree.tokens[: end + 1 - part.size], *child.tokens, *tree.tokens[end + 1 :])
            if not child.is_constant:
                yield Tree(whole)


def _part_that_ends(tree: Tree, end: int) -> Tree:
    start, missing = end, arity(tree.tokens[end])
    while missing:
        start -= 1
        missing += arity(tree.tokens[start]) - 1
    return Tree(tree.tokens[start : end + 1])


def _unit(vectors: FloatArray) -> FloatArray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
