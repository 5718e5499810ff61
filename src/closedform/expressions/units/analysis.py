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

from closedform.expressions.fitted_constants import belongs_to_form
from closedform.expressions.operators import NAMED_CONSTANTS, OPERATORS
from closedform.expressions.tree import Constant, Token, Tree, Variable, arity
from closedform.expressions.units.linear import Exponents, LinearForm, System
from closedform.expressions.units.units import TOLERANCE, Unit, Units

Kind = Literal["plain", "log", "exp"]


class ImpossibleUnitsError(Exception):
    """Caught inside this room: a sum of different units, or a function of one."""

    def __init__(
        self, tree: Tree, other: Tree | None, forms: tuple[LinearForm, LinearForm | None]
    ) -> None:
        super().__init__("impossible units")
        self.tree, self.other, self.forms = tree, other, forms


@dataclass(frozen=True, slots=True)
class Carried:
    """A constant that carries a unit."""

    value: float | None  # of the constant; None for a factor 1 that is not written
    exponents: Exponents
    before: Tree | None = None  # for a factor that is not written, what it stands before


@dataclass(frozen=True, slots=True)
class Analysis:
    """What units say about a formula."""

    # Of the whole formula; None if it is a sum of logarithms of units or the like.
    exponents: Exponents | None
    carried: tuple[Carried, ...]  # constants that are not pure numbers


@dataclass(frozen=True, slots=True)
class Label:
    """The unit of a term that stands alone, with pure numbers."""

    kind: Kind  # a logarithm and an exponential keep the unit of their argument
    exponents: Exponents
    is_open: bool  # whether it depends on an input whose unit is not stated


@dataclass(frozen=True, slots=True)
class _Value:
    """What is known about a part of the formula."""

    tree: Tree
    kind: Kind
    form: LinearForm
    number: float | None = None  # of a constant part


class Bases:
    """The base units that occur, in a fixed order, and units as exponents of them."""

    def __init__(self, units: Units) -> None:
        known = [*units.inputs.values(), *(known.unit for known in units.constants.values())]
        self.names = tuple(sorted({name for unit in known for name in unit.bases}))

    def exponents(self, unit: Unit) -> Exponents:
        """A unit as exponents."""
        return (*(unit.bases.get(name, 0.0) for name in self.names), log10(unit.size))

    @property
    def pure(self) -> Exponents:
        """Those of a pure number."""
        return (0.0,) * (len(self.names) + 1)


def peeled(tree: Tree) -> Tree:
    """What is left of a formula without invertible functions of the whole: they do not change the
    class.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> peeled(parse("exp(-3*x + 1)").tree) == parse("x").tree
    True
    """
    while arity(tree.root):
        if arity(tree.root) == 1:
            tree = tree.children[0]
            continue
        first, second = tree.children
        if first.is_constant == second.is_constant:
            return tree
        tree = second if first.is_constant else first
    return tree


class Analyst:
    """Looks at formulas of inputs with known units.

    names: the inputs of the formulas; one that has no unit there may have any.
    """

    def __init__(self, units: Units, names: Sequence[str]) -> None:
        self.bases = Bases(units)
        self.n_inputs = len(names)
        self._inputs = [
            LinearForm(self.bases.exponents(units.inputs[name]))
            if name in units.inputs
            else LinearForm(self.bases.pure, ((index, 1.0),))
            for index, name in enumerate(names)
        ]
        # Exponents of the known constants, one row each.
        self.known = np.array(
            [self.bases.exponents(known.unit) for known in units.constants.values()]
        ).reshape(-1, len(self.bases.pure))

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
        pass_ = _Pass(self, may_carry or len(self.known) > 0, adds_factors)
        try:
            top = pass_.read(peeled(tree) if is_whole else tree)
        except ImpossibleUnitsError:
            return None
        carried = pass_.carried()
        if not may_carry and not all(self.is_known(item.exponents) for item in carried):
            return None
        form = pass_.system.reduced(top.form)
        return Analysis(form.fixed if top.kind == "plain" else None, carried)

    def label(self, tree: Tree) -> Label | None:
        """The unit of a term, its constants pure numbers; None if it is impossible."""
        pass_ = _Pass(self, may_carry=False, adds_factors=False)
        try:
            top = pass_.read(tree)
        except ImpossibleUnitsError:
            return None
        form = pass_.system.reduced(top.form)
        return Label(top.kind, form.fixed, bool(form.unknown))

    def powers_of_known(self, exponents: Exponents) -> np.ndarray | None:
        """The powers of known constants whose product has a unit; None if there are none."""
        if not len(self.known):
            return None
        powers, *_ = np.linalg.lstsq(self.known.T, np.asarray(exponents), rcond=None)
        left = self.known.T @ powers - exponents
        # The size is that of the user's units, which the constant's value is in as well.
        return powers if np.abs(left[:-1]).max(initial=0.0) <= TOLERANCE else None

    def without_known(self, exponents: Exponents) -> np.ndarray:
        """Exponents up to powers of known constants: equal where one tells units apart."""
        fixed = np.asarray(exponents)
        if not len(self.known):
            return fixed
        known = self.known[:, :-1]
        powers, *_ = np.linalg.lstsq(known.T, fixed[:-1], rcond=None)
        return np.append(fixed[:-1] - known.T @ powers, 0.0)

    def is_known(self, exponents: Exponents) -> bool:
        """Whether a unit is that of a product of powers of known constants."""
        return self.powers_of_known(exponents) is not None

    def input_form(self, index: int) -> LinearForm:
        """The unit of an input."""
        return self._inputs[index]


class _Pass:
    """One look at one formula."""

    def __init__(self, analyst: Analyst, may_carry: bool, adds_factors: bool) -> None:
        self.analyst, self.may_carry, self.adds_factors = analyst, may_carry, adds_factors
        self.system = System(analyst.n_inputs)
        self.pure = LinearForm(analyst.bases.pure)
        self._constants: dict[int, float] = {}
        self._added: list[tuple[LinearForm, Tree]] = []

    def read(self, tree: Tree) -> _Value:
        """The whole tree, from the leaves up."""
        stack: list[_Value] = []
        for token in tree.tokens:
            count = arity(token)
            if count == 0:
                stack.append(self._leaf(token))
                continue
            operands = stack[-count:]
            del stack[-count:]
            whole = Tree((*(t for operand in operands for t in operand.tree.tokens), token))
            stack.append(replace(self._node(str(token), operands), tree=whole))
        return stack[0]

    def carried(self) -> tuple[Carried, ...]:
        """Constants with units, once unknowns that nothing settles are pure numbers."""
        found = []
        for index, value in self._constants.items():
            fixed = self.system.reduced(LinearForm(self.pure.fixed, ((index, 1.0),))).fixed
            if not LinearForm(fixed).is_pure:
                found.append(Carried(value, fixed))
        for form, before in self._added:
            fixed = self.system.reduced(form).fixed
            if not LinearForm(fixed).is_pure:
                found.append(Carried(None, fixed, before))
        return tuple(found)

    def _leaf(self, token: Token) -> _Value:
        tree = Tree((token,))
        if isinstance(token, Variable):
            return _Value(tree, "plain", self.analyst.input_form(token.index))
        if not isinstance(token, Constant):
            return _Value(tree, "plain", self.pure, float(NAMED_CONSTANTS[token]))
        value = float(token.value)
        if belongs_to_form(token.value) or not self.may_carry:
            return _Value(tree, "plain", self.pure, value)
        index = self.analyst.n_inputs + len(self._constants)
        self._constants[index] = value
        return _Value(tree, "plain", LinearForm(self.pure.fixed, ((index, 1.0),)), value)

    def _node(self, name: str, operands: list[_Value]) -> _Value:
        operator = OPERATORS[name]
        if name in ("add", "sub"):
            return self._sum(operands[0], operands[1], 1.0 if name == "add" else -1.0)
        if name in ("mul", "div"):
            return self._product(operands[0], operands[1], 1.0 if name == "mul" else -1.0)
        if name == "neg":
            return replace(
                operands[0], number=None if operands[0].number is None else -operands[0].number
            )
        if operator.power is not None:
            return self._power(operands[0], float(operator.power))
        if name == "pow":
            if operands[1].number is not None:
                return self._power(operands[0], operands[1].number)
            return self._numbers(operands)
        if name == "exp":
            return self._exponential(operands[0])
        if name == "log":
            return self._logarithm(operands[0])
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
                return replace(one, form=one.form.plus(other.form, sign), number=None)
        first, second = self._plain(first), self._plain(second)
        self._equal(first, second)
        return replace(first, number=None, form=self.system.reduced(first.form))

    def _as_log(self, value: _Value) -> _Value | None:
        """A summand beside a logarithm: another one, a fitted constant, or a pure number."""
        if value.kind == "log":
            return value
        if value.kind == "exp":
            # exp(x/y) is a pure number; exp(x) of an x in metres is none.
            return replace(value, kind="log") if self.system.reduced(value.form).is_pure else None
        if value.number is not None and value.form.unknown:
            return replace(value, kind="log")
        return replace(value, kind="log") if self.system.make_pure(value.form) else None

    def _product(self, first: _Value, second: _Value, sign: float) -> _Value:
        number = (
            None
            if first.number is None or second.number is None
            else _times(first.number, second.number, sign)
        )
        for one, other in ((first, second), (second, first)):
            if other.number is None or one.number is not None:
                continue
            if one.kind == "log" and (sign > 0 or one is first):
                return replace(one, form=one.form.times(_times(1.0, other.number, sign)))
            if one.kind == "exp" and not other.form.unknown:
                return one
        if first.kind == second.kind == "exp":
            self._equal(replace(first, kind="plain"), replace(second, kind="plain"))
            return first
        first, second = self._plain(first), self._plain(second)
        return _Value(first.tree, "plain", first.form.plus(second.form, sign), number)

    def _power(self, base: _Value, power: float) -> _Value:
        if base.kind == "exp":
            return base
        plain = self._plain(base)
        number = None
        if base.number is not None:
            with np.errstate(all="ignore"):
                number = float(np.power(base.number, power))
        return replace(plain, form=plain.form.times(power), number=number)

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
        return plain if self.system.reduced(plain.form).is_pure else replace(plain, kind="log")

    def _numbers(self, operands: list[_Value]) -> _Value:
        """A function that takes pure numbers."""
        for operand in operands:
            self._equal(self._plain(operand), None)
        return self._number(operands)

    def _number(self, operands: list[_Value]) -> _Value:
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
        other = self.pure if second is None else second.form
        difference = first.form.plus(other, -1.0)
        if self.system.make_pure(difference):
            return
        if not self.adds_factors:
            raise ImpossibleUnitsError(
                first.tree, None if second is None else second.tree, (first.form, other)
            )
        left = self.system.reduced(difference)
        self._added.append((left.times(-1.0) if second is None else left, (second or first).tree))


def _times(first: float, second: float, sign: float) -> float:
    with np.errstate(all="ignore"):
        return float(np.float64(first) * np.float64(second) ** sign)
