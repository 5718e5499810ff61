"""Limits hold exactly where they are stated: the last that is taken, and the first that is not."""

from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import Any

import pytest

import closedform as cf
from closedform.errors import ExpressionError
from closedform.expressions.complexity import skeleton
from closedform.expressions.expression import Expression
from closedform.expressions.sympy_bridge import to_sympy
from closedform.expressions.tolerances import (
    LARGEST_DENOMINATOR,
    MAX_EXPONENT,
    MAX_LENGTH,
    MAX_NESTING,
    SHORT_DECIMAL,
)
from closedform.expressions.tree import Constant, decimal, number_text, variable


def test_parentheses_are_nested_as_deeply_as_stated():
    assert cf.parse("(" * MAX_NESTING + "x" + ")" * MAX_NESTING) == cf.parse("x")
    with pytest.raises(ExpressionError, match=f"More than {MAX_NESTING} levels"):
        cf.parse("(" * (MAX_NESTING + 1) + "x" + ")" * (MAX_NESTING + 1))


def test_constants_end_where_the_message_says():
    assert cf.parse("1e300").tree.tokens == (Constant(Fraction(10) ** 300),)
    with pytest.raises(ExpressionError, match="larger than 1e300"):
        cf.parse(str(10**300 + 1))
    assert cf.parse("5e-324*x")([[1.0]]) == 5e-324
    with pytest.raises(ExpressionError, match="smaller than 5e-324"):
        cf.parse("4.9e-324*x")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (Fraction(10**16), "1" + "0" * 16),
        (Fraction(10**17), "1e17"),
        (Fraction(-123, 100_000), "-0.00123"),
        (Fraction(1, 10**5), "0.00001"),
        (Fraction(1, 10**6), "1e-6"),
        (Fraction(-25, 10**8), "-2.5e-7"),
        (Fraction("0." + "1" * SHORT_DECIMAL), "0." + "1" * SHORT_DECIMAL),
        (Fraction("0." + "1" * (SHORT_DECIMAL + 1)), None),
        (Fraction(1, 3), None),
    ],
)
def test_decimals_are_written_as_people_write_them(number, text):
    assert decimal(number) == text


def test_exponents_go_through_exact_algebra_up_to_their_limit():
    power: Any = to_sympy(cf.parse(f"x**{MAX_EXPONENT}"))
    root: Any = to_sympy(cf.parse(f"x**(1/{MAX_EXPONENT})"))
    assert (power.exp, root.exp.q) == (MAX_EXPONENT, MAX_EXPONENT)
    for exponent in (f"{MAX_EXPONENT + 1}", f"(1/{MAX_EXPONENT + 1})", f"(-{MAX_EXPONENT + 1})"):
        with pytest.raises(ExpressionError, match="too large for exact algebra"):
            to_sympy(cf.parse(f"x**{exponent}"))


def test_fractions_are_typeset_up_to_their_largest_denominator():
    last = LARGEST_DENOMINATOR
    assert str(last) in cf.parse(f"5/{last}*x + v").latex()
    assert str(last + 1) not in cf.parse(f"5/{last + 1}*x + v").latex()


def test_errors_show_twenty_characters_on_either_side():
    text = "a" * 30 + "$" + "b" * 30
    with pytest.raises(ExpressionError) as caught:
        cf.parse(text)
    place = text.index("$")
    assert caught.value.position == place
    assert f"near {text[place - 20 : place + 20]!r})" in str(caught.value)


def test_long_names_are_cut_in_errors():
    with pytest.raises(ExpressionError, match=r"'a{59}\.\.\.': it has 300"):
        cf.parse("x", names=["x", "a" * 300])


def test_a_lone_constant_has_the_skeleton_of_any_other():
    assert skeleton(cf.parse("2").tree) == skeleton(cf.parse("3.5").tree)
    assert skeleton(cf.parse("2").tree) != skeleton(cf.parse("x").tree)


def test_trees_and_constants_cannot_be_changed():
    tree: Any = cf.parse("2*x").tree
    number: Any = Constant(Fraction(2))
    with pytest.raises((FrozenInstanceError, AttributeError)):
        tree.tokens = ()
    with pytest.raises((FrozenInstanceError, AttributeError)):
        number.value = Fraction(3)


def test_the_longest_text_is_read_and_a_longer_one_is_not() -> None:
    assert str(cf.parse("x" + " " * (MAX_LENGTH - 1))) == "x"
    with pytest.raises(ExpressionError, match=f"{MAX_LENGTH + 1} characters"):
        cf.parse("x" + " " * MAX_LENGTH)


def test_an_input_without_a_name_is_refused() -> None:
    with pytest.raises(ExpressionError, match="Input 1 occurs, but only 1 inputs are named"):
        Expression(variable(1), ("x",))
    assert str(Expression(variable(0), ("x",))) == "x"


def test_long_numbers_are_written_whole() -> None:
    for large in (10**30 + 1, 10**60 + 1):
        assert Fraction(number_text(Fraction(large))) == large
        assert Fraction(number_text(Fraction(large, 2))) == Fraction(large, 2)
