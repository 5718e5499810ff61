"""What the field says about every constant of the concept, plain numbers too: a 2 that was written
for 2.01 has an error as 2.01 has.
"""

from collections.abc import Callable

import numpy as np

from closedform.alignment.refit import Tapes
from closedform.alignment.scores import comparison_of
from closedform.expressions.expression import Expression
from closedform.expressions.fitted_constants import constant_values, fitted_positions
from closedform.expressions.tree import Constant
from closedform.field.gradient_field import GradientField
from closedform.interpretation.evidence import ConstantEstimate
from closedform.selection.regions import divide
from closedform.verification.contest import STEPS
from closedform.verification.same_form import free_positions

Widen = Callable[[tuple[float, ...]], tuple[float, ...]]


def estimate_constants(
    concept: Expression, field: GradientField, widen: Widen, rng: np.random.Generator
) -> tuple[ConstantEstimate, ...]:
    """All constants that a fit may move, fitted at once, with the jackknife over regions.

    Parameters
    ----------
    concept : Expression
    field : GradientField
    widen : callable
        From standard errors to those with a network's bias in them.
    rng : Generator
        Divides the points into regions.

    Examples
    --------
    >>> import closedform as cf
    >>> rng = np.random.default_rng(0)
    >>> points = rng.uniform(1, 2, (600, 2))
    >>> gradients = np.array([1.0, 2.03]) + 0.02 * rng.normal(size=(600, 2))
    >>> field = cf.GradientField.from_arrays(points, gradients, names=["x", "y"], tangent="none")
    >>> (found,) = estimate_constants(cf.parse("x + 2*y"), field, tuple, rng)
    >>> found.value, found.is_plain, abs(found.fitted - 2.03) < 3 * found.error < 0.1
    (2.0, True, True)
    """
    own = concept.rename(field.names)
    # pi and log(2) are constants too, but nothing that a fit may move.
    numbers = [
        place
        for place in free_positions(own.tree, field.names)
        if isinstance(own.tree.tokens[place], Constant)
    ]
    tapes = Tapes.of([own], [numbers])
    (positions,) = tapes.positions
    labels = divide(field, rng)
    if not positions or labels.max() < 1:
        return ()
    whole = comparison_of(field)
    fitted = tapes.fit(whole, STEPS)[0]
    values = np.array(
        [
            fitted.fit(whole.weighted(field.weights * (labels != region)), STEPS)[0].constants()[0]
            for region in range(labels.max() + 1)
        ]
    )
    count = len(values)
    errors = np.sqrt((count - 1) * ((values - values.mean(axis=0)) ** 2).mean(axis=0))
    is_fitted = set(fitted_positions(own.tree))
    return tuple(
        ConstantEstimate(value, best, error, position not in is_fitted)
        for position, value, best, error in zip(
            positions,
            constant_values(own.tree, positions),
            fitted.constants()[0].tolist(),
            widen(tuple(errors.tolist())),
            strict=True,
        )
    )
