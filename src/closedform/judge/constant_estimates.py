"""What the field says about every constant of the concept, plain numbers too: a 2 that was written
for 2.01 has an error as 2.01 has.
"""

import numpy as np

from closedform.expressions.expression import Expression
from closedform.expressions.fitted_constants import constant_values, fitted_positions
from closedform.expressions.tree import Constant
from closedform.field.gradient_field import GradientField
from closedform.interpretation.evidence import ConstantEstimate
from closedform.judge.evidence import weighing
from closedform.judge.fitting import Fitter
from closedform.judge.neighbours.same_form import free_positions
from closedform.judge.regions import divide
from closedform.judge.witnesses import Witnesses, typical

BIAS = 1.5
"""How many times larger errors of constants are than the jackknife says: regions share some of a
network's bias, and what all share does not scatter."""


def number_places(formula: Expression) -> list[int]:
    """Where the numbers of a formula stand that a fit may move; pi and log(2) are constants too,
    but none of these.
    """
    return [
        place
        for place in free_positions(formula.tree, formula.names)
        if isinstance(formula.tree.tokens[place], Constant)
    ]


def estimate_constants(
    concept: Expression, field: GradientField, rng: np.random.Generator
) -> tuple[ConstantEstimate, ...]:
    """All constants that a fit may move, fitted at once on both witnesses, with the jackknife over
    regions.

    Parameters
    ----------
    concept : Expression
    field : GradientField
    rng : Generator
        Divides the points into regions.

    Examples
    --------
    >>> import closedform as cf
    >>> rng = np.random.default_rng(0)
    >>> points = rng.uniform(1, 2, (600, 2))
    >>> gradients = np.array([1.0, 2.03]) + 0.02 * rng.normal(size=(600, 2))
    >>> field = cf.GradientField.from_arrays(points, gradients, names=["x", "y"], tangent="none")
    >>> (found,) = estimate_constants(cf.parse("x + 2*y"), field, rng)
    >>> found.value, found.is_plain, abs(found.fitted - 2.03) < 3 * found.error < 0.1
    (2.0, True, True)
    """
    own = concept.rename(field.names)
    numbers = number_places(own)
    labels, witnesses = divide(field, rng), Witnesses.of(field)
    if not numbers or labels.max() < 1:
        return ()
    scales = typical(witnesses.hear(own.tree))
    counts = weighing(has_values=witnesses.has_values).most
    found = Fitter(witnesses, labels, scales, counts).fit(own, numbers)
    is_fitted = set(fitted_positions(own.tree))
    return tuple(
        ConstantEstimate(value, best, BIAS * error, position not in is_fitted)
        for position, value, best, error in zip(
            found.positions,
            constant_values(own.tree, found.positions),
            constant_values(found.expression.tree, found.positions),
            found.errors,
            strict=True,
        )
    )
