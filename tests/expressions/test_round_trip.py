import random
from fractions import Fraction

import pytest

import closedform as cf
from closedform.errors import ExpressionError
from closedform.expressions.complexity import with_numbers
from closedform.expressions.tree import (
    Constant,
    apply,
    constant,
    number_fault,
    number_text,
    variable,
)


def is_read_back(text: str) -> bool:
    """Whether what is printed is read as the same tree with the same names."""
    expression = cf.parse(text)
    return cf.parse(str(expression)) == cf.parse(str(expression), expression.names) == expression


@pytest.mark.parametrize(
    "text",
    [
        "-x**2", "(-x)**2", "(-2)**x", "x**-1", "x**(-1/3)", "2**-x**2", "--x", "-(-x)", "-(x*y)",
        "x - (-y)", "x/(-1/3)",
        "1/0", "-1/0", "-(1/0)", "1e-300/1e300*x", "1/3e299", "1e-300/7", "1e300/1e-300",
        "5e-324*x", "1/7/1e300/1e10",
        "1e16", "1e17", "1/1152921504606846976", "-1/3*x", "x*(-1/3)", "1/3/x", "(1/3)**x", "e*E",
        "`sin`*sin(`sin`)",
    ],
)  # fmt: skip
def test_signs_powers_and_extreme_numbers(text):
    assert is_read_back(text)


def test_a_number_that_floats_cannot_hold_is_refused_or_stays_a_quotient():
    """1e-300/1e300 became the number 1e-600, whose text could not be read."""
    for text in ("1e-600*x", "2e-324", "0." + "0" * 350 + "1", "1e301", "9" * 302):
        with pytest.raises(ExpressionError, match="out of range") as caught:
            cf.parse(text)
        assert caught.value.position == 0
    assert cf.parse("1e-300/1e300").tree == apply("div", constant("1e-300"), constant("1e300"))
    with pytest.raises(ExpressionError, match="smaller than 5e-324"):
        constant(Fraction(1, 10**600))


def test_digits_of_other_scripts_are_no_numbers():
    with pytest.raises(ExpressionError, match="not part of an expression"):
        cf.parse("2*٣")


def test_random_numbers_are_taken_exactly_or_not_at_all():
    rng = random.Random(7)
    taken = 0
    for _ in range(3_000):
        value = Fraction(
            rng.randrange(10 ** rng.randrange(1, 320)),
            rng.randrange(1, 10 ** rng.randrange(1, 320)),
        )
        value = (
            value / 10 ** rng.randrange(0, 200)
            if rng.random() < 0.5
            else Fraction(value.numerator, 10**310)
        )
        if number_fault(value) is None:
            taken += 1
            assert cf.parse(number_text(value), names=[]).tree.tokens == (Constant(value),)
        else:
            with pytest.raises(ExpressionError):
                constant(value)
    assert 300 < taken < 2_900


def test_fitted_numbers_obey_the_same_bounds():
    tree = apply("mul", constant(0.5), variable(0))
    assert with_numbers(tree, [0], [5e-324]).tokens[0] == Constant(Fraction("5e-324"))
    for bad in (1e305, float("nan"), float("inf")):
        with pytest.raises(ExpressionError):
            with_numbers(tree, [0], [bad])


def test_what_printing_would_nest_too_deeply_is_refused_at_once():
    """x**-x**-x ... was read, and printed with more parentheses than are read."""
    assert is_read_back("x**-" * 150 + "x")
    for text in ("x**-" * 250 + "x", "1e-290/7+" * 400 + "x"):
        with pytest.raises(ExpressionError, match="could not be read back"):
            cf.parse(text)
