"""Whether two gradients are parallel. SymPy proves it, everywhere or on the surface of constraints,
if all minors vanish; at single points 90 digits decide what floating-point numbers cannot.
"""

import ctypes
import gc
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import mpmath
import sympy
from sympy.polys.polyerrors import BasePolynomialError

from closedform.arrays import FloatArray
from closedform.canonical.tolerances import (
    FINE_DIGITS,
    LARGEST_NUMBER,
    MAX_WHOLE_EXPONENT,
    PARALLEL_DIGITS,
    ROUGH_DIGITS,
)
from closedform.errors import ExpressionError
from closedform.expressions.constraint import Constraint
from closedform.expressions.evaluate import value_and_gradient
from closedform.expressions.expression import Expression
from closedform.expressions.libraries import Library
from closedform.expressions.operators import OPERATORS
from closedform.expressions.sympy_bridge import symbols, to_sympy


def parallel_is_proved(
    a: Expression, b: Expression, constraints: Sequence[Constraint], seconds: float
) -> bool:
    """Whether SymPy proves in time that the gradients are parallel; False says nothing."""
    try:
        with time_limit(seconds):
            return _prove(a, b, constraints)
    except (DeadlineExceeded, ExpressionError, RecursionError):
        return False
    except (NotImplementedError, BasePolynomialError, ValueError, TypeError, ZeroDivisionError):
        # SymPy's own ways to say that a form is beyond it.
        return False


def _prove(a: Expression, b: Expression, constraints: Sequence[Constraint]) -> bool:
    forms = [to_sympy(a), to_sympy(b)]
    equations = [to_sympy(c.function) for c in constraints if c.is_equation]
    levels = [to_sympy(c.function) for c in constraints if not c.is_equation]
    inputs = symbols(a.names)
    everything = [*forms, *equations, *levels]
    if any(
        power.exp.is_Integer and abs(power.exp) > MAX_WHOLE_EXPONENT
        for form in everything
        for power in form.atoms(sympy.Pow)
    ):
        return False
    (forms, levels), equations, inputs = _eliminate(forms, levels, equations, inputs)
    inputs = [
        symbol
        for symbol in inputs
        if any(form.has(symbol) for form in [*forms, *levels, *equations])
    ]
    rows = [
        [sympy.diff(form, symbol) for symbol in inputs] for form in [*levels, *equations, *forms]
    ]
    size = len(rows)
    if size > len(inputs):
        return True
    ideal = None
    if equations:
        numerators = [sympy.fraction(sympy.together(equation))[0] for equation in equations]
        ideal = sympy.groebner(numerators, *inputs, order="grevlex")
    minors = (
        sympy.Matrix([[row[column] for column in columns] for row in rows])
        for columns in combinations(range(len(inputs)), size)
    )
    return all(_vanishes(minor.det(method="berkowitz"), ideal) for minor in minors)


def _eliminate(
    forms: list[Any], levels: list[Any], equations: list[Any], inputs: list[Any]
) -> tuple[Any, list[Any], list[Any]]:
    """Solve equations that are linear in an input, and put the solution everywhere."""
    remaining: list[Any] = []
    pending = list(equations)
    while pending:
        equation = pending.pop(0)
        for symbol in inputs:
            slope = sympy.diff(equation, symbol)
            if slope.is_number and slope != 0:
                solved = {symbol: sympy.expand(symbol - equation / slope)}
                forms = [form.xreplace(solved) for form in forms]
                levels = [form.xreplace(solved) for form in levels]
                pending = [sympy.expand(form.xreplace(solved)) for form in pending]
                remaining = [sympy.expand(form.xreplace(solved)) for form in remaining]
                inputs = [other for other in inputs if other != symbol]
                break
        else:
            remaining.append(equation)
    return (forms, levels), [form for form in remaining if form != 0], inputs


def _vanishes(form: Any, ideal: Any | None) -> bool:
    """Whether a form is zero, by ever stronger and slower means."""
    if form == 0 or sympy.expand(form) == 0:
        return True
    if ideal is None and _numerator_vanishes(form):
        return True
    if ideal is not None:
        numerator = sympy.expand(sympy.fraction(sympy.together(form))[0])
        return numerator == 0 or (
            numerator.is_polynomial(*ideal.gens) and ideal.reduce(numerator)[1] == 0
        )
    if any(max(abs(number.p), number.q) > LARGEST_NUMBER for number in form.atoms(sympy.Rational)):
        return False
    return sympy.simplify(form) == 0


def _numerator_vanishes(form: Any) -> bool:
    """Replace functions by symbols with their relations, and reduce the numerator to 0."""
    relations: list[tuple[Any, Any]] = []
    known: dict[Any, Any] = {}

    def root(base: Any, exponent: Any) -> Any:
        """base**exponent as a whole power of a symbol r with r**q = base."""
        if (base, exponent.q) not in known:
            symbol = sympy.Dummy(positive=True)
            known[base, exponent.q] = symbol
            relations.append((symbol, symbol**exponent.q - base))
        return known[base, exponent.q] ** exponent.p

    def sign(argument: Any) -> Any:
        if argument not in known:
            known[argument] = sympy.Dummy(real=True)
            relations.append((known[argument], known[argument] ** 2 - 1))
        return known[argument]

    form = (
        sympy.expand_trig(form.rewrite([sympy.tan], sympy.cos))
        if form.has(sympy.tan)
        else sympy.expand_trig(form)
    )
    form = form.replace(sympy.Abs, lambda u: u * sign(u)).replace(sympy.sign, sign)
    form = sympy.expand(form, power_exp=True, power_base=False, deep=True)
    form = form.replace(
        lambda e: e.is_Pow and e.exp.is_Rational and not e.exp.is_Integer,
        lambda e: root(e.base, e.exp),
    )
    for angle in {function.args[0] for function in form.atoms(sympy.sin, sympy.cos)}:
        sine, cosine = sympy.Dummy(real=True), sympy.Dummy(real=True)
        named = {sympy.sin(angle): sine, sympy.cos(angle): cosine}
        form = form.xreplace(named)
        relations = [(symbol, relation.xreplace(named)) for symbol, relation in relations]
        relations.append((sine, sine**2 + cosine**2 - 1))
    numerator = sympy.expand(sympy.fraction(sympy.together(form))[0])
    # The newest symbol first: an inner root may occur in the relation of an outer one.
    for symbol, relation in reversed(relations):
        numerator = sympy.expand(
            sympy.rem(numerator, sympy.fraction(sympy.together(relation))[0], symbol)
        )
        numerator = sympy.expand(sympy.fraction(sympy.together(numerator))[0])
    return numerator == 0


class DeadlineExceeded(BaseException):
    """Raised inside the block; not an `Exception`, so that no handler in between swallows it."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Interrupt the block with `DeadlineExceeded` after so many seconds; works in any thread.

    Garbage is not collected meanwhile: in a callback of the collector, which JAX has one of, the
    interrupt would be reported and lost.
    """
    target = ctypes.c_ulong(threading.get_ident())
    lock = threading.Lock()
    is_over = is_sent = has_arrived = False

    def interrupt() -> None:
        nonlocal is_sent
        with lock:
            if not is_over:
                is_sent = True
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    target, ctypes.py_object(DeadlineExceeded)
                )

    timer = threading.Timer(seconds, interrupt)
    timer.daemon = True
    collects = gc.isenabled()
    gc.disable()
    try:
        try:
            timer.start()
            yield
        except DeadlineExceeded:
            has_arrived = True
            raise
        finally:
            try:
                with lock:
                    is_over = True
                timer.cancel()
                if is_sent and not has_arrived:
                    _take_what_was_sent()
            except DeadlineExceeded:
                pass
    finally:
        if collects:
            gc.enable()


def _take_what_was_sent() -> None:
    """Let an interrupt arrive that was sent when the block was just over.

    Withdrawing it would do as well, but Python 3.11 then hangs under a debugger or another tracer.
    """
    for _ in range(100):
        time.sleep(0)


class _Arithmetic:
    """Real arithmetic at one precision."""

    def __init__(self, digits: int) -> None:
        self.context: Any = mpmath.MPContext()
        self.context.dps = digits
        special = {
            "absolute": abs,
            "choose": lambda condition, first, second: first if condition else second,
        }
        self.library = Library(
            "mpmath",
            self.context,
            lambda exact: self.context.mpf(exact.numerator) / exact.denominator,
            special,
            is_exact=True,
            adapt=self._adapted,
        )

    def _adapted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A user's function computes in mpmath's own context, at this one's precision."""

        def at_this_precision(*operands: Any) -> Any:
            with mpmath.workprec(self.context.prec):
                return self.context.mpf(function(*(mpmath.mpf(operand) for operand in operands)))

        return at_this_precision

    def value_and_gradient(
        self, expression: Expression, inputs: list[Any]
    ) -> tuple[Any, list[Any]]:
        value, columns = value_and_gradient(expression.tree, inputs, self.library)
        gradient = [columns.get(index, self.context.mpf(0)) for index in range(len(inputs))]
        if any(
            isinstance(x, self.context.mpc) or not self.context.isfinite(x)
            for x in [value, *gradient]
        ):
            raise ValueError("not real and finite")
        return value, gradient

    def onto_surface(self, inputs: list[Any], equations: Sequence[Expression]) -> list[Any]:
        """Newton steps, which double the correct digits, until the equations hold fully."""
        for _ in range(9 if equations else 0):
            results = [self.value_and_gradient(equation, inputs) for equation in equations]
            slopes = self.context.matrix([gradient for _, gradient in results])
            values = self.context.matrix([value for value, _ in results])
            step = slopes.T * self.context.lu_solve(slopes * slopes.T, values)
            inputs = [x - step[index] for index, x in enumerate(inputs)]
            if max(abs(x) for x in step) < self.context.mpf(10) ** (5 - self.context.dps):
                break
        return inputs


_ROUGH, _FINE = _Arithmetic(ROUGH_DIGITS), _Arithmetic(FINE_DIGITS)

_SHRINKS = _FINE.context.mpf(10) ** -PARALLEL_DIGITS

ZERO = _SHRINKS**2
"""A squared sine below this is zero."""


@dataclass(frozen=True, slots=True)
class Direction:
    """Two functions at one point: their values, the squared sine between their gradients, and the
    sign of the cosine.

    The sine is None where one of the gradients is zero on the surface of the constraints.
    """

    value_a: Any
    value_b: Any
    zero_a: bool
    zero_b: bool
    squared_sine: Any | None
    sign: int


def check_precision(expression: Expression) -> None:
    """Make sure that every operator can be evaluated at high precision."""
    for name in {
        token for token in expression.tree.tokens if isinstance(token, str) and token in OPERATORS
    }:
        _ = _FINE.library.bound(OPERATORS[name]).value


def compare_at(
    point: FloatArray,
    a: Expression,
    b: Expression,
    constraints: Sequence[Constraint],
    scale: FloatArray | None = None,
) -> Direction | None:
    """Compare two gradients at a point, after moving it onto the surface; None where something is
    not real or finite. With the spread of each input the angle is that in scaled inputs.
    """
    try:
        (value_a, value_b), tangents, sizes = _tangents(point, a, b, constraints, _FINE, scale)
        _, _, rough_sizes = _tangents(point, a, b, constraints, _ROUGH, scale)
    except (ZeroDivisionError, OverflowError, ValueError, TypeError):
        return None
    zero_a, zero_b = (
        rough == 0 or fine <= rough * _SHRINKS
        for fine, rough in zip(sizes, rough_sizes, strict=True)
    )
    if zero_a or zero_b:
        return Direction(value_a, value_b, zero_a, zero_b, None, 0)
    product = _dot(tangents[0], tangents[1])
    factor = product / sizes[0]
    rest = [y - factor * x for x, y in zip(*tangents, strict=True)]
    return Direction(
        value_a, value_b, False, False, _dot(rest, rest) / sizes[1], 1 if product > 0 else -1
    )


def _tangents(
    point: FloatArray,
    a: Expression,
    b: Expression,
    constraints: Sequence[Constraint],
    arithmetic: _Arithmetic,
    scale: FloatArray | None = None,
) -> tuple[list[Any], list[list[Any]], list[Any]]:
    """Values, gradients in the constraints' tangent space, and the gradients' squared lengths."""
    inputs = [arithmetic.context.mpf(float(coordinate)) for coordinate in point]
    inputs = arithmetic.onto_surface(inputs, [c.function for c in constraints if c.is_equation])
    spreads = [1] * len(inputs) if scale is None else [float(spread) for spread in scale]

    def scaled(gradient: list[Any]) -> list[Any]:
        return [slope * spread for slope, spread in zip(gradient, spreads, strict=True)]

    results = [arithmetic.value_and_gradient(expression, inputs) for expression in (a, b)]
    basis: list[list[Any]] = []
    for constraint in constraints:
        normal = scaled(arithmetic.value_and_gradient(constraint.function, inputs)[1])
        rest = _without(normal, basis)
        size = _dot(rest, rest)
        if size > _SHRINKS * _dot(normal, normal):
            length = arithmetic.context.sqrt(size)
            basis.append([x / length for x in rest])
    tangents = [_without(scaled(gradient), basis) for _, gradient in results]
    return (
        [value for value, _ in results],
        tangents,
        [_dot(tangent, tangent) for tangent in tangents],
    )


def _without(vector: list[Any], basis: list[list[Any]]) -> list[Any]:
    for axis in basis:
        factor = _dot(vector, axis)
        vector = [x - factor * y for x, y in zip(vector, axis, strict=True)]
    return vector


def _dot(x: list[Any], y: list[Any]) -> Any:
    return _FINE.context.fsum(a * b for a, b in zip(x, y, strict=True))
