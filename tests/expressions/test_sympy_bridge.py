import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings

import closedform as cf
from closedform.errors import ExpressionError
from closedform.expressions.expression import Expression
from closedform.expressions.sympy_bridge import symbols, to_sympy
from closedform.expressions.tree import apply, variable
from closedform.testing import expressions


def _values(form, names, points):
    """A form at points, nan where it is not a real number."""
    function = sympy.lambdify(symbols(names), form, "mpmath")
    return np.array([_real(function, point) for point in points])


def _real(function, point):
    try:
        number = mpmath.mpmathify(function(*map(mpmath.mpf, point)))
    except (ArithmeticError, AttributeError, TypeError, ValueError):  # also of complex numbers
        return np.nan
    return np.nan if number.imag else float(number.real)


@given(expressions(max_size=14))
@settings(max_examples=300, deadline=None)
def test_sympy_has_the_same_values(e):
    try:
        form = to_sympy(e)
    except ExpressionError:
        assume(False)
        raise
    # Ours are limits where SymPy divides by an exact zero: tanh(y)**(1/(x - x)).
    assume(not form.has(sympy.zoo, sympy.nan, sympy.oo, -sympy.oo, sympy.I))
    points = np.random.default_rng(0).uniform(0.3, 1.7, (20, 2))
    before = e(points)
    # SymPy cancels, so it may be finite where the original is not; never the other way round. Where
    # a rounding of the inputs changes the value, so does another order of operations.
    # One change alone may leave a wild function such as cos(cosh(64)) where it was, by chance.
    with np.errstate(all="ignore"):
        usable = np.isfinite(before) & (np.abs(before) < 1e12)
        for change in (1e-14, -1e-14, 3e-14, -3e-14, 1e-13, -1e-13):
            usable &= np.abs(e(points * (1 + change)) - before) < 1e-9
    after = _values(form, e.names, points[usable])
    np.testing.assert_allclose(
        after, before[usable], rtol=1e-6, atol=1e-6, err_msg=f"{e} -> {form}"
    )


def test_numbers_are_exact():
    assert to_sympy(cf.parse("0.1 + 0.2")) == sympy.Rational(3, 10)


def test_symbols_are_real():
    assert to_sympy(cf.parse("sqrt(x**2)")) == sympy.Abs(sympy.Symbol("x", real=True))


def test_nesting_beyond_sympy_is_told():
    tree = variable(0)
    for _ in range(900):
        tree = apply("sin", tree)
    with pytest.raises(ExpressionError, match="nested too deeply"):
        Expression(tree, ("x",)).latex()
    long_sum = cf.parse(" + ".join(f"x{i}*x{i + 1}" for i in range(1500)))
    assert len(long_sum.sympy().args) == 1500


def test_long_exponents_do_not_hang():
    """SymPy writes out 2**(p/q) with a power of 2 of q digits."""
    e = cf.parse("(2*x)**0.12345678912345 + 3**0.1234567891")
    with pytest.raises(ExpressionError, match="too large for exact algebra"):
        to_sympy(e)
    assert float(e.sympy().subs(sympy.Symbol("x", real=True), 1).evalf()) == pytest.approx(
        e([[1.0]])[0]
    )
    assert "x^{0.123457}" in e.latex()


def test_what_sympy_cannot_compare_is_refused_in_our_words():
    with pytest.raises(ExpressionError, match="not a real number"):
        to_sympy(cf.parse("-max(cosh(y/x*erf(1/(y - y))), x)", names=["x", "y"]))
