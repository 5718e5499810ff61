"""Which formulas are linear: from near by, every smooth function looks like one."""

import numpy as np

from closedform.expressions.tree import Constant, Tree, Variable


def may_be_accident(tree: Tree) -> bool:
    """Whether a linear formula has coefficients, or is one input: a sum of inputs as they are is no
    accident.
    """
    return len(tree.variables) == 1 or any(isinstance(token, Constant) for token in tree.tokens)


def is_linear(tree: Tree) -> bool:
    """Whether a formula is a sum of inputs times numbers.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> [is_linear(parse(text).tree) for text in ("x - 2*(y + 3)/5", "x*y", "exp(x)")]
    [True, False, False]
    """

    def node(name: str, *degrees: float) -> float:
        if name in ("add", "sub", "neg"):
            return max(degrees)
        if name == "mul":
            return sum(degrees)
        is_scaled = name == "div" and degrees[1] == 0
        return degrees[0] if is_scaled else (0 if max(degrees) == 0 else np.inf)

    return tree.fold(lambda token: float(isinstance(token, Variable)), node) <= 1


def is_bent(first: Tree, second: Tree) -> bool:
    """Whether the second formula is curved where the first is linear.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> plane, curve = (parse(text, names=["x", "y"]).tree for text in ("x + y", "x + y**2"))
    >>> is_bent(plane, curve), is_bent(plane, plane), is_bent(curve, plane)
    (True, False, False)
    """
    return is_linear(first) and not is_linear(second)
