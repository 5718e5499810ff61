import pytest

import closedform as cf
from closedform.errors import ExpressionError
from closedform.expressions.constraint import Constraint, parse_constraint


def test_equations_and_levels():
    equation = parse_constraint("x**2 + y**2 = 1", ["x", "y"])
    assert equation.is_equation
    assert equation.function([[0.6, 0.8]])[0] == pytest.approx(0.0)
    assert parse_constraint("x == y", ["x", "y"]).is_equation
    assert not parse_constraint("x + y", ["x", "y"]).is_equation


def test_expressions_are_taken_by_name():
    level = parse_constraint(cf.parse("y + 2*x"), ["y", "t", "x"])
    assert level == Constraint(cf.parse("y + 2*x", names=["y", "t", "x"]), is_equation=False)
    assert parse_constraint(level, ["x", "y"]).function.names == ("x", "y")


def test_two_equals_signs_are_refused():
    with pytest.raises(ExpressionError, match="one '='"):
        parse_constraint("x = y = 1", ["x", "y"])
