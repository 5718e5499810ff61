"""Random expression trees, for tests and benchmarks."""

from collections.abc import Sequence

import numpy as np

from closedform.expressions.operators import OPERATORS
from closedform.expressions.tree import Tree, apply, constant, variable


def random_tree(
    rng: np.random.Generator,
    size: int,
    n_inputs: int,
    operators: Sequence[str] = tuple(OPERATORS),
    constants: float = 0.25,
) -> Tree:
    """A random tree of about this many nodes (fewer where a sign or a quotient of numbers becomes a
    number).

    Parameters
    ----------
    rng : Generator
    size : int
    n_inputs : int
    operators : sequence of str
        The operators to draw from, all equally likely among those of one arity.
    constants : float
        Share of leaves that are constants.

    Examples
    --------
    >>> random_tree(np.random.default_rng(0), 5, 2).size <= 5
    True
    """
    unary = [name for name in operators if OPERATORS[name].arity == 1]
    binary = [name for name in operators if OPERATORS[name].arity == 2]

    def grow(nodes: int) -> Tree:
        if nodes == 1:
            return _random_leaf(rng, n_inputs, constants)
        if nodes == 2 or not binary or (unary and rng.random() < 0.35):
            return apply(str(rng.choice(unary)), grow(nodes - 1))
        left = int(rng.integers(1, nodes - 1))
        return apply(str(rng.choice(binary)), grow(left), grow(nodes - 1 - left))

    return grow(size)


def _random_leaf(rng: np.random.Generator, n_inputs: int, constants: float) -> Tree:
    if n_inputs and rng.random() >= constants:
        return variable(int(rng.integers(n_inputs)))
    kind = rng.integers(4)
    if kind == 0:
        return constant(int(rng.integers(-5, 10)))
    if kind == 1:
        return constant(float(rng.normal()))
    if kind == 2:
        return constant(round(float(rng.normal(scale=3)), 3))
    return apply("div", constant(int(rng.integers(1, 9))), constant(int(rng.integers(1, 9))))
