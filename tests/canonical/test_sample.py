"""What formulas do on the data."""

import numpy as np
import pytest

from closedform import parse
from closedform.canonical.peel import Sample, power_function
from closedform.expressions.tree import apply, variable

POINTS = np.random.default_rng(0).uniform(-1, 1, (300, 2))


def sample(text: str = "x + y") -> Sample:
    return Sample(parse(text, ["x", "y"]).tree, POINTS)


def test_range_and_sign() -> None:
    low, high = sample().range_of(parse("x + 3", ["x", "y"]).tree) or (0.0, 0.0)
    assert low == pytest.approx(POINTS[:, 0].min() + 3)
    assert high == pytest.approx(POINTS[:, 0].max() + 3)
    signs = [
        sample().sign_of(parse(text, ["x", "y"]).tree) for text in ("x + 3", "x - 3", "x", "log(x)")
    ]
    assert signs == [1, -1, 0, 0]


def test_invertible_on_the_range_only() -> None:
    inner = parse("x + y", ["x", "y"]).tree
    shifted = parse("x + y + 3", ["x", "y"]).tree
    assert sample().is_invertible(apply("tanh", variable(0)), inner)
    assert not sample().is_invertible(apply("sin", variable(0)), inner)
    assert not sample().is_invertible(power_function(-1), inner)
    assert sample().is_invertible(power_function(-1), shifted)
    assert sample().is_invertible(power_function(2), shifted)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("x + y", "-3*x - 3*y", True),
        ("x + y", "exp(x + y)", True),
        ("x + y", "(x + y)**2", False),
        ("x + y", "1/(x + y)", False),
        ("x + y", "x + 1.00001*y", False),
        ("x + y", "x", False),
        ("x + y", "log(x + y)", False),
        ("tanh(40*(x + y))", "x + y", True),
    ],
)
def test_same_concept_on_the_points(first: str, second: str, same: bool) -> None:
    assert sample(first).is_same(parse(second, ["x", "y"]).tree) is same


def test_points_without_a_gradient_do_not_count() -> None:
    assert len(sample("log(x)").points) == (POINTS[:, 0] > 0).sum()
    assert len(sample("3 + 0*x").points) == 0
    assert not sample("3 + 0*x").is_same(parse("x", ["x", "y"]).tree)
