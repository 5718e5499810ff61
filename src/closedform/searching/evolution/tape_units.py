"""Which of many tapes units make impossible, compiled: evolution does not judge these.

The rules are those of `closedform.expressions.units.analysis` for constants that are pure numbers
or powers of known constants. A tape that passes may still be impossible (where an input has no
stated unit); the hall of fame asks the full analysis.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
from closedform.basics.compiled import compiled, compiled_part
from closedform.expressions.operators import CODES, OPERATORS
from closedform.expressions.tape import CONSTANT_CODE, VARIABLE_CODE, TapeBatch
from closedform.expressions.units.legality import Legality, analyst_of
from closedform.expressions.units.units import TOLERANCE
from closedform.searching.evolution.decode import arities

_PLAIN, _LOG, _EXP = 0, 1, 2  # kinds of values

# What operators do to units. Functions of pure numbers are what is left.
_NUMBERS, _ADD, _SUB, _MUL, _DIV, _SAME, _POWER, _POW, _EXPONENTIAL, _LOGARITHM, _ALIKE = range(11)
_RATIO = 11  # of two equal units a pure number
_NAMED = {
    "add": _ADD, "sub": _SUB, "mul": _MUL, "div": _DIV, "neg": _SAME, "pow": _POW,
    "exp": _EXPONENTIAL, "log": _LOGARITHM,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class UnitRules:
    """Units of the inputs, and what operators do to them, as arrays.

    Attributes
    ----------
    roles : ndarray of int64, shape (n_codes,)
    powers : ndarray, shape (n_codes,)
        Of square, sqrt and the like.
    exponents : ndarray, shape (n_inputs, n_bases)
        Up to powers of known constants.
    is_open : ndarray of bool, shape (n_inputs,)
        Inputs whose unit is not stated.
    """

    roles: NDArray[np.int64]
    powers: FloatArray
    exponents: FloatArray
    is_open: NDArray[np.bool_]

    @classmethod
    def of(cls, legality: Legality | None, names: Sequence[str]) -> "UnitRules | None":
        """Rules for constants that carry no units; None where there is nothing to rule out."""
        if legality is None or legality.may_carry:
            return None
        roles = np.zeros(max(CODES.values()) + 1, dtype=np.int64)
        powers = np.zeros(len(roles))
        for name, code in CODES.items():
            roles[code], powers[code] = _role(name)
        analyst = analyst_of(legality.units, names)
        forms = [analyst.input_form(column) for column in range(len(names))]
        return cls(
            roles,
            powers,
            np.array([analyst.without_known(form.fixed) for form in forms]),
            np.array([bool(form.unknown) for form in forms]),
        )


def possible(tapes: TapeBatch, rules: UnitRules) -> NDArray[np.bool_]:
    """Which trees units do not rule out.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> from closedform.expressions.tape import compile_tapes
    >>> from closedform.expressions.units.units import Units
    >>> names = ["x", "t"]
    >>> strict = Legality(Units({"x": "m", "t": "s"}), may_carry=False)
    >>> texts = ("x/t", "x + t", "sin(x)", "x*sin(t)", "log(x) - log(t)")
    >>> tapes = compile_tapes([parse(text, names=names).tree for text in texts])
    >>> possible(tapes, UnitRules.of(strict, names)).tolist()
    [True, False, True, False, True]
    """
    found = np.empty(tapes.n_trees, np.bool_)
    _possible(
        tapes.codes, tapes.first, tapes.second, tapes.inputs, tapes.numbers, tapes.starts,
        tapes.longest, arities(), rules.roles, rules.powers, rules.exponents, rules.is_open, found,
    )  # fmt: skip
    return found


def _role(name: str) -> tuple[int, float]:
    operator = OPERATORS[name]
    if name in _NAMED:
        return _NAMED[name], 0.0
    if operator.power is not None:
        return _POWER, float(operator.power)
    if operator.homogeneous is not None and operator.arity == 2:
        return (_ALIKE if operator.homogeneous == 1 else _RATIO), 0.0
    return (_SAME if operator.homogeneous == 1 else _NUMBERS), 0.0


# Loops, where arrays would be shorter to write: those take seconds each to compile.


@compiled_part
def _is_pure(form, i):
    fits = True
    for base in range(form.shape[1]):
        fits = fits and abs(form[i, base]) <= TOLERANCE
    return fits


@compiled_part
def _is_equal(form, a, b):
    fits = True
    for base in range(form.shape[1]):
        fits = fits and abs(form[a, base] - form[b, base]) <= TOLERANCE
    return fits


@compiled_part
def _is_unknown(form, i):
    found = False
    for base in range(form.shape[1]):
        found = found or np.isnan(form[i, base])
    return found


@compiled_part
def _clear(form, i):
    for base in range(form.shape[1]):
        form[i, base] = 0.0


@compiled_part
def _raise(form, i, a, power):
    """Note a power of a unit."""
    for base in range(form.shape[1]):
        form[i, base] = form[a, base] * power


@compiled_part
def _multiply(form, i, a, power):
    """Multiply what is noted by a power of a unit."""
    for base in range(form.shape[1]):
        form[i, base] += form[a, base] * power


@compiled_part
def _top(codes, first, second, arities, is_constant, start, length):
    """The node that is left without invertible functions of the whole."""
    top = length - 1
    while arities[codes[start + top]] > 0:
        a, b = first[start + top], second[start + top]
        if arities[codes[start + top]] == 1:
            top = a
        elif is_constant[a] == is_constant[b]:
            return top
        else:
            top = b if is_constant[a] else a
    return top


@compiled_part
def _joined(i, a, b, sign, kind, form, is_open):
    """Whether a sum is possible; its unit is noted."""
    if kind[a] == _LOG or kind[b] == _LOG:
        fits = True
        for part in (a, b):
            fits = fits and (kind[part] == _LOG or is_open[part] or _is_pure(form, part))
        if fits:
            kind[i], is_open[i] = _LOG, is_open[a] or is_open[b]
            _raise(form, i, a, 1.0)
            _multiply(form, i, b, sign)
            return True
    kind[i] = _PLAIN
    for part in (a, b):
        if kind[part] != _PLAIN and not is_open[part] and not _is_pure(form, part):
            return False
    known = b if is_open[a] else a
    is_open[i] = is_open[a] and is_open[b]
    if kind[known] == _PLAIN:
        _raise(form, i, known, 1.0)
    else:
        _clear(form, i)
    return is_open[a] or is_open[b] or _is_equal(form, a, b)


@compiled_part
def _multiplied(i, a, b, sign, number, kind, form, is_constant, is_open):
    """Whether a product or quotient is possible; its unit is noted."""
    if is_constant[b] and not is_constant[a]:
        kind[i], is_open[i] = kind[a], is_open[a]
        _raise(form, i, a, number[b] ** sign if kind[a] == _LOG else 1.0)
        return True
    if is_constant[a] and not is_constant[b] and (sign > 0 or kind[b] == _PLAIN):
        kind[i], is_open[i] = kind[b], is_open[b]
        _raise(form, i, b, number[a] if kind[b] == _LOG else sign)
        return True
    is_open[i] = is_open[a] or is_open[b]
    if kind[a] == _EXP and kind[b] == _EXP:
        kind[i] = _EXP
        _raise(form, i, a, 1.0)
        return is_open[i] or _is_equal(form, a, b)
    kind[i] = _PLAIN
    _clear(form, i)
    for part in (a, b):
        if kind[part] == _PLAIN:
            _multiply(form, i, part, 1.0 if part == a else sign)
        elif not is_open[part] and not _is_pure(form, part):
            return False
    return True


@compiled_part
def _raised(i, a, power, kind, form, is_open):
    """Whether a power is possible; its unit is noted."""
    kind[i], is_open[i] = kind[a], is_open[a]
    _raise(form, i, a, 1.0)
    if kind[a] == _EXP:
        return True
    kind[i] = _PLAIN
    _raise(form, i, a, power)
    return kind[a] == _PLAIN or is_open[a] or _is_pure(form, a)


@compiled_part
def _applied(i, a, b, arity, role, kind, form, is_open):
    """Whether a function is possible; its unit is noted."""
    kind[i], is_open[i] = _PLAIN, False
    _clear(form, i)
    if role == _EXPONENTIAL:
        kind[i], is_open[i] = _PLAIN if kind[a] == _LOG else _EXP, is_open[a]
        _raise(form, i, a, 1.0)
        return kind[a] != _EXP or is_open[a] or _is_pure(form, a)
    if role == _LOGARITHM:
        is_open[i] = is_open[a]
        _raise(form, i, a, 1.0)
        if kind[a] == _PLAIN and not _is_pure(form, a):
            kind[i] = _LOG
        return kind[a] != _LOG or is_open[a] or _is_pure(form, a)
    if role == _SAME:
        kind[i], is_open[i] = kind[a], is_open[a]
        _raise(form, i, a, 1.0)
        return True
    if role in (_ALIKE, _RATIO):
        fits = _joined(i, a, b, 1.0, kind, form, is_open) and kind[i] != _LOG
        if role == _RATIO:
            is_open[i] = False
            _clear(form, i)
        return fits
    fits = is_open[a] or _is_pure(form, a)
    return fits and (arity == 1 or is_open[b] or _is_pure(form, b))


@compiled
def _possible(
    codes, first, second, inputs, numbers, starts, longest, arities, roles, powers, exponents,
    open_inputs, found,
):  # fmt: skip
    kind = np.empty(longest, np.int64)
    form = np.zeros((longest, exponents.shape[1]))
    number = np.ones(longest)
    is_open = np.empty(longest, np.bool_)
    is_constant = np.empty(longest, np.bool_)
    fits = np.empty(longest, np.bool_)
    for tree in range(starts.shape[0] - 1):
        start = starts[tree]
        length = starts[tree + 1] - start
        for i in range(length):
            code = codes[start + i]
            a, b = first[start + i], second[start + i]
            role, arity = roles[code], arities[code]
            kind[i], is_open[i], fits[i], is_constant[i] = _PLAIN, False, True, False
            _clear(form, i)
            if code == CONSTANT_CODE:
                is_constant[i], number[i] = True, numbers[start + i]
            elif code == VARIABLE_CODE:
                is_open[i] = open_inputs[inputs[start + i]]
                for base in range(form.shape[1]):
                    form[i, base] = exponents[inputs[start + i], base]
            elif is_constant[a] and (arity == 1 or is_constant[b]):
                # Its value is not worked out: a logarithm times it may have any unit.
                is_constant[i], number[i] = True, np.nan
            else:
                if role in (_ADD, _SUB):
                    fine = _joined(i, a, b, 1.0 if role == _ADD else -1.0, kind, form, is_open)
                elif role in (_MUL, _DIV):
                    sign = 1.0 if role == _MUL else -1.0
                    fine = _multiplied(i, a, b, sign, number, kind, form, is_constant, is_open)
                elif role == _POWER:
                    fine = _raised(i, a, powers[code], kind, form, is_open)
                elif role == _POW and is_constant[b]:
                    fine = _raised(i, a, number[b], kind, form, is_open)
                else:
                    fine = _applied(i, a, b, arity, role, kind, form, is_open)
                is_open[i] = is_open[i] or _is_unknown(form, i)
                fits[i] = fine and fits[a] and (arity == 1 or fits[b])
        found[tree] = fits[_top(codes, first, second, arities, is_constant, start, length)]
