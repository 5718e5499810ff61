"""Plain numbers that the data reject: a 2 whose estimate is 1.93 +- 0.026 is not a 2.

The choice pays for every digit, so that a plain number may win by its shortness although its own
estimate speaks against it. The form stays as chosen; the number is then as the data have it.
"""

from collections.abc import Sequence

import numpy as np

from closedform.expressions.expression import Expression
from closedform.field.alignment.tolerances import PERFECT
from closedform.field.gradient_field import GradientField
from closedform.interpretation.evidence import ConstantEstimate
from closedform.judge.constant_estimates import estimate_constants, number_places

REJECTED, FAR_OFF = 2.5, 0.01
"""Standard errors from which a plain number is not the estimate's, one in eighty by chance, and the
share of itself by which it must be off besides. What a network is wrong by everywhere is in no
standard error: the one of docs/start.md has 0.5034 for 1/2, and by directions alone constants of
networks are off by 1.1% in the median (docs/verdict.md)."""


def rejected_numbers(
    formula: Expression, misalignment: float, field: GradientField, rng: np.random.Generator
) -> dict[int, ConstantEstimate]:
    """Plain numbers of a formula whose own estimates reject them, by their places.

    Parameters
    ----------
    formula : Expression
    misalignment : float
        Of the formula: of one that is exact, only rounding can reject a number.
    field : GradientField
        What the numbers are estimated on.
    rng : Generator
        Divides the points into regions.

    Examples
    --------
    >>> import closedform as cf
    >>> rng = np.random.default_rng(0)
    >>> points = rng.uniform(1, 2, (600, 2))
    >>> gradients = np.array([1.0, 2.0]) + 0.02 * rng.normal(size=(600, 2))
    >>> field = cf.GradientField.from_arrays(points, gradients, names=["x", "y"], tangent="none")
    >>> len(rejected_numbers(cf.parse("x + 2*y"), 1e-4, field, rng))
    0
    >>> [one.value for one in rejected_numbers(cf.parse("x + 3*y"), 1e-4, field, rng).values()]
    [3.0]
    """
    if misalignment <= PERFECT:
        return {}
    own = formula.rename(field.names)
    return {
        place: one
        for place, one in zip(number_places(own), estimate_constants(own, field, rng), strict=False)
        if one.is_plain and abs(one.fitted - one.value) > max(_reach(one), FAR_OFF * abs(one.value))
    }


def _reach(one: ConstantEstimate) -> float:
    """How far a number may be from its estimate; any distance where the error is not known."""
    return REJECTED * one.error if one.error > 0 else float("inf")


def told(rejected: Sequence[ConstantEstimate]) -> str:
    """Why numbers stay as fitted, in a sentence."""
    said = [f"{one.value:.4g} is {abs(one.fitted - one.value) / one.error:.2g}" for one in rejected]
    return f"Fitted numbers stay: {' and '.join(said)} standard errors away."
