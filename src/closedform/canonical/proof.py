"""Exact proof with SymPy that two gradients are parallel: all minors vanish, everywhere or on the
constraints' surface.
"""

import ctypes
import gc
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from typing import Any

import sympy
from sympy.polys.polyerrors import BasePolynomialError

from closedform.canonical.tolerances import LARGEST_NUMBER, MAX_WHOLE_EXPONENT
from closedform.errors import ExpressionError
from closedform.expressions.constraint import Constraint
from closedform.expressions.expression import Expression
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
