"""A plain NumPy function."""

from collections.abc import Callable
from typing import Any

import numpy as np

from closedform.expressions.evaluate import NUMPY, value
from closedform.expressions.expression import Expression


def to_numpy(expression: Expression) -> Callable[..., Any]:
    """A function of one array per input, in the order of the expression's names, which broadcasts
    like NumPy; points of shape (n_points, n_inputs) are taken too, as the expression takes them.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> function = to_numpy(parse("x + 2*y"))
    >>> float(function(1.0, 10.0)), function([[1.0, 10.0], [2.0, 0.0]])
    (21.0, array([21.,  2.]))
    """

    def function(*inputs: Any) -> Any:
        if len(inputs) == 1 and np.ndim(inputs[0]) == 2:
            points = np.asarray(inputs[0], dtype=np.float64)
            if points.shape[1] == len(expression.names):
                inputs = tuple(points.T)
        if len(inputs) != len(expression.names):
            raise TypeError(
                f"The function takes {len(expression.names)} arrays "
                f"({', '.join(expression.names)}) or points "
                f"of shape (n_points, {len(expression.names)}); got {len(inputs)}."
            )
        arrays = [np.asarray(array, dtype=np.float64) for array in inputs]
        with np.errstate(all="ignore"):
            result = value(expression.tree, arrays, NUMPY)
        return result + np.zeros(np.broadcast_shapes(*(array.shape for array in arrays)))

    function.__doc__ = f"{expression} of ({', '.join(expression.names)})."
    return function
