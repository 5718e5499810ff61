"""Fresh problems that are not trees of separate parts, drawn by class and seed."""

import numpy as np

from closedform_bench.formulas.fairness import has_needless_part, is_fair, is_separable
from closedform_bench.formulas.form_classes import CLASSES
from closedform_bench.formulas.grammar import RANGES
from closedform_bench.formulas.problem import Problem

INPUTS = (2, 3, 4, 5)
SHARES = (0.25, 0.4, 0.25, 0.1)
"""How often a formula has so many inputs."""


def draw_forms(count: int, seed: int) -> list[Problem]:
    """So many problems, the classes in turn; each depends on the seed and its number alone.

    Examples
    --------
    >>> [problem.kind for problem in draw_forms(7, 0)]
    ['shared', 'outside', 'root', 'piecewise', 'rational', 'nested', 'shared']
    >>> draw_forms(3, 0) == draw_forms(7, 0)[:3]
    True
    """
    return [draw_form(number, seed) for number in range(count)]


def is_of_its_class(problem: Problem) -> bool:
    """Whether a formula is fair, and not by accident of a simpler kind.

    A function of one quantity may be a sum or product with others: what makes it hard is the
    function.
    """
    occurring = problem.formula().tree.variables
    return (
        len(occurring) == len(problem.names)
        and is_fair(problem)
        and (problem.kind == "outside" or not is_separable(problem))
        and not has_needless_part(problem)
    )


def draw_form(number: int, seed: int) -> Problem:
    """One of them."""
    kind = list(CLASSES)[number % len(CLASSES)]
    rng = np.random.default_rng([seed, 21, number])
    names = [f"x{place + 1}" for place in range(int(rng.choice(INPUTS, p=SHARES)))]
    while True:
        truth = CLASSES[kind](rng.permutation(names).tolist(), rng)
        places = rng.choice(len(RANGES), len(names))
        ranges = {name: RANGES[place] for name, place in zip(names, places, strict=True)}
        problem = Problem(f"{kind}-{seed}-{number}", truth, ranges, kind)
        if is_of_its_class(problem):
            return problem
