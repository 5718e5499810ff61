"""Leave one input out: does the concept need it, and does the network?"""

import numpy as np

from closedform.expressions.expression import Expression
from closedform.expressions.tree import Variable, constant
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.alignment.misalignment import weighted_mean
from closedform.field.gradient_field import GradientField
from closedform.interpretation.evidence import InputNeed


def leave_one_out(expression: Expression, field: GradientField) -> tuple[InputNeed, ...]:
    """Hold each input at its median in the concept, and judge what is left.

    Examples
    --------
    >>> import closedform as cf
    >>> points = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    >>> field = cf.GradientField.from_arrays(points, points, names=["x", "v"])
    >>> needs = leave_one_out(cf.parse("x**2 + v**2", names=["x", "v"]), field)
    >>> [need.without > 0.3 for need in needs]
    [True, True]
    """
    concept = expression.rename(field.names)
    plain = weighted_mean(field_misalignment(concept, field), field.weights)
    used = field.points[field.weights > 0] if (field.weights > 0).any() else field.points
    spans = np.stack([used.min(axis=0), np.median(used, axis=0), used.max(axis=0)], axis=1).tolist()
    needs = []
    for column, name in enumerate(field.names):
        is_used = column in concept.tree.variables
        without = plain
        if is_used:
            held = concept.tree.replaced(Variable(column), constant(spans[column][1]))
            left = field_misalignment(Expression(held, field.names), field)
            without = 1.0 if held.is_constant else weighted_mean(left, field.weights)
        share = float(field.quality.input_shares[column])
        needs.append(InputNeed(name, is_used, without, share, *spans[column]))
    return tuple(needs)
