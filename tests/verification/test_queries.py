"""The network itself is asked where two formulas differ."""

import numpy as np
import pytest

import closedform as cf
from closedform.keywords import KeywordError
from closedform.verification import queries
from closedform.verification.queries import refuted

NAMES = ["x", "v"]
TRUTH = cf.parse("v**2 + sin(x)", names=NAMES)
NEAR = cf.parse("v**2 + x - x**3/6", names=NAMES)


def field_of(expression, n_points=500, tangent="none"):
    points = np.random.default_rng(0).uniform(-2.5, 2.5, (n_points, len(expression.names)))
    return cf.GradientField.from_arrays(
        points, expression.gradient(points), names=list(expression.names), tangent=tangent
    )


def ask(query, rivals, field=None, seed=0):
    rng = np.random.default_rng(seed)
    return refuted(query, TRUTH, rivals, field_of(TRUTH) if field is None else field, rng)


def test_the_network_refutes_what_it_does_not_hold():
    assert ask(TRUTH.gradient, [NEAR, TRUTH]) == [True, False]


def test_a_rival_is_refuted_when_it_is_clearly_worse_and_not_before():
    """A network between the two: both are as wrong as each other."""

    def between(points):
        return TRUTH.gradient(points) / 2 + NEAR.gradient(points) / 2

    assert ask(between, [NEAR]) == [False]


def test_it_is_asked_at_some_points_among_the_data_where_they_differ_most():
    asked = []

    def query(points):
        asked.append(points)
        return TRUTH.gradient(points)

    field = field_of(TRUTH)
    ask(query, [NEAR], field)
    (points,) = asked
    assert points.shape == (queries.N_ASKED, 2)
    assert (np.abs(points) <= np.abs(field.points).max(axis=0)).all()
    # x - x**3/6 leaves the sine at the ends.
    assert np.abs(points[:, 0]).min() > 1.2


def test_points_on_a_surface_cannot_be_drawn():
    circle = np.random.default_rng(1).normal(size=(400, 2))
    circle /= np.linalg.norm(circle, axis=1, keepdims=True)
    field = cf.GradientField.from_arrays(
        circle, TRUTH.gradient(circle), names=NAMES, constraints=["x**2 + v**2"]
    )
    assert ask(TRUTH.gradient, [NEAR], field) == [False]


def test_gradients_of_another_shape_are_refused():
    with pytest.raises(KeywordError, match="must return a gradient for each point"):
        ask(lambda points: TRUTH.gradient(points)[:, 0], [NEAR])


def test_several_latents_are_not_asked():
    points = np.random.default_rng(0).uniform(-2, 2, (400, 3))
    jacobians = np.zeros((400, 2, 3))
    jacobians[:, 0, 0] = jacobians[:, 1, 1] = 1.0
    field = cf.GradientField.from_arrays(points, jacobians, names=["x", "y", "z"], tangent="none")
    assert field.rank == 2

    def query(_):
        raise AssertionError("asked")

    rivals = [cf.parse("x + y", names=["x", "y", "z"])]
    assert refuted(query, rivals[0], rivals, field, np.random.default_rng(0)) == [False]
