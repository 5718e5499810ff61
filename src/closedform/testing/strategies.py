"""Hypothesis strategies for property tests; hypothesis is needed only by who imports this."""

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from closedform.expressions.expression import Expression
from closedform.expressions.operators import OPERATORS
from closedform.testing.random_trees import random_tree


def expressions(
    names: Sequence[str] = ("x", "y"),
    max_size: int = 20,
    operators: Sequence[str] = tuple(OPERATORS),
) -> st.SearchStrategy[Expression]:
    """Random expressions over the named inputs."""

    def build(size: int, seed: int) -> Expression:
        return Expression(
            random_tree(np.random.default_rng(seed), size, len(names), operators), tuple(names)
        )

    return st.builds(build, st.integers(1, max_size), st.integers(0, 2**32 - 1))
