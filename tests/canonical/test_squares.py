"""Sums that are squares."""

import pytest

from closedform import parse
from closedform.canonical.algebra import Algebra
from closedform.canonical.peel import squared
from closedform.canonical.sum_spelling import spell
from closedform.expressions.printing import to_text

NAMES = ("x", "y", "z")


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("x**2 + 2*x*y + y**2", "(x + y)**2"),
        ("x**2 - 2*x*y + y**2 + 17", "(x - y)**2"),
        ("-x**2 - 2*x*y - y**2", "(x + y)**2"),
        ("x**2 + 2*x + 5", "(x + 1)**2"),
        ("x**4 + 2*x**2*y**2 + y**4", "(x**2 + y**2)**2"),
        ("x**2 + 4*y**2 + z**2 + 4*x*y + 2*x*z + 4*y*z", "(x + 2*y + z)**2"),
        ("sin(x)**2 + 2*y*sin(x) + y**2", "(y + sin(x))**2"),
        ("x**2 + y**2", None),
        ("x**2 + 2*x*y - y**2", None),
        ("x*y + x", None),
        ("1/x + y", None),
    ],
)
def test_squared(text: str, form: str | None) -> None:
    algebra = Algebra()
    square = squared(algebra.normal(parse(text, NAMES).tree), algebra)
    assert (None if square is None else to_text(spell(square), NAMES)) == form
