import time

import pytest

import closedform as cf
from closedform.errors import ExpressionError
from closedform.expressions.tree import apply, constant, variable

A, B, C = variable(0), variable(1), variable(2)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a - b - c", apply("sub", apply("sub", A, B), C)),
        ("a/b*c", apply("mul", apply("div", A, B), C)),
        ("a**b**c", apply("pow", A, apply("pow", B, C))),
        ("-a**b", apply("neg", apply("pow", A, B))),
        ("a**-b", apply("pow", A, apply("neg", B))),
        ("-a*b", apply("mul", apply("neg", A), B)),
        ("a + b*c", apply("add", A, apply("mul", B, C))),
        ("a^2", apply("pow", A, constant(2))),
        ("+a", A),
        ("sin(a)*cos(b)", apply("mul", apply("sin", A), apply("cos", B))),
        (
            "ln(a) + arctan(b) - Abs(c)",
            apply("sub", apply("add", apply("log", A), apply("atan", B)), apply("abs", C)),
        ),
        ("1e-3*a", apply("mul", constant("1/1000"), A)),
        (".5*a", apply("mul", constant("1/2"), A)),
        ("-3", constant(-3)),
        ("1/3", constant("1/3")),
        ("((a))", A),
    ],
)
def test_precedence_and_forms(text, tree):
    assert cf.parse(text, names=["a", "b", "c"]).tree == tree


def test_names_are_found_and_sorted_like_a_person_would():
    assert cf.parse("x10 + x2*sin(v) + pi").names == ("v", "x2", "x10")


def test_names_with_other_signs_stand_in_backticks():
    e = cf.parse("`<script>alert(1)</script>` + `sin`", names=["<script>alert(1)</script>", "sin"])
    assert e([[1.0, 2.0]]) == 3.0
    assert cf.parse(str(e), names=e.names) == e


def test_decimal_text_is_exact():
    assert cf.parse("0.1 + x").sympy() - cf.parse("x").sympy() == cf.parse("1/10").sympy()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "ends where"),
        ("x +", "ends where"),
        ("x y", "operator is missing"),
        ("(x`)`", "operator is missing"),
        ("max(x`,`y)", "operator is missing"),
        ("(x", "never closed"),
        ("x)", "closes nothing"),
        ("sinn(x)", r"did you mean 'sin'\? Known: "),
        ("qqqq(x)", r"no function 'qqqq'\. Known: "),
        ("sin", "needs an argument"),
        ("sin()", "stands where"),
        ("sin(x, x)", "more than one argument"),
        ("x $ 2", "not part of an expression"),
        ("1e999*x", "out of range"),
        ("9" * 401, "out of range"),
        ("__import__('os')", "no function|not part"),
        ("x.real", "not part"),
        ("x² + v²", "not a power here"),
    ],
)
def test_mistakes_are_told_with_their_place(text, message):
    with pytest.raises(ExpressionError, match=message) as caught:
        cf.parse(text)
    assert caught.value.position is not None


def test_unknown_input_gets_a_suggestion():
    with pytest.raises(
        ExpressionError, match=r"no input named 'velocty'; .*'velocity'.* Inputs: velocity, x"
    ):
        cf.parse("velocty**2", names=["velocity", "x"])


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000 + "x",
        "-" * 50_000 + "x",
        "sin(" * 20_000 + "x" + ")" * 20_000,
        "x**" * 30_000 + "x",
        "x+" * 49_000 + "x",
    ],
)
def test_nesting_and_size_end_in_our_own_error(text):
    with pytest.raises(ExpressionError):
        cf.parse(text)


def test_constant_towers_are_never_evaluated():
    start = time.process_time()
    e = cf.parse("9**9**9**9 + x")
    assert str(e) == "9**9**9**9 + x"
    assert e([[1.0]]) == float("inf")
    with pytest.raises(ExpressionError, match="too large"):
        e.sympy()
    assert time.process_time() - start < 5


def test_input_names_are_checked():
    with pytest.raises(ExpressionError, match="must differ"):
        cf.parse("x", names=["x", "x"])
    with pytest.raises(ExpressionError, match="cannot be named 'pi'"):
        cf.parse("x", names=["x", "pi"])


def test_the_greek_letter_is_the_number():
    assert cf.parse("π*x") == cf.parse("pi*x")


@pytest.mark.parametrize("bad", [None, 3, b"x"])
def test_only_text_is_read(bad):
    with pytest.raises(ExpressionError, match="read from text"):
        cf.parse(bad)


def test_names_of_superscripts_and_of_many_digits_are_sorted():
    """int() takes neither, and the error was raw."""
    from closedform.expressions.parse import sort_names

    assert sort_names(["x10", "x2", "x", "x02"]) == ["x", "x02", "x2", "x10"]
    assert sort_names(["r³", "r²", "r"]) == ["r", "r²", "r³"]
    long, longer = "x" + "9" * 5000, "x1" + "0" * 5000
    assert sort_names([longer, long, "x3"]) == ["x3", long, longer]
