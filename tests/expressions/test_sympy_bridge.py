import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings

import closedform as cf
from closedform.errors import ExpressionError
from closedform.expressions.expression import Expression
from closedform.expressions.sympy_bridge import from_sympy, to_sympy
from closedform.expressions.tree import apply, variable
from closedform.testing.strategies import expressions


@given(expressions(max_size=14))
@settings(max_examples=300, deadline=None)
def test_a_round_trip_preserves_the_function(e):
    try:
        form = to_sympy(e)
        back = from_sympy(form, e.names)
    except ExpressionError:
        assume(False)
        raise
    points = np.random.default_rng(0).uniform(0.3, 1.7, (20, 2))
    before, after = e(points), back(points)
    # SymPy cancels, so it may be finite where the original is not; never the other way round. Where
    # a rounding of the inputs changes the value, so does another order of operations.
    with np.errstate(all="ignore"):
        usable = (
            np.isfinite(before)
            & (np.abs(before) < 1e12)
            & (np.abs(e(points * (1 + 1e-14)) - before) < 1e-9)
        )
    np.testing.assert_allclose(
        after[usable], before[usable], rtol=1e-6, atol=1e-6, err_msg=f"{e} -> {form} -> {back}"
    )


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("v**2/2 + sin(x)", "v**2/2 + sin(x)"),
        ("x - y*z", "x - y*z"),
        ("1/x + 1/sqrt(y)", "1/sqrt(y) + 1/x"),
        ("exp(1)*x", "exp(1)*x"),
        ("pi*x", "pi*x"),
        ("0.173/(v**2 + x**2)", "0.173/(v**2 + x**2)"),
        ("2.5123456789*x", "2.5123456789*x"),
        ("abs(x) - tanh(y)", "-tanh(y) + abs(x)"),
    ],
)
def test_forms_come_back_as_people_write_them(text, printed):
    e = cf.parse(text)
    assert str(from_sympy(e.sympy(), e.names)) == printed


def test_numbers_are_exact():
    assert to_sympy(cf.parse("0.1 + 0.2")) == sympy.Rational(3, 10)


def test_symbols_are_real():
    assert to_sympy(cf.parse("sqrt(x**2)")) == sympy.Abs(sympy.Symbol("x", real=True))


def test_what_has_no_counterpart_is_told():
    x = sympy.Symbol("x")
    with pytest.raises(ExpressionError, match="gamma"):
        from_sympy(sympy.gamma(x), ["x"])
    with pytest.raises(ExpressionError, match="not among the inputs"):
        from_sympy(x, ["y"])
    with pytest.raises(ExpressionError, match="no counterpart"):
        from_sympy(sympy.I * x, ["x"])


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
