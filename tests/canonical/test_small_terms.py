"""Forms without one of their terms."""

import numpy as np
import pytest

from closedform import parse
from closedform.canonical.algebra import Algebra
from closedform.canonical.proposals import slope_shares, without_small_terms

POINTS = np.random.default_rng(0).uniform(-1, 1, (300, 3))


def test_each_term_in_turn_the_least_first() -> None:
    expression = parse("x**2 + 0.3*y + 0.01*sin(z) + 5")
    forms = [str(form) for form in without_small_terms(expression, POINTS)]
    assert forms == ["x**2 + 0.3*y", "x**2 + 0.01*sin(z)", "30*y + sin(z)"]


def test_shares_add_up() -> None:
    total = Algebra().normal(parse("x**2 + 0.3*y + 0.01*sin(z)").tree)
    shares = slope_shares(total, POINTS)
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1)


def test_brackets_of_products_lose_a_term() -> None:
    forms = [str(form) for form in without_small_terms(parse("x*(y + 0.01*z)"), POINTS)]
    assert forms == ["x*y", "x*z"]


def test_single_term_has_no_variant() -> None:
    assert without_small_terms(parse("x*y"), POINTS[:, :2]) == []
    assert without_small_terms(parse("log(-1)*x"), POINTS[:, :1]) == []


def test_a_term_stays_without_which_a_negative_number_is_left_under_a_root() -> None:
    """It ended a whole reading with an ArithmeticError."""
    points = np.random.default_rng(0).uniform(2, 3, (50, 2))
    assert [str(form) for form in without_small_terms(parse("y*sqrt(x - 1)"), points)] == [
        "sqrt(x)*y"
    ]
