"""Which formulas units allow, in the sense of the class."""

import pytest

from closedform.expressions.legality import (
    Legality,
    carried_constants,
    charge,
    unit_of,
    units_sentences,
)
from closedform.expressions.parse import parse
from closedform.expressions.units import Units

NAMES = ["m", "v", "x", "t", "a"]
UNITS = Units({"m": "kg", "v": "m/s", "x": "m", "t": "s", "a": "rad"})


def allows(text: str, *, may_carry: bool = False, units: Units = UNITS) -> bool:
    return Legality(units, may_carry).allows(parse(text, names=NAMES).tree, NAMES)


@pytest.mark.parametrize(
    "text",
    [
        "m*v**2",
        "x + v*t",
        "x - 3*v*t/4",
        "0.731*x + v*t",  # a pure number
        "log(x) + 2*log(m)",  # counts as x*m**2
        "log(x) - 1.5*log(t) + 0.3",
        "exp(x)*exp(v*t)",  # counts as x + v*t
        "exp(log(x) + log(t))*v",
        "sqrt(x**2 + v**2*t**2)",
        "3*(x + v*t) + 1",  # an invertible function of the whole is free
        "exp(m)",
        "sin(a)*x",
        "m*exp(-x/(v*t))",
        "m/sqrt(1 - x**2/(v*t)**2)",
        "atan2(x, v*t)",
        "max(x, v*t)",
        "abs(x)*m",
    ],
)
def test_possible(text) -> None:
    assert allows(text)


@pytest.mark.parametrize(
    "text",
    [
        "m + v",
        "m*(1 + x)",
        "sin(x)*m",
        "m*exp(-x)",
        "exp(x)*exp(t)",
        "x**a + m**a",
        "m*log(x) + v",
        "x*(log(x) + log(t))",
        "m*x**t",
        "atan2(x, t)",
        "max(x, t)",
    ],
)
def test_impossible(text) -> None:
    assert not allows(text)


def test_a_fitted_constant_may_carry_a_unit_and_a_plain_number_may_not() -> None:
    assert allows("m + 0.737*v", may_carry=True)
    assert allows("m*exp(-0.21*x)", may_carry=True)
    assert not allows("m + 2*v", may_carry=True)
    assert not allows("m*exp(-x)", may_carry=True)
    # One constant cannot carry two units.
    assert not allows("m*exp(-0.21*x) + m*sin(t)", may_carry=True)


def test_an_input_without_a_unit_may_have_any_but_only_one() -> None:
    names = ["x", "q", "t"]
    legality = Legality(Units({"x": "m", "t": "s"}), may_carry=False)
    assert legality.allows(parse("x + q", names).tree, names)
    assert not legality.allows(parse("(x + q)*(t + q)", names).tree, names)


def test_units_of_other_sizes_are_not_added_as_they_are() -> None:
    names = ["x", "y"]
    units = Units({"x": "km", "y": "m"})
    assert not Legality(units, may_carry=False).allows(parse("x + y", names).tree, names)
    assert Legality(units, may_carry=True).allows(parse("1000*x + y", names).tree, names)


def test_known_constants_make_their_units_possible() -> None:
    light = Units(UNITS.inputs, constants={"c": "299792458 m/s"}, pure_numbers=True)
    text = "m/sqrt(1 - 1.11265e-17*v**2)"
    assert allows(text, units=light)
    assert not allows("m/sqrt(1 - 1.11265e-17*x**2)", units=light)
    (own, told) = units_sentences(parse(text, names=NAMES), light)
    assert own == "The formula has the unit kg."
    assert told.endswith("it is 1 * c**-2.")
    assert charge(parse(text, names=NAMES).tree, light, NAMES) == 0


def test_constants_with_units_are_charged_and_printed() -> None:
    formula = parse("v**2 + 0.37*x**2", names=NAMES)
    assert charge(formula.tree, UNITS, NAMES) == 1
    assert "The constant 0.37 carries 1/s**2." in units_sentences(formula, UNITS)
    assert unit_of(formula, UNITS) == "m**2/s**2"


def test_a_constant_that_was_rounded_to_one_is_told_too() -> None:
    formula = parse("v**2 + x**2", names=NAMES)
    (_, told) = units_sentences(formula, UNITS)
    assert told == (
        "For the units to fit, x**2 must be multiplied by a constant of the unit 1/s**2 whose "
        "value is 1 in these units."
    )
    pure = Units(UNITS.inputs, pure_numbers=True)
    assert carried_constants(formula.tree, pure, NAMES) is None
    (impossible,) = units_sentences(formula, pure)
    assert impossible.endswith("it adds different units.")
