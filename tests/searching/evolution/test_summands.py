import numpy as np
import pytest

import closedform as cf
from closedform.field.alignment.misalignment import point_misalignment
from closedform.searching.evolution.summands import MAX_TERMS, SumSolver, summands

NAMES = ["x", "y"]


def solver(truth, tangent=None, scale=(1.0, 1.0)):
    points = np.random.default_rng(0).uniform(0.2, 1.8, (100, len(scale)))
    gradients = cf.parse(truth, names=NAMES).gradient(points) * np.array(scale)
    gradients = gradients if tangent is None else gradients @ tangent
    frames = gradients / np.linalg.norm(gradients, axis=1, keepdims=True)
    return SumSolver(points, frames[:, :, None], np.array(scale), tangent, np.ones(100))


@pytest.mark.parametrize(
    ("truth", "start", "expected"),
    [
        ("sin(x) - y**2/2", "sin(x) + 7*(y*y)", "sin(x) - 0.5*(y*y)"),
        ("x*y + x", "x*y - x", "x*y + x"),
        ("x*y + x", "x*y - x + exp(y)", "x*y + x"),
    ],
)
@pytest.mark.parametrize("scale", [(1.0, 1.0), (3.0, 0.1)])
def test_coefficients_are_exact(truth, start, expected, scale):
    found = solver(truth, scale=scale).solve(cf.parse(start, names=NAMES).tree)
    assert found is not None
    points = np.random.default_rng(1).uniform(0.2, 1.8, (50, 2))
    got = cf.expressions.expression.Expression(found, tuple(NAMES)).gradient(points)
    wanted = cf.parse(expected, names=NAMES).gradient(points)
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    assert point_misalignment(got, wanted[:, :, None]).max() < 1e-12
    assert len(summands(found)) == 2


def test_signs_need_no_constant():
    found = solver("x*y - x").solve(cf.parse("x*y + 3*x", names=NAMES).tree)
    assert found == cf.parse("x*y - x", names=NAMES).tree


def test_a_tangent_space_is_used():
    """On x + y = const only the difference of the partial derivatives counts; every sum fits, and
    none is refused.
    """
    tangent = np.array([[1.0], [-1.0]]) / np.sqrt(2)
    assert solver("x*y", tangent=tangent).solve(cf.parse("x*x + y", names=NAMES).tree) is not None


def test_what_is_no_small_sum_is_left_alone():
    many = " + ".join(f"sin({k}*x)" for k in range(1, MAX_TERMS + 2))
    for text in ("x*y", "x + 3", "x + 2*x", many, "log(x - 9) + y"):
        assert solver("x*y").solve(cf.parse(text, names=NAMES).tree) is None
