"""The constants that a fit may move."""

from fractions import Fraction

import pytest

from closedform import parse
from closedform.canonical.constants import free_constants, with_constants
from closedform.errors import ShapeError


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("x**2 + y", []),
        ("1.5*x**2 + y", ["3/2"]),
        ("x**1.5 + y", ["3/2"]),
        ("1/(x + 0.25)", ["1/4"]),
        ("2/x + y", ["2"]),
        ("pi*x + sqrt(2)*y + 2*exp(1)*exp(x)", []),
        ("sin(2*x + 0.5)", ["2", "1/2"]),
    ],
)
def test_which_are_free(text: str, values: list[str]) -> None:
    assert [str(free.value) for free in free_constants(parse(text))] == values


def test_constant_of_functions_counts_as_one_number() -> None:
    (free,) = free_constants(parse("x + y*sin(0.184)"))
    assert float(free.value) == pytest.approx(0.1829635, abs=1e-7)
    assert str(with_constants(parse("x + y*sin(0.184)"), [0.25])) == "x + y*0.25"


def test_new_values_take_their_places() -> None:
    expression = parse("1.5*x**2 + sin(0.3*y)")
    assert str(with_constants(expression, [Fraction(1, 3), 2.0])) == "1/3*x**2 + sin(2*y)"
    assert (
        with_constants(expression, [free.value for free in free_constants(expression)])
        == expression
    )


def test_number_of_values_is_checked() -> None:
    with pytest.raises(ShapeError, match="give one for each"):
        with_constants(parse("1.5*x"), [])
