import numpy as np
import pytest

from closedform.errors import ExpressionError
from closedform.expressions.constraint import Constraint, parse_constraint
from closedform.expressions.parse import parse


def test_an_expression_is_constant_at_an_unknown_level():
    constraint = parse_constraint("A11 + A22", ["A11", "A12", "A21", "A22"])
    assert not constraint.is_equation
    assert constraint.function == parse("A11 + A22", ["A11", "A12", "A21", "A22"])


@pytest.mark.parametrize("text", ["x**2 + y**2 = 1", "x**2 + y**2 == 1", "x**2+y**2=1"])
def test_an_equation_becomes_left_minus_right(text):
    constraint = parse_constraint(text, ["x", "y"])
    assert constraint.is_equation
    assert constraint.function([[0.6, 0.8], [1.0, 1.0]]) == pytest.approx([0.0, 1.0])


def test_a_right_side_of_zero_adds_nothing():
    constraint = parse_constraint("x - y = 0", ["x", "y"])
    assert (str(constraint.function), constraint.is_equation) == ("x - y", True)


def test_names_are_found_on_both_sides():
    assert parse_constraint("x10 = x2 + q").function.names == ("q", "x2", "x10")


def test_columns_are_those_of_the_given_names():
    constraint = parse_constraint(parse("v", ["v"]), ["x", "v"])
    np.testing.assert_array_equal(constraint.function.gradient([[1.0, 2.0]]), [[0.0, 1.0]])


def test_a_constraint_passes_through_and_keeps_being_an_equation():
    circle = parse_constraint("x**2 = 1", ["x"])
    assert parse_constraint(circle) is circle
    assert parse_constraint(circle, ["x", "y"]) == Constraint(
        circle.function.rename(["x", "y"]), is_equation=True
    )


def test_a_sign_inside_a_quoted_name_is_part_of_the_name():
    constraint = parse_constraint("`a=b` + `c<d` = 2", ["a=b", "c<d"])
    assert constraint.is_equation
    assert constraint.function([[1.0, 1.0]]) == pytest.approx([0.0])


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("x <= 1", 2, "is not an equation"),
        ("x != 1", 2, "is not an equation"),
        ("x = y = 1", 6, "more than one"),
        ("x === 1", 4, "more than one"),
        ("x = ", 4, "text ends"),
        ("x = 2 +* 3", 7, "stands where"),
        ("x + z = 1", 4, "no input named 'z'"),
        ("1 = z", 4, "no input named 'z'"),
    ],
)
def test_errors_say_where(text, position, message):
    with pytest.raises(ExpressionError, match=message) as caught:
        parse_constraint(text, ["x", "y"])
    assert caught.value.position == position


@pytest.mark.parametrize("text", ["1 = 1", "3 + pi"])
def test_a_constraint_must_hold_an_input(text):
    with pytest.raises(ExpressionError, match="No input occurs"):
        parse_constraint(text, ["x"])


def test_expressions_are_taken_by_name():
    level = parse_constraint(parse("y + 2*x"), ["y", "t", "x"])
    assert level == Constraint(parse("y + 2*x", names=["y", "t", "x"]), is_equation=False)
    assert parse_constraint(level, ["x", "y"]).function.names == ("x", "y")
