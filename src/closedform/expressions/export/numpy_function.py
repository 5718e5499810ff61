"""A plain NumPy function."""

from collections.abc import Callable
from typing import Any

import numpy as np

from closedform.expressions.evaluate import NUMPY, value
from closedform.expressions.expression import Expression


def to_numpy(expression: Expression) -> Callable[..., Any]:
    """A function of one array per input, in the order of the expression's names; it broadcasts like
    NumPy.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> float(to_numpy(parse("x + 2*y"))(1.0, 10.0))
    21.0
    """

    def function(*inputs: Any) -> Any:
        if len(inputs) != len(expression.names):
            raise TypeError(
                f"The function takes {len(expression.names)} arrays "
                f"({', '.join(expression.names)}); got {len(inputs)}."
            )
        arrays = [np.asarray(array, dtype=np.float64) for array in inputs]
        with np.errstate(all="ignore"):
            result = value(expression.tree, arrays, NUMPY)
        return result + np.zeros(np.broadcast_shapes(*(array.shape for array in arrays)))

    function.__doc__ = f"{expression} of ({', '.join(expression.names)})."
    return function
