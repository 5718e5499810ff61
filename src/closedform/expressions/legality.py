"""Which formulas a search may return when units are known, what they cost, and what units say about
them in words.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from closedform.expressions.dimensions import ROUNDING, Analyst, Carried, Exponents
from closedform.expressions.expression import Expression
from closedform.expressions.printing import to_text
from closedform.expressions.tree import Tree
from closedform.expressions.units import TOLERANCE, Units, unit_text


def analyst_of(units: Units, names: Sequence[str]) -> Analyst:
    """The analyst of some inputs, made once: a search asks many thousand times."""
    if tuple(names) not in units.analysts:
        units.analysts[tuple(names)] = Analyst(units, names)
    return units.analysts[tuple(names)]


@dataclass(frozen=True, slots=True)
class Legality:
    """What units allow."""

    units: Units
    may_carry: bool  # whether fitted constants may carry units

    def allows(self, tree: Tree, names: Sequence[str], *, is_whole: bool = True) -> bool:
        """Whether a whole formula is possible, or a part of one."""
        analyst = analyst_of(self.units, names)
        found = analyst.analyse(tree, is_whole=is_whole, may_carry=self.may_carry)
        return found is not None


def carried_constants(tree: Tree, units: Units, names: Sequence[str]) -> tuple[Carried, ...] | None:
    """Constants of a formula that carry units; None if it is impossible.

    A fitted constant that was rounded to a plain number, or to a factor 1 that is not written, is
    found too, unless constants must be pure numbers.
    """
    analyst = analyst_of(units, names)
    for may_carry, adds_factors in ((False, False), (True, False), (True, True)):
        if units.pure_numbers and may_carry:
            return None
        found = analyst.analyse(tree, is_whole=True, may_carry=may_carry, adds_factors=adds_factors)
        if found is not None:
            return found.carried
    return None


def charge(tree: Tree, units: Units, names: Sequence[str]) -> float:
    """How many further inputs a formula's units stand for: constants with units that are not
    powers of known ones. Infinite for an impossible formula.
    """
    carried = carried_constants(tree, units, names)
    if carried is None:
        return np.inf
    analyst = analyst_of(units, names)
    return float(sum(not analyst.is_known(item.exponents) for item in carried))


def addable(
    trees: Sequence[Tree], names: Sequence[str], legality: Legality
) -> NDArray[np.bool_] | None:
    """Which pairs of terms units let stand in one sum, each with a coefficient of its own.

    It is necessary and not sufficient: an input without a stated unit goes with everything here.

    Returns an array (n_terms, n_terms), or None if everything may be added, because coefficients
    may carry units.
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
    label = analyst.look(tree)
    if label is None:
        return ("impossible",)
    if label.is_open:
        return ("open",)
    if label.kind == "log":
        return ("log",)
    exponents = np.round(analyst.without_known(label.exponents) / ROUNDING)
    if not exponents.any():
        return ("pure",)
    # exp(x) of an x in metres is possible as a whole formula, but not in a sum.
    return ("exp", tree) if label.kind == "exp" else ("plain", *exponents.tolist())


def _go_together(one: tuple, other: tuple) -> bool:
    if "impossible" in (one[0], other[0]):
        return False
    if "open" in (one[0], other[0]) or one == other:
        return True
    return {one[0], other[0]} == {"pure", "log"}


def unit_of(formula: Expression, units: Units) -> str | None:
    """The unit of a formula as it is written; None if it has none of its own, as a sum of
    logarithms, or is impossible.
    """
    analyst = analyst_of(units, formula.names)
    found = analyst.analyse(formula.tree, is_whole=False, may_carry=True, adds_factors=True)
    if found is None or found.kind != "plain":
        return None
    return _text(analyst, found.exponents)


def units_sentences(formula: Expression, units: Units) -> tuple[str, ...]:
    """What is to be said about the units of a formula: its own, and those of its constants."""
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
        before = "" if item.before is None else to_text(item.before, tuple(names))
        return (
            f"For the units to fit, {before} must be multiplied by a constant of the unit {what} "
            "whose value is 1 in these units."
        )
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
        for name, value in zip(analyst.bases, exponents[:-1], strict=True)
        if abs(value) > TOLERANCE
    }
    return unit_text(bases, 10.0 ** exponents[-1])
