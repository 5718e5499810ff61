"""What units say about a formula, in words."""

from collections.abc import Sequence

import numpy as np

from closedform.expressions.expression import Expression
from closedform.expressions.printing import to_text
from closedform.expressions.tree import Tree
from closedform.expressions.units.analysis import Analyst, Carried
from closedform.expressions.units.legality import analyst_of, carried_constants
from closedform.expressions.units.linear import Exponents
from closedform.expressions.units.unit import TOLERANCE, unit_text
from closedform.expressions.units.units import Units


def unit_of(formula: Expression, units: Units) -> str | None:
    """The unit of a formula as it is written; None if it has none of its own, as a sum of
    logarithms, or is impossible.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> unit_of(parse("m*v**2", names=["m", "v"]), Units({"m": "kg", "v": "m/s"}))
    'kg*m**2/s**2'
    """
    analyst = analyst_of(units, formula.names)
    found = analyst.analyse(formula.tree, is_whole=False, may_carry=True, adds_factors=True)
    return None if found is None or found.exponents is None else _text(analyst, found.exponents)


def units_sentences(formula: Expression, units: Units) -> tuple[str, ...]:
    """What is to be said about the units of a formula: its own, and those of its constants.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> units = Units({"x": "m", "v": "m/s"})
    >>> for sentence in units_sentences(parse("v**2 + 0.37*x**2", names=["x", "v"]), units):
    ...     print(sentence)
    The formula has the unit m**2/s**2.
    The constant 0.37 carries 1/s**2.
    """
    carried = carried_constants(formula.tree, units, formula.names)
    if carried is None:
        return (
            "With pure numbers as constants the formula is impossible: it adds different units.",
        )
    analyst = analyst_of(units, formula.names)
    own = unit_of(formula, units)
    said = "is a pure number" if own == "1" else f"has the unit {own}"
    first = () if own is None else (f"The formula {said}.",)
    return (*first, *(_carried_sentence(item, analyst, units, formula.names) for item in carried))


def _carried_sentence(item: Carried, analyst: Analyst, units: Units, names: Sequence[str]) -> str:
    what = _text(analyst, item.exponents)
    if item.value is None:
        before = "" if item.before is None else _shown(item.before, names)
        return f"The factor 1 of {before}, which is not written, carries {what}."
    powers = analyst.powers_of_known(item.exponents)
    if powers is None:
        return f"The constant {item.value:.6g} carries {what}."
    known = " * ".join(
        f"{name}**{power:.4g}"
        for name, power in zip(units.constants, powers, strict=True)
        if abs(power) > TOLERANCE
    )
    values = [constant.value for constant in units.constants.values()]
    with np.errstate(all="ignore"):
        share = item.value / float(np.prod(np.power(values, powers)))
    return f"The constant {item.value:.6g} carries {what}; it is {share:.5g} * {known}."


def _text(analyst: Analyst, exponents: Exponents) -> str:
    bases = {
        name: value
        for name, value in zip(analyst.bases.names, exponents[:-1], strict=True)
        if abs(value) > TOLERANCE
    }
    return unit_text(bases, 10.0 ** exponents[-1])


def _shown(tree: Tree, names: Sequence[str]) -> str:
    return to_text(tree, tuple(names))
