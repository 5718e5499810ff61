"""Gradients against SymPy's, which differentiates by rules of its own, and against finite
differences.
"""

import mpmath
import numpy as np
import pytest
import sympy

import closedform as cf
from closedform.expressions.expression import Expression
from closedform.expressions.kernel import FINE, values_and_gradients
from closedform.expressions.sympy_bridge import symbols, to_sympy
from closedform.expressions.tape import compile_tapes
from closedform.testing import random_tree

NAMES = ("x", "y", "z")


def exact_derivatives(form):
    """SymPy's derivatives by all inputs, as one function of them; steps in them are signs, which
    mpmath has.
    """
    inputs = symbols(NAMES)
    derivatives = [
        form.diff(symbol).replace(sympy.Heaviside, lambda u, *_: (1 + sympy.sign(u)) / 2)
        for symbol in inputs
    ]
    return sympy.lambdify(inputs, derivatives, "mpmath")


def exact_gradient(derivatives, point):
    """Their values at a point in 40 digits, or None where they are not real."""
    with mpmath.workdps(40):
        values = derivatives(*map(mpmath.mpf, point))
        if any(isinstance(value, mpmath.mpc) and abs(value.imag) > 0 for value in values):
            return None
        return np.array([mpmath.mpf(mpmath.re(value)) for value in values])


def relative_change(exact, other):
    size = max(abs(value) for value in exact)
    return float(max(abs(a - b) for a, b in zip(exact, other, strict=True)) / size)


@pytest.mark.parametrize("count", [150, pytest.param(2000, marks=pytest.mark.slow)])
def test_gradients_agree_with_sympy(count):
    """Random expressions at 1e-9; those whose exact gradient a rounding of the inputs already
    changes do not count.
    """
    rng = np.random.default_rng(7)
    compared = 0
    while compared < count:
        e = Expression(random_tree(rng, int(rng.integers(2, 16)), 3), NAMES)
        point = rng.uniform(-2, 2, 3)
        value, gradient = e(point[None])[0], e.gradient(point[None])[0]
        if (
            not (
                np.isfinite(value)
                and np.isfinite(gradient).all()
                and np.abs(gradient).max() > 1e-100
            )
            or abs(value) > 1e100
        ):
            continue
        try:
            derivatives = exact_derivatives(to_sympy(e))
            exact = exact_gradient(derivatives, point)
            shaken = exact_gradient(derivatives, point * (1 + 1e-14))
        except (cf.errors.ExpressionError, ZeroDivisionError, OverflowError, TypeError):
            continue
        if (
            exact is None
            or shaken is None
            or not any(exact)
            or relative_change(exact, shaken) > 1e-11
        ):
            continue
        assert relative_change(exact, [mpmath.mpf(g) for g in gradient]) < 1e-9, (str(e), point)
        kernel = values_and_gradients(compile_tapes([e.tree]), point[None])
        assert kernel[2][0, 0] == FINE
        assert relative_change(exact, [mpmath.mpf(g) for g in kernel[1][0, 0]]) < 1e-9, (
            str(e),
            point,
        )
        compared += 1


def test_gradients_agree_with_finite_differences():
    rng = np.random.default_rng(11)
    compared = 0
    while compared < 100:
        e = Expression(random_tree(rng, int(rng.integers(2, 12)), 3), NAMES)
        point = rng.uniform(-2, 2, 3)
        gradient = e.gradient(point[None])[0]
        differences = [central_differences(e, point, step) for step in (1e-5, 2e-5)]
        size = np.abs(gradient).max()
        # Two steps that agree have settled; where they do not, the function bends too much to say.
        if (
            not np.isfinite([*differences[0], *differences[1], size]).all()
            or size < 1e-6
            or size > 1e4
        ):
            continue
        if np.abs(differences[0] - differences[1]).max() > 1e-7 * size:
            continue
        np.testing.assert_allclose(gradient, differences[0], atol=2e-6 * size, err_msg=str(e))
        compared += 1


def central_differences(e, point, step):
    shifts = np.eye(3) * step
    return (e(point + shifts) - e(point - shifts)) / (2 * step)


def test_expression_is_callable_on_points():
    e = cf.parse("v**2/2 + sin(x)", names=["x", "v"])
    np.testing.assert_array_equal(e([[0, 2], [0, 4]]), [2.0, 8.0])
    np.testing.assert_array_equal(e.gradient([[0, 2]]), [[1.0, 2.0]])
    assert cf.parse("3", names=["x"])([[1.0], [2.0]]).tolist() == [3.0, 3.0]
    assert cf.parse("3", names=["x"]).gradient([[1.0], [2.0]]).tolist() == [[0.0], [0.0]]


def test_wrong_shapes_are_told():
    with pytest.raises(cf.errors.ShapeError, match=r"\(n_points, 2\)"):
        cf.parse("x + y")([1.0, 2.0])


def test_an_additive_constant_that_is_not_finite_does_not_pass():
    e = cf.parse("x + 1/0")
    assert not np.isfinite(e([[1.0]])).any()
    assert np.isnan(e.gradient([[1.0]])).all()


def test_rename_finds_inputs_by_name():
    e = cf.parse("x + 2*y", names=["x", "y"]).rename(["y", "t", "x"])
    assert e([[1.0, 100.0, 3.0]]) == 5.0
    with pytest.raises(cf.errors.ExpressionError, match="'y' is not among"):
        cf.parse("x + y").rename(["x"])
