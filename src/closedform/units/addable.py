"""Which terms may stand in one sum, for thousands of them at once: each is analysed alone, and
pairs are compared by what came out.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from closedform.expressions.tree import Tree
from closedform.units.analysis import Analyst
from closedform.units.legality import Legality, analyst_of

DIGITS = 6
"""Exponents that agree to so many digits are equal: they are sums of small fractions."""


def addable(
    trees: Sequence[Tree], names: Sequence[str], legality: Legality
) -> NDArray[np.bool_] | None:
    """Which pairs of terms units let stand in one sum, each with a coefficient of its own.

    It is necessary and not sufficient: an input without a stated unit goes with everything here.

    Parameters
    ----------
    trees : sequence of Tree
    names : sequence of str
    legality : Legality

    Returns
    -------
    ndarray of bool, shape (n_terms, n_terms), or None
        None if everything may be added, because coefficients may carry units.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> from closedform.units.units import Units
    >>> names = ["x", "y", "t"]
    >>> strict = Legality(Units({"x": "m", "y": "m", "t": "s"}), may_carry=False)
    >>> terms = [parse(text, names=names).tree for text in ("x", "y", "t", "x*t")]
    >>> addable(terms, names, strict).astype(int).tolist()
    [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    """
    if legality.may_carry:
        return None
    analyst = analyst_of(legality.units, names)
    codes: dict[tuple, int] = {}
    rows = [codes.setdefault(_class(analyst, tree), len(codes)) for tree in trees]
    classes = list(codes)
    goes = np.array([[_go_together(one, other) for other in classes] for one in classes])
    place = np.array(rows, dtype=np.int64)
    found = goes.reshape(len(classes), len(classes))[np.ix_(place, place)]
    np.fill_diagonal(found, True)  # alone every term of a library is possible
    return found


def _class(analyst: Analyst, tree: Tree) -> tuple:
    """Equal for terms of equal units."""
    label = analyst.label(tree)
    if label is None:
        return ("impossible",)
    if label.is_open:
        return ("open",)
    if label.kind == "log":
        return ("log",)
    exponents = np.round(analyst.without_known(label.exponents), DIGITS) + 0.0
    if not exponents.any():
        return ("pure",)
    # exp(x) of an x in metres is possible as a whole formula, but not beside another term.
    return ("exp", tree) if label.kind == "exp" else ("plain", *exponents.tolist())


def _go_together(one: tuple, other: tuple) -> bool:
    if "impossible" in (one[0], other[0]):
        return False
    if "open" in (one[0], other[0]) or one == other:
        return True
    return {one[0], other[0]} == {"pure", "log"}
