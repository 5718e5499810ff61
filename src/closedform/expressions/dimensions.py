"""Dimensional analysis of a formula in the sense of its class.

Sums need equal units and functions pure numbers, but an invertible function of the whole formula is
free: ``log(x) + 2*log(y)`` counts as ``x*y**2``, and ``exp(x)*exp(y)`` as ``x + y``. So the
logarithm of a quantity keeps its unit, and sums of such logarithms multiply units; in the same way
the exponential of a quantity keeps that of its argument.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log10
from typing import Literal

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.complexity import belongs_to_form
from closedform.expressions.operators import NAMED_CONSTANTS, OPERATORS
from closedform.expressions.sums_and_products import peeled
from closedform.expressions.tree import Constant, Token, Tree, Variable
from closedform.expressions.units import TOLERANCE, Unit, Units

Kind = Literal["plain", "log", "exp"]

Exponents = FloatArray
"""Exponents of the base units, and last the decimal logarithm of the size."""

ROUNDING = 1e-9
"""Powers that differ by so little are equal: they are sums of small fractions."""


class ImpossibleUnitsError(Exception):
    """Caught inside this room: a sum of different units, or a function of one."""


@dataclass(frozen=True, slots=True, eq=False)
class Carried:
    """A constant that carries a unit."""

    value: float | None  # of the constant; None for a factor 1 that is not written
    exponents: Exponents
    before: Tree | None = None  # for a factor that is not written, what it stands before


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """What units say about a formula, or a part of one."""

    kind: Kind  # a logarithm and an exponential keep the unit of their argument
    exponents: Exponents
    is_open: bool  # whether it depends on a unit that is not known
    carried: tuple[Carried, ...]  # constants that are not pure numbers


@dataclass(frozen=True, slots=True, eq=False)
class _Value:
    """What is known about a part of the formula."""

    tree: Tree
    kind: Kind
    form: FloatArray  # powers of the unknown units, then exponents of the base units
    number: float | None = None  # of a constant part


class Analyst:
    """Looks at formulas of inputs with known units.

    names: the inputs of the formulas; one that has no unit there may have any.
    """

    def __init__(self, units: Units, names: Sequence[str]) -> None:
        constants = [known.unit for known in units.constants.values()]
        bases = {name for unit in (*units.inputs.values(), *constants) for name in unit.bases}
        self.bases = tuple(sorted(bases))  # the base units that occur, in the order of exponents
        self.inputs = [
            self._exponents(units.inputs[name]) if name in units.inputs else None for name in names
        ]
        # Exponents of the known constants, one row each.
        known = [self._exponents(unit) for unit in constants]
        self.known = np.array(known).reshape(-1, len(self.bases) + 1)

    def _exponents(self, unit: Unit) -> Exponents:
        return np.array([*(unit.bases.get(name, 0.0) for name in self.bases), log10(unit.size)])

    def analyse(
        self, tree: Tree, *, is_whole: bool, may_carry: bool, adds_factors: bool = False
    ) -> Analysis | None:
        """Units of a formula and of its constants; None if it is impossible.

        is_whole: whether it is a whole formula, of which an invertible function is free, or a part.
        may_carry: whether fitted constants may carry units; otherwise only powers of known
            constants.
        adds_factors: whether a factor 1 that is not written, or a plain number, may carry a unit
            too: a fitted constant may have been rounded to it.
        """
        whole = peeled(tree) if is_whole else tree
        found = self.look(whole, may_carry or len(self.known) > 0, adds_factors)
        if found is None or may_carry or all(self.is_known(c.exponents) for c in found.carried):
            return found
        return None

    def look(
        self, tree: Tree, may_carry: bool = False, adds_factors: bool = False
    ) -> Analysis | None:
        """Units of a formula as it stands, of which any constant may carry one if one may."""
        system = _Pass(self, tree, may_carry, adds_factors)
        try:
            top = system.read(tree)
        except ImpossibleUnitsError:
            return None
        return Analysis(
            top.kind, system.fixed(top.form), system.is_open(top.form), system.carried()
        )

    def powers_of_known(self, exponents: Exponents) -> np.ndarray | None:
        """The powers of known constants whose product has a unit; None if there are none."""
        if not len(self.known):
            return None
        powers, *_ = np.linalg.lstsq(self.known.T, exponents, rcond=None)
        left = self.known.T @ powers - exponents
        # The size is that of the user's units, which the constant's value is in as well.
        return powers if np.abs(left[:-1]).max(initial=0.0) <= TOLERANCE else None

    def without_known(self, exponents: Exponents) -> np.ndarray:
        """Exponents up to powers of known constants: equal where one tells units apart."""
        if not len(self.known):
            return exponents
        known = self.known[:, :-1]
        powers, *_ = np.linalg.lstsq(known.T, exponents[:-1], rcond=None)
        return np.append(exponents[:-1] - known.T @ powers, 0.0)

    def is_known(self, exponents: Exponents) -> bool:
        """Whether a unit is that of a product of powers of known constants."""
        return self.powers_of_known(exponents) is not None


class _Pass:
    """One look at one formula: units as rows of a linear system. Exponents add in products and are
    equal in sums, and unknown units (of inputs without a stated one, and of fitted constants) are
    settled as equations come.
    """

    def __init__(self, analyst: Analyst, tree: Tree, may_carry: bool, adds_factors: bool) -> None:
        self.analyst, self.may_carry, self.adds_factors = analyst, may_carry, adds_factors
        self.n_inputs = len(analyst.inputs)
        self.n_unknown = self.n_inputs + sum(isinstance(token, Constant) for token in tree.tokens)
        self.pure = np.zeros(self.n_unknown + len(analyst.bases) + 1)
        self._settled: dict[int, FloatArray] = {}  # unknown units by what they are
        self._constants: dict[int, float] = {}
        self._added: list[tuple[FloatArray, Tree]] = []

    def read(self, tree: Tree) -> _Value:
        """The whole tree, from the leaves up."""

        def node(name: str, *operands: _Value) -> _Value:
            whole = Tree((*(t for operand in operands for t in operand.tree.tokens), name))
            return replace(self._node(name, operands), tree=whole)

        return tree.fold(self._leaf, node)

    def fixed(self, form: FloatArray) -> Exponents:
        """Exponents of the base units, once unknowns that nothing settles are pure numbers."""
        return self._reduced(form)[self.n_unknown :]

    def is_open(self, form: FloatArray) -> bool:
        """Whether a unit depends on unknown ones."""
        return bool(self._reduced(form)[: self.n_unknown].any())

    def carried(self) -> tuple[Carried, ...]:
        """Constants with units."""
        found = [
            Carried(value, self.fixed(self._unknown(index)))
            for index, value in self._constants.items()
        ]
        found += [Carried(None, self.fixed(form), before) for form, before in self._added]
        return tuple(one for one in found if np.abs(one.exponents).max() > TOLERANCE)

    def _unknown(self, index: int) -> FloatArray:
        form = self.pure.copy()
        form[index] = 1.0
        return form

    def _reduced(self, form: FloatArray) -> FloatArray:
        """A unit without the unknowns that are settled."""
        left = form.copy()
        for index, known in self._settled.items():
            power, left[index] = left[index], 0.0
            left += power * known
        unknown = left[: self.n_unknown]
        unknown[np.abs(unknown) <= ROUNDING] = 0.0
        return left

    def _is_pure(self, form: FloatArray) -> bool:
        """Whether it is the unit of pure numbers, whatever the unknowns are."""
        return not self.is_open(form) and bool((np.abs(self.fixed(form)) <= TOLERANCE).all())

    def _make_pure(self, form: FloatArray) -> bool:
        """Whether a unit can be that of pure numbers; unknowns are settled accordingly."""
        left = self._reduced(form)
        unknown = np.flatnonzero(left[: self.n_unknown])
        if not len(unknown):
            return self._is_pure(left)
        # Inputs without a stated unit cost nothing; of constants the last one gives way.
        index = int(unknown[0] if unknown[0] < self.n_inputs else unknown[-1])
        found = -left / left[index]
        found[index] = 0.0
        for other in self._settled.values():
            power, other[index] = other[index], 0.0
            other += power * found
        self._settled[index] = found
        return True

    def _leaf(self, token: Token) -> _Value:
        tree = Tree((token,))
        if isinstance(token, Variable):
            exponents = self.analyst.inputs[token.index]
            if exponents is None:
                return _Value(tree, "plain", self._unknown(token.index))
            known = np.concatenate([self.pure[: self.n_unknown], exponents])
            return _Value(tree, "plain", known)
        if not isinstance(token, Constant):
            return _Value(tree, "plain", self.pure, float(NAMED_CONSTANTS[token]))
        value = float(token.value)
        if belongs_to_form(token.value) or not self.may_carry:
            return _Value(tree, "plain", self.pure, value)
        index = self.n_inputs + len(self._constants)
        self._constants[index] = value
        return _Value(tree, "plain", self._unknown(index), value)

    def _node(self, name: str, operands: Sequence[_Value]) -> _Value:
        operator, (first, *_) = OPERATORS[name], operands
        if name in ("add", "sub"):
            return self._sum(first, operands[1], 1.0 if name == "add" else -1.0)
        if name in ("mul", "div"):
            return self._product(first, operands[1], 1.0 if name == "mul" else -1.0)
        if name == "neg":
            return replace(first, number=None if first.number is None else -first.number)
        if operator.power is not None:
            return self._power(first, float(operator.power))
        if name == "pow" and operands[1].number is not None:
            return self._power(first, operands[1].number)
        if name == "exp":
            return self._exponential(first)
        if name == "log":
            return self._logarithm(first)
        if operator.homogeneous is not None and operator.arity == 2:
            first, second = (self._plain(operand) for operand in operands)
            self._equal(first, second)
            if operator.homogeneous != 1:
                return self._number(operands)
            return first if second.number is not None else replace(first, number=None)
        if operator.homogeneous == 1:
            return replace(self._plain(operands[0]), number=None)
        return self._numbers(operands)

    def _sum(self, first: _Value, second: _Value, sign: float) -> _Value:
        if "log" in (first.kind, second.kind):
            one, other = self._as_log(first), self._as_log(second)
            if one is not None and other is not None:
                return replace(one, form=one.form + sign * other.form, number=None)
        first, second = self._plain(first), self._plain(second)
        self._equal(first, second)
        return replace(first, number=None, form=self._reduced(first.form))

    def _as_log(self, value: _Value) -> _Value | None:
        """What may be added to a logarithm: another one, a fitted constant, or a pure number."""
        if value.kind == "log":
            return value
        if value.kind == "exp":
            # exp(x/y) is a pure number; exp(x) of an x in metres is none.
            return replace(value, kind="log") if self._is_pure(value.form) else None
        if value.number is not None and value.form[: self.n_unknown].any():
            return replace(value, kind="log")
        return replace(value, kind="log") if self._make_pure(value.form) else None

    def _product(self, first: _Value, second: _Value, sign: float) -> _Value:
        number = None
        if first.number is not None and second.number is not None:
            number = _times(first.number, second.number, sign)
        for one, other in ((first, second), (second, first)):
            if other.number is None or one.number is not None:
                continue
            if one.kind == "log" and (sign > 0 or one is first):
                return replace(one, form=_times(1.0, other.number, sign) * one.form)
            if one.kind == "exp" and not other.form[: self.n_unknown].any():
                return one
        if first.kind == second.kind == "exp":
            self._equal(replace(first, kind="plain"), replace(second, kind="plain"))
            return first
        first, second = self._plain(first), self._plain(second)
        return _Value(first.tree, "plain", first.form + sign * second.form, number)

    def _power(self, base: _Value, power: float) -> _Value:
        if base.kind == "exp":
            return base
        plain = self._plain(base)
        number = None
        if base.number is not None:
            with np.errstate(all="ignore"):
                number = float(np.power(base.number, power))
        return replace(plain, form=power * plain.form, number=number)

    def _exponential(self, argument: _Value) -> _Value:
        if argument.kind == "log":
            return replace(argument, kind="plain", number=None)
        if argument.number is not None:
            return self._number([argument])
        return replace(self._plain(argument), kind="exp")

    def _logarithm(self, argument: _Value) -> _Value:
        if argument.kind == "exp":
            return replace(argument, kind="plain")
        if argument.number is not None:
            return self._number([argument])
        plain = self._plain(argument)
        return plain if self._is_pure(plain.form) else replace(plain, kind="log")

    def _numbers(self, operands: Sequence[_Value]) -> _Value:
        """A function that takes pure numbers."""
        for operand in operands:
            self._equal(self._plain(operand), None)
        return self._number(operands)

    def _number(self, operands: Sequence[_Value]) -> _Value:
        number = 1.0 if all(operand.number is not None for operand in operands) else None
        return _Value(operands[0].tree, "plain", self.pure, number)

    def _plain(self, value: _Value) -> _Value:
        """A logarithm or exponential where only a quantity can stand: its unit must be pure."""
        if value.kind == "plain":
            return value
        self._equal(replace(value, kind="plain"), None)
        return _Value(value.tree, "plain", self.pure)

    def _equal(self, first: _Value, second: _Value | None) -> None:
        """Make two units equal, or one pure."""
        difference = first.form if second is None else first.form - second.form
        if self._make_pure(difference):
            return
        if not self.adds_factors:
            raise ImpossibleUnitsError
        left = self._reduced(difference)
        self._added.append((-left if second is None else left, (second or first).tree))


def _times(first: float, second: float, sign: float) -> float:
    with np.errstate(all="ignore"):
        return float(np.float64(first) * np.float64(second) ** sign)
