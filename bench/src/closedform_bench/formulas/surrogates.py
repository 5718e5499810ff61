"""The suite `surrogates`: sixty textbook formulas, half of which are never looked at while the
search is built.

Which half a formula belongs to is drawn by a fixed seed. Developers read the half `seen`, the
default; what is reported of the half `unseen` was read once, by code that was frozen before.
"""

from typing import Literal

import numpy as np

from closedform_bench.formulas.problem import Problem
from closedform_bench.formulas.textbooks import SURROGATES, Surrogate

Half = Literal["seen", "unseen"]

SPLIT_SEED = 4242
"""Of the two halves; another one, or another formula, would show what is not to be seen."""


def surrogate_problems(half: Half = "seen") -> list[Problem]:
    """The problems of one half, by name.

    Examples
    --------
    >>> seen, unseen = surrogate_problems(), surrogate_problems(half="unseen")
    >>> len(seen), len(unseen), {p.name for p in seen} & {p.name for p in unseen}
    (30, 30, set())
    """
    names = sorted(SURROGATES)
    drawn = np.random.default_rng(SPLIT_SEED).permutation(names).tolist()
    middle = len(names) // 2
    chosen = drawn[:middle] if half == "seen" else drawn[middle:]
    return [surrogate_problem(name, SURROGATES[name]) for name in sorted(chosen)]


def surrogate_problem(name: str, formula: Surrogate) -> Problem:
    """A formula as a problem of its field."""
    ranges = {each: (low, high) for each, (low, high, _) in formula.inputs.items()}
    return Problem(name, formula.truth, ranges, formula.field)
