"""Moves between forms of one concept."""

import numpy as np
import pytest

from closedform import parse
from closedform.canonical.algebra import Algebra
from closedform.canonical.peel import Sample, moves
from closedform.canonical.sum_spelling import spell
from closedform.expressions.printing import to_text

NAMES = ("x", "y", "z")


def targets(text: str) -> set[str]:
    """What one move leads to on positive inputs."""
    expression = parse(text, NAMES)
    sample = Sample(expression.tree, np.random.default_rng(0).uniform(0.2, 1, (100, 3)))
    algebra = Algebra(sample.sign_of)
    return {
        to_text(spell(total), NAMES)
        for total in moves(algebra.normal(expression.tree), algebra, sample)
    }


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("tanh(x + y)", "x + y"),
        ("exp(x + y)", "x + y"),
        ("(x + y)**2", "x + y"),
        ("sin(x + y/2)", "x + y/2"),
        ("2**(x + y)", "log(2)*(x + y)"),
        ("x**2*y**4", "x*y**2"),
        ("x/(2*x + 3*y)", "1.5*y/x"),
        ("(x + y)/(x + y + z)", "(x + y)/z"),
        ("x/z + y/z", "(x + y)/z"),
        ("log(x) + 2*log(y)", "x*y**2"),
        ("x*exp(y)", "y + log(x)"),
        ("(x + y)*(x - y)", "x**2 - y**2"),
    ],
)
def test_moves(text: str, form: str) -> None:
    assert form in targets(text)


def test_what_cannot_be_inverted_stays() -> None:
    assert "x + y" not in targets("sin(9*(x + y))")
