"""How sums are written."""

import pytest

from closedform import parse
from closedform.canonical.algebra import Algebra
from closedform.canonical.sum_spelling import spell
from closedform.expressions.printing import to_text

NAMES = ("x", "y", "z")


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("y - x", "y - x"),
        ("-x - y", "-x - y"),
        ("-x*y - z", "-x*y - z"),
        ("0.5*x", "x/2"),
        ("2/3*x", "2/3*x"),
        ("0.173*x/y", "0.173*x/y"),
        ("x/(2*y)", "x/(2*y)"),
        ("3/(x*y)", "3/(x*y)"),
        ("exp(-x)", "exp(-x)"),
        ("y*exp(-x)", "y/exp(x)"),
        ("2*x + 2*y", "2*(x + y)"),
        ("x + 3*y + 3*z", "x + 3*(y + z)"),
        ("x*y + x*z", "x*(y + z)"),
        ("x*y + x", "x + x*y"),
        ("x + log(y) + 3*log(z)", "x + log(y*z**3)"),
        ("pi*x/2", "pi/2*x"),
        ("x/pi", "x/pi"),
        ("sqrt(2)*x*3", "3*sqrt(2)*x"),
        ("2*exp(x + 1)", "2*exp(1)*exp(x)"),
        ("x**0.5 + y**1.5", "sqrt(x) + y**1.5"),
        ("0*x", "0"),
    ],
)
def test_spell(text: str, form: str) -> None:
    assert to_text(spell(Algebra().normal(parse(text, NAMES).tree)), NAMES) == form


@pytest.mark.parametrize(
    "text",
    ["x*(y + z)", "x + 3*(y + z)", "2*(x + y)", "pi/2*x", "x/pi", "-x - y", "2*exp(1)*exp(x)"],
)
def test_spelling_is_read_back(text: str) -> None:
    algebra = Algebra()
    total = algebra.expanded(algebra.normal(parse(text, NAMES).tree))
    assert algebra.expanded(algebra.normal(spell(total))) == total
