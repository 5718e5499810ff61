"""Squares and cubes as people write them."""

from fractions import Fraction

from closedform.expressions.operators import POWERS
from closedform.expressions.tree import Constant, Tree

_WRITTEN = {name: power for name, power in POWERS.items() if power >= 2}


def with_written_powers(tree: Tree) -> Tree:
    """The same tree with the functions ``square`` and ``cube`` as powers.

    Examples
    --------
    >>> from closedform.expressions.expression import Expression
    >>> from closedform.expressions.parse import parse
    >>> print(Expression(with_written_powers(parse("square(v) - sqrt(x)").tree), ("v", "x")))
    v**2 - sqrt(x)
    """
    written = []
    for token in tree.tokens:
        power = _WRITTEN.get(token) if isinstance(token, str) else None
        written += [token] if power is None else [Constant(Fraction(power)), "pow"]
    return Tree(tuple(written))
