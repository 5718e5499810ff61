import pytest
import sympy

from closedform.networks.errors import ModelFileError
from closedform.networks.untrusted.shapes import clean_expression

S, U = sympy.Symbol("s77", positive=True, integer=True), sympy.Symbol("u0", integer=True)


@pytest.mark.parametrize(
    "expression",
    [
        S,
        S + 1,
        2 * S * U - 3,
        sympy.Max(1, S),
        sympy.Min(8, 8 * S),
        S**2,
        sympy.Rational(1, 2) * S,
        sympy.floor(S / 2),
        sympy.Eq(S, 4),
        sympy.Ne(U, 0),
        U >= 0,
        U < 1000,
        sympy.And(U >= 0, S < 3),
        sympy.Mod(S, 2),
        sympy.Float(0.5) * S,
        sympy.Integer(-7),
        sympy.true,
    ],
    ids=str,
)
def test_what_torch_writes_comes_back_the_same(expression: sympy.Basic) -> None:
    text = sympy.srepr(expression)

    assert sympy.sympify(clean_expression(text)) == expression
    assert clean_expression(clean_expression(text)) == clean_expression(text)


@pytest.mark.parametrize("text", ["s0 + 1", "2*s0 - u1", "s0//2", "(s0 % 4)*3", "-s0", "s0**2"])
def test_sums_in_the_way_of_older_versions(text: str) -> None:
    assert sympy.sympify(clean_expression(text)) == sympy.sympify(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "s0.is_integer",
        "s0[0]",
        "'s0'",
        "print(s0)",
        "Symbol('x; y')",
        "Symbol('s0', evil=True)",
        "Symbol('s0', integer=s1)",
        "Add(*s0)",
        "Add(s0, evaluate=False)",
        "s0 if s1 else s2",
        "lambda: 1",
        "2**s0",
        "2**99999",
        "9" * 40,
        "(" * 5000,
        "-" * 9000 + "1",
        "s0 + " * 2000 + "s0",
        "s0\x00",
        "\u017f0",
        None,
        3,
    ],
    ids=lambda text: repr(text)[:30],
)
def test_everything_else_is_refused(text: object) -> None:
    with pytest.raises(ModelFileError, match="not plain arithmetic"):
        clean_expression(text)
