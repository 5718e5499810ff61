"""Factor, sign and additive constant."""

import pytest

from closedform import parse
from closedform.canonical.algebra import Algebra
from closedform.canonical.form import scaled
from closedform.canonical.sum_spelling import spell
from closedform.expressions.printing import to_text

NAMES = ("v", "x", "y")


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("-v - x", "v + x"),
        ("x - v", "v - x"),
        ("3*x + 7", "x"),
        ("v**2 + 2*sin(x)", "v**2/2 + sin(x)"),
        ("2*x + 3*y", "x + 1.5*y"),
        ("x/2 + y/3", "1.5*x + y"),
        ("0.5*x + 0.5*y + v", "2*v + x + y"),
        ("0.00173*v + 0.98*x**2 + x*y", "0.00173*v + x*(0.98*x + y)"),
        ("pi*x + pi*y", "x + y"),
        ("x + y/pi", "pi*x + y"),
        ("v + sqrt(2)*x", "v + sqrt(2)*x"),
    ],
)
def test_scaled(text: str, form: str) -> None:
    algebra = Algebra()
    total = scaled(algebra.normal(parse(text, NAMES).tree), algebra)
    assert to_text(spell(total), NAMES) == form
    assert scaled(total, algebra) == total


def test_constant_is_empty() -> None:
    algebra = Algebra()
    assert scaled(algebra.normal(parse("3 + pi", NAMES).tree), algebra).parts == ()
