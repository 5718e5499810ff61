"""What an answer shows of a formula: where data would decide, and which inputs it needs."""

import numpy as np
import pytest
from scipy.spatial import Delaunay

import closedform as cf
from closedform.judge.measurement import angles_between, leave_one_out, most_different

NAMES = ["c", "sigma"]


@pytest.fixture(scope="module")
def field() -> cf.GradientField:
    """Concentrations and a width: positive, and never both large."""
    rng = np.random.default_rng(0)
    points = rng.uniform(0.001, 1, (600, 2)) ** 2 * [40, 1]
    points = points[points[:, 0] / 40 + points[:, 1] < 1]
    gradients = np.column_stack([points[:, 1], points[:, 0]])
    return cf.GradientField.from_arrays(points, gradients, names=NAMES, tangent="none")


@pytest.mark.parametrize("other", ["c*sigma + 0.01*c**2", "c*sigma/(1 + 0.2*sigma**2)"])
def test_they_lie_inside_the_hull_of_the_data(field, other):
    """A width of -0.01 and a concentration of -33 were proposed."""
    first, second = (cf.parse(text, names=NAMES) for text in ("c*sigma", other))
    where, degrees = most_different(first, second, field, np.random.default_rng(1))
    assert [name for name, _ in where] == NAMES
    point = np.array([value for _, value in where])
    assert (point > 0).all()
    # Four digits are told, so that a point of the rim may lie beyond it by as much.
    nudged = point + 2e-3 * (field.points.mean(axis=0) - point)
    assert Delaunay(field.points).find_simplex(nudged) >= 0
    on_data = angles_between(first, second, field.points, field.scale)
    assert degrees >= on_data.max() > 0


def test_between_the_points_more_is_seen_than_at_them():
    """Two clouds with nothing between them: the formulas differ there."""
    rng = np.random.default_rng(0)
    points = rng.normal(0, 0.1, (200, 2)) + np.where(rng.random((200, 1)) < 0.5, -2.0, 2.0)
    field = cf.GradientField.from_arrays(points, np.ones((200, 2)), names=["x", "y"])
    first, second = cf.parse("x + y"), cf.parse("x + y + 3*exp(-4*x**2)", names=["x", "y"])
    where, degrees = most_different(first, second, field, rng)
    assert degrees > 20 > angles_between(first, second, points, field.scale).max()
    assert abs(dict(where)["x"]) < 1.5


def test_inputs_that_a_concept_needs(field):
    needs = leave_one_out(cf.parse("c*sigma", names=NAMES), field)
    assert [need.without > 0.1 for need in needs] == [True, True]
