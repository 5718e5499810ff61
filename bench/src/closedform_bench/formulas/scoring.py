"""Whether a formula that was read is the truth: the same concept, or with noise and networks nearly
so.
"""

import numpy as np

import closedform as cf
from closedform.field.alignment.comparison import field_misalignment
from closedform_bench.formulas.problem import Problem, exact_field
from closedform_bench.paper.answer_scoring import CLOSE, approximate_score

N_POINTS = 300
"""Points of the problem's ranges at which formulas are compared."""

ROUNDED = 1e-14
"""Misalignment, a squared sine, of a formula that differs from the truth in the last digits of its
constants: physical ones have ten digits, of which the field shows eight or nine.
"""


def is_right(problem: Problem, found: cf.Expression | None, *, approximately: bool) -> bool:
    """Whether a formula is the problem's truth.

    Parameters
    ----------
    problem : Problem
    found : Expression or None
    approximately : bool
        Whether it also counts if, its constants fitted again, it is the truth, and they are within
        10% (noise, networks).

    Examples
    --------
    >>> problem = Problem("product", "x*y", {"x": (1.0, 2.0), "y": (1.0, 2.0)})
    >>> [
    ...     is_right(problem, cf.parse(text), approximately=True)
    ...     for text in ("log(x) + log(y)", "x + y")
    ... ]
    [True, False]
    """
    if found is None:
        return False
    truth, points = problem.formula(), problem.points(N_POINTS, np.random.default_rng(99))
    formula = found.rename(problem.names)
    if (
        cf.same_concept(str(formula), str(truth), problem.names, points=points).status
        != "different"
    ):
        return True
    field = exact_field(problem, np.random.default_rng(98))
    misalignment = float(field_misalignment(formula, field).mean())
    if not approximately:
        return misalignment < ROUNDED
    return (
        misalignment < CLOSE and approximate_score(formula, truth, field, misalignment).is_recovered
    )
