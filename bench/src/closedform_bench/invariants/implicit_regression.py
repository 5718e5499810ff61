"""A baseline: implicit sparse regression on pairs, after Kaheman, Kutz and Brunton's SINDy-PI
(2020).

SINDy-PI looks for an equation among library functions in which none is known to occur: each in turn
becomes the left side of a sparse regression on all others, and the equation that leaves least is
taken. PySINDy's own version takes the equation to hold between a trajectory and its time
derivative, and so can express neither pairs nor groups. Here the library functions are differences
between the two points of a pair, of which an invariant is a combination that vanishes.
"""

import time
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement
from math import comb

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.expressions.tree import Tree, apply, constant, variable
from closedform_bench.invariants.claims import Claims

N_PAIRS = 5000
MOST_TERMS = 220
THRESHOLDS = (0.02, 0.05, 0.1, 0.2)
"""Coefficients of standardised terms below this are set to zero, one threshold after the other."""

ROUNDS = 10
LEFT = 1e-6
"""Share of the left side's variance that an equation may leave."""

_RIDGE = 1e-10


def regress_implicitly(pairs: FloatArray, names: Sequence[str]) -> Claims:
    """Look for combinations of library functions that have one value at both points of every pair.

    Parameters
    ----------
    pairs : ndarray, shape (n_pairs, 2, n_inputs)
    names : sequence of str

    Returns
    -------
    Claims
        Every equation that leaves less than `LEFT` is claimed.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> radius, angle = rng.uniform(1, 2, (500, 1)), rng.uniform(0, 6.3, (500, 2))
    >>> pairs = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=2)
    >>> print(regress_implicitly(pairs, ["x", "y"]).verified[0])
    x**2 + y**2
    """
    start = time.perf_counter()
    trees = _library(pairs)
    columns = [
        Expression(tree, tuple(names))(pairs.reshape(-1, len(names))).reshape(-1, 2)
        for tree in trees
    ]
    sizes = np.array([column.std() for column in columns])
    differences = np.column_stack(
        [(column[:, 0] - column[:, 1]) / size for column, size in zip(columns, sizes, strict=True)]
    )
    gram = differences.T @ differences / len(differences)
    found: dict[tuple[int, ...], Expression] = {}
    for left, support, coefficients in _equations(gram):
        terms = (left, *support)
        values = np.array([1.0, *(-coefficients)]) / sizes[list(terms)]
        found.setdefault(
            tuple(sorted(terms)), _written([trees[term] for term in terms], values, tuple(names))
        )
    # An equation that holds another one says nothing new.
    least = [key for key in found if not any(set(other) < set(key) for other in found)]
    concepts = tuple(found[key] for key in least)
    return Claims(
        concepts, (), "verified" if concepts else "none", len(concepts), time.perf_counter() - start
    )


def _library(pairs: FloatArray) -> list[Tree]:
    """Polynomials up to degree 4 or as far as `MOST_TERMS` go, and functions of single inputs where
    they are defined.
    """
    n_inputs = pairs.shape[2]
    points = pairs.reshape(-1, n_inputs)
    degree = max(d for d in (1, 2, 3, 4) if comb(n_inputs + d, d) <= MOST_TERMS)
    trees = []
    for d in range(1, degree + 1):
        for powers in combinations_with_replacement(range(n_inputs), d):
            factors = [
                variable(i)
                if powers.count(i) == 1
                else apply("pow", variable(i), constant(powers.count(i)))
                for i in dict.fromkeys(powers)
            ]
            product = factors[0]
            for factor in factors[1:]:
                product = apply("mul", product, factor)
            trees.append(product)
    for i in range(n_inputs):
        trees += [apply(name, variable(i)) for name in ("sin", "cos", "exp")]
        if points[:, i].min() > 0:
            trees += [
                apply("log", variable(i)),
                apply("div", constant(1), variable(i)),
                apply("sqrt", variable(i)),
            ]
    return trees


def _equations(gram: FloatArray) -> Iterator[tuple[int, tuple[int, ...], FloatArray]]:
    """Left sides, the terms on the right, and their coefficients, where little is left."""
    for left in range(len(gram)):
        if gram[left, left] < 1e-12:
            yield left, (), np.zeros(0)
            continue
        for threshold in THRESHOLDS:
            support = [term for term in range(len(gram)) if term != left]
            coefficients: FloatArray = np.zeros(0)
            for _ in range(ROUNDS):
                block = gram[np.ix_(support, support)] + _RIDGE * np.eye(len(support))
                coefficients = np.asarray(
                    np.linalg.solve(block, gram[support, left]), dtype=np.float64
                )
                kept = np.abs(coefficients) >= threshold
                if kept.all():
                    break
                support, coefficients = (
                    [term for term, keep in zip(support, kept, strict=True) if keep],
                    coefficients[kept],
                )
            if support:
                rest = gram[left, left] - 2 * coefficients @ gram[support, left]
                rest += coefficients @ gram[np.ix_(support, support)] @ coefficients
                if rest <= LEFT * gram[left, left]:
                    yield left, tuple(support), coefficients


def _written(trees: Sequence[Tree], values: FloatArray, names: tuple[str, ...]) -> Expression:
    total: Tree | None = None
    for tree, value in zip(trees, values / np.abs(values).max(), strict=True):
        size = float(f"{abs(value):.8g}")
        term = tree if size == 1 else apply("mul", constant(size), tree)
        if total is None:
            total = term if value > 0 else apply("neg", term)
        else:
            total = apply("add" if value > 0 else "sub", total, term)
    assert total is not None
    return Expression(total, names)
