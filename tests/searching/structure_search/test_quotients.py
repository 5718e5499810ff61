"""Quotients of sums of monomials, grown from quotients of two, and by null spaces."""

import numpy as np
import pytest

import closedform as cf
from closedform.expressions.expression import Expression
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.alignment.refit import refit
from closedform.searching.structure_search.quantities import Data, first_state
from closedform.searching.structure_search.quotients import exact_quotients, quotients
from closedform.testing import KnownField


def found_in(truth, names, noise=0.0):
    """The formula that comes nearest on other points, and by how much it misses them."""
    known = KnownField(truth, tuple(names), 1.0, 2.5)
    field = known.field(np.random.default_rng(0), 800, noise)
    data = Data.of(field, 800, np.random.default_rng(0))
    trees = quotients(data, first_state(data), lambda: True)
    fitted, _ = refit([Expression(tree, field.names) for tree in trees], field)
    fresh = known.field(np.random.default_rng(9))
    return min(float(field_misalignment(formula, fresh).mean()) for formula in fitted)


@pytest.mark.parametrize(
    ("truth", "names"),
    [
        ("(x + 2*y*z)/(1 + x*z)", "xyz"),
        ("(x**2 + y*z)/(3 + x*y + z**2)", "xyz"),
        ("(a*b + c*d)/(a + d)", "abcd"),
        ("(0.5*x*y + z)/(0.3 + w**2 + 2*y*z)", "wxyz"),
        ("x**2 + y*z + 3*z", "xyz"),
        ("(2*y**2 + 3*x*y)/(0.7 + 3*x + 3*x*y**2)", "xy"),
        ("(2*y*z + 0.7*x)/(2 + 0.5*x*z + 0.3*x**2*y)", "xyz"),
    ],
)
def test_quotients_with_cross_terms_are_read(truth, names):
    assert found_in(truth, names) < 1e-12


def test_noise_does_not_hide_them():
    assert found_in("(x + 2*y*z)/(1 + x*z)", "xyz", noise=np.deg2rad(1.0)) < 1e-4


def test_no_pole_lies_inside_the_data():
    known = KnownField("(x + 2*y*z)/(4 + x*z)", ("x", "y", "z"), -1.5, 1.5)
    field = known.field(np.random.default_rng(0), 800)
    data = Data.of(field, 800, np.random.default_rng(0))
    trees = quotients(data, first_state(data), lambda: True)
    fitted, values = refit([Expression(tree, field.names) for tree in trees], field)
    exact = [formula for formula, value in zip(fitted, values, strict=True) if value < 1e-12]
    assert exact
    order = np.argsort(cf.parse(known.truth, names=["x", "y", "z"])(field.points))
    for formula in exact:
        # Its reciprocal has the same directions, but is no invertible function of it.
        steps = np.sign(np.diff(formula(field.points[order])))
        assert abs(steps.sum()) == len(steps)


def test_what_is_no_quotient_of_low_degree_is_not_read():
    assert found_in("x*exp(y*z)/(1 + log(x*z))", "xyz") > 1e-6


def test_it_ends_when_time_does():
    field = KnownField("x + y", ("x", "y"), 1.0, 2.0).field(np.random.default_rng(0), 200)
    data = Data.of(field, 200, np.random.default_rng(0))
    assert quotients(data, first_state(data), lambda: False) == []


@pytest.mark.parametrize("factor", [1e-40, 1e-12, 1e12, 1e40])
def test_inputs_of_any_size_end_without_an_error(factor):
    rng = np.random.default_rng(0)
    points = rng.uniform(1, 2, (200, 3)) * [1.0, factor, 1.0]
    gradients = np.column_stack([points[:, 2], np.ones(200) / factor, points[:, 0]])
    field = cf.GradientField.from_arrays(points, gradients, names=["x", "y", "z"])
    data = Data.of(field, 200, rng)
    assert isinstance(quotients(data, first_state(data), lambda: True), list)


@pytest.mark.parametrize("width", [1e-4, 1e-6])
def test_inputs_that_hardly_vary_end_without_an_error(width):
    """Monomials are nearly multiples of one another then, and rounding decides."""
    rng = np.random.default_rng(1)
    points = 1 + width * rng.uniform(size=(200, 3))
    points[:, 1] = points[:, 0] ** 2
    gradients = np.cos(3 * points[:, ::-1] / width) + points
    field = cf.GradientField.from_arrays(points, gradients, names=["x", "y", "z"], tangent="none")
    data = Data.of(field, 200, rng)
    assert isinstance(quotients(data, first_state(data), lambda: True), list)


def exact_in(truth, names, low=0.5, noise=0.0):
    """What is read of a field, and other points of it."""
    known = KnownField(truth, tuple(names), low, 2.0)
    field = known.field(np.random.default_rng(0), 1000, noise)
    data = Data.of(field, 1000, np.random.default_rng(0))
    trees = exact_quotients(data, first_state(data))
    return [Expression(tree, field.names) for tree in trees], known.field(np.random.default_rng(9))


@pytest.mark.parametrize(
    ("truth", "names", "low"),
    [
        ("(x + 2*y*z)/(1 + x*z)", "xyz", 0.5),
        ("(2*y**2 + 3*x*y)/(0.7 + 3*x + 3*x*y**2)", "xy", -2.0),
        ("(2*x*y + 1.5*z*w**2)/(3 + 3*x*w + 0.7*z*y)", "xyzw", 0.5),
        ("(0.5*x**2*y + 3*z**2)/(0.7 + 0.3*x*y**2 + 0.3*z)", "xyz", 0.5),
        ("(2*x*y**2 + 0.7*y**2*z**2)/(0.5 + 0.5*y*x**2 + 2*z)", "xyz", 0.5),
    ],
)
def test_quotients_are_read_whatever_their_sides_share(truth, names, low):
    (found,), fresh = exact_in(truth, names, low)
    assert float(field_misalignment(found, fresh).mean()) < 1e-12


def test_the_fewest_monomials_are_told():
    (found,), _ = exact_in("(x + 2*y*z)/(1 + x*z)", "xyz")
    assert sum(token in ("add", "sub") for token in found.tree.tokens) == 2


@pytest.mark.parametrize(
    ("truth", "noise"), [("x*exp(y*z)/(1 + log(x*z + 1))", 0.0), ("(x + 2*y*z)/(1 + x*z)", 1e-3)]
)
def test_nothing_is_read_where_no_quotient_is_exact(truth, noise):
    assert exact_in(truth, "xyz", noise=noise)[0] == []
