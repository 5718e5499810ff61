"""Functions that do nothing on the data: the sine of something tiny is that thing itself."""

import numpy as np

from closedform.arrays import FloatArray
from closedform.canonical.tolerances import IDLE
from closedform.expressions.evaluate import evaluate
from closedform.expressions.expression import Expression
from closedform.expressions.operators import OPERATORS
from closedform.expressions.tree import Tree, apply


def without_idle_functions(expression: Expression, points: FloatArray) -> Expression:
    """The formula with the arguments of odd functions in their place, where these are so small over
    the data that the function equals its argument.

    Examples
    --------
    >>> import closedform as cf
    >>> points = np.random.default_rng(0).uniform(-1, 1, (100, 2))
    >>> print(without_idle_functions(cf.parse("tanh(0.02*x) + sin(y)"), points))
    0.02*x + sin(y)
    """

    def node(name: str, *operands: Tree) -> Tree:
        whole = apply(name, *operands)
        if OPERATORS[name].parity != "odd" or whole.is_constant:
            return whole
        with np.errstate(all="ignore"):
            argument, value = evaluate(operands[0], points), evaluate(whole, points)
            left = np.abs(value - argument).max(initial=0.0)
        return operands[0] if left <= IDLE * np.abs(argument).max(initial=0.0) else whole

    return Expression(expression.tree.fold(lambda token: Tree((token,)), node), expression.names)
