import numpy as np
import pytest

import closedform as cf
from closedform.expressions.complexity import constant_values, fitted_positions, skeleton
from closedform.expressions.tree import Constant
from closedform.field.alignment.comparison import comparison_of
from closedform.field.alignment.refit import Tapes, refit


@pytest.fixture
def field():
    points = np.random.default_rng(0).uniform(-1, 1, (400, 2))
    truth = cf.parse("x**4 + 1.37*sin(1.2*v)", names=["x", "v"])
    return cf.GradientField.from_arrays(points, truth.gradient(points), names=["x", "v"])


def test_free_constants_are_fitted_and_exponents_stay(field):
    (found,), (misalignment,) = refit([cf.parse("x**4 + 1.2*sin(1.1*v)", names=["x", "v"])], field)
    assert misalignment < 1e-12
    assert skeleton(found.tree) == skeleton(
        cf.parse("x**4 + 1.2*sin(1.1*v)", names=["x", "v"]).tree
    )
    assert constant_values(found.tree, fitted_positions(found.tree)) == pytest.approx([1.37, 1.2])


def test_numbers_that_belong_to_the_form_stay(field):
    (found,), (misalignment,) = refit(
        [cf.parse("x**4 + 1.25*sin(1.25*v)", names=["x", "v"])], field
    )
    assert str(found) == "x**4 + 1.25*sin(1.25*v)"
    assert misalignment > 1e-4


def test_nothing_to_fit(field):
    assert refit([], field)[0] == []


def test_tapes_are_judged_with_their_own_constants(field):
    tapes = Tapes.of(
        [cf.parse("x**4 + 1.2*sin(1.1*v)", names=["x", "v"]), cf.parse("x + v", names=["x", "v"])]
    )
    comparison = comparison_of(field)
    fitted, misalignments = tapes.fit(comparison, 20)
    assert np.allclose(fitted.judge(comparison), misalignments, atol=1e-14)
    assert tapes.judge(comparison)[0] > misalignments[0]
    assert [len(values) for values in fitted.constants()] == [2, 0]
    assert tapes.read()[1] == cf.parse("x + v", names=["x", "v"])


def test_exponents_that_are_functions_on_the_tape_are_left_as_they_are():
    """x**0.5 is a square root on the tape; asked to fit its exponent, the fit ended with a
    KeyError.
    """
    points = np.random.default_rng(0).uniform(1, 2, (50, 2))
    field = cf.GradientField.from_arrays(points, points, names=["x", "v"])
    root = cf.parse("x**0.5 + 0.7*v", names=["x", "v"])
    places = [i for i, token in enumerate(root.tree.tokens) if isinstance(token, Constant)]
    (fitted,), _ = refit([root], field, positions=[places])
    assert str(fitted).startswith(("x**0.5", "x**(1/2)", "sqrt(x)"))
