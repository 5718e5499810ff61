"""Inputs in the order of their names, so that a form does not depend on the order of the
columns.
"""

from closedform.expressions.expression import Expression
from closedform.expressions.parse import sort_names


def in_name_order(expression: Expression) -> tuple[Expression, list[int]]:
    """The formula with its inputs in the order of their names, and where each one's column was.

    Examples
    --------
    >>> import closedform as cf
    >>> ordered, columns = in_name_order(cf.parse("x - v", names=["x", "v"]))
    >>> ordered.names, columns
    (('v', 'x'), [1, 0])
    """
    names = sort_names(expression.names)
    return expression.rename(names), [expression.names.index(name) for name in names]
