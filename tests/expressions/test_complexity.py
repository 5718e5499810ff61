import pytest

import closedform as cf
from closedform.expressions.complexity import Costs


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", 1),
        ("3", 3),
        ("x + y", 3),
        ("x + 2", 5),
        ("sin(x)", 6),
        ("exp(x)", 6),
        ("sqrt(x)", 5),
        ("x*x", 3),
        ("x**2", 3),
        ("square(x)", 3),
        ("(x + y)**2", 7),
        ("cube(x)", 5),
        ("x**3", 5),
        ("x**4", 5),
        ("1/x", 2),
        ("inv(x)", 2),
        ("x**(-1)", 2),
        ("x**(1/2)", 5),
        ("-x", 2),
        ("(-1)*x", 2),
        ("x + (-y)", 3),
        ("x - (-y)", 3),
        ("sin(0.184)", 3),
        ("x**1", 1),
        ("v**2 + x**2 + x**4/2", 3 + 1 + 3 + 1 + 5 + 1 + 3),
    ],
)
def test_the_papers_costs_on_the_cheapest_spelling(text, expected):
    assert cf.parse(text).complexity() == expected


def test_costs_are_settable():
    costs = Costs(constant=1, variable=2, operators={"sin": 1, "mul": 10})
    assert cf.parse("sin(x) + 3").complexity(costs) == 1 + 2 + 1 + 1
    assert cf.parse("x*x").complexity(costs) == min(10 + 4, 4 + 2, 1 + 2 + 1)
