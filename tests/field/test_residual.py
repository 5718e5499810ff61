import numpy as np
import pytest

import closedform as cf
from closedform.errors import ShapeError
from closedform.field.complements import residual_field
from closedform.field.gradient_field import GradientField
from plain_misalignment import misalignment

NAMES = ["x", "y", "z", "t"]
POINTS = np.random.default_rng(0).uniform(0.3, 1.5, (300, 4))
FIRST, SECOND = cf.parse("x*y + z", names=NAMES), cf.parse("x**2 - t", names=NAMES)


def score(field, expression):
    return misalignment(
        field.project(expression.gradient(field.points)), field.frames, weights=field.weights
    )


def mixed(tangent="none", constraints=()):
    one, two = FIRST.gradient(POINTS), SECOND.gradient(POINTS)
    jacobians = np.stack([one + 0.4 * two, POINTS[:, :1] * two - one], axis=1)
    return GradientField.from_arrays(
        POINTS, jacobians, names=NAMES, tangent=tangent, constraints=constraints
    )


@pytest.mark.parametrize("linear", [False, True])
def test_the_second_concept_and_its_mixtures_are_left(linear):
    points = POINTS.copy()
    if linear:
        points[:, 3] = 1 - points[:, 2]
    one, two = FIRST.gradient(points), SECOND.gradient(points)
    field = GradientField.from_arrays(
        points,
        np.stack([one + two, two - 2 * one], axis=1),
        names=NAMES,
        tangent="linear" if linear else "none",
    )
    left = residual_field(field, one)
    assert (left.rank, left.tangent.rank) == (1, field.tangent.rank - 1)
    assert score(left, SECOND) < 1e-12
    assert score(left, cf.parse("x**2 - t + 3*(x*y + z)", names=NAMES)) < 1e-12
    assert score(left, cf.parse("x**2 - 0.5*t", names=NAMES)) > 1e-2


def test_a_small_addition_to_the_found_concept_is_no_second_one():
    field = mixed()
    nearly = cf.parse("x*y + z + 0.02*y", names=NAMES)
    assert score(field, nearly) < 1e-3
    assert score(residual_field(field, FIRST.gradient(POINTS)), nearly) > 0.1


def test_points_without_a_gradient_lose_their_weight():
    gradients = FIRST.gradient(POINTS)
    gradients[:5] = 0
    gradients[5] = np.nan
    left = residual_field(mixed(), gradients)
    assert (left.weights[:6] == 0).all()
    assert (left.weights[6:] > 0).all()


def test_nothing_is_left_of_one_latent():
    field = GradientField.from_arrays(POINTS, FIRST.gradient(POINTS), names=NAMES, tangent="none")
    with pytest.raises(ShapeError, match="rank 1"):
        residual_field(field, FIRST.gradient(POINTS))


def test_modulo_a_concept_its_functions_have_no_gradient_left():
    field = mixed()
    left = field.modulo([FIRST])
    assert (left.rank, left.tangent.rank, left.quality.rank) == (1, 3, 1)
    assert score(left, SECOND) < 1e-12
    assert score(left, cf.parse("(x*y + z)*(x**2 - t)", names=NAMES)) < 1e-12
    assert score(left, cf.parse("exp(x*y + z)", names=NAMES)) > 0.2
    assert field.modulo([]) is field


def test_modulo_is_the_same_for_any_function_of_the_concept():
    field = mixed()
    one, other = field.modulo([FIRST]), field.modulo([cf.parse("(x*y + z)**3", names=NAMES)])
    first, second = (
        span @ np.swapaxes(span, 1, 2)
        for span in (left.tangent.ambient(left.frames) for left in (one, other))
    )
    np.testing.assert_allclose(first, second, atol=1e-9)


def test_a_concept_that_depends_on_a_found_one_leaves_no_point():
    third = cf.parse("3*y*t + 4*t**2", names=NAMES)
    jacobians = np.stack([concept.gradient(POINTS) for concept in (FIRST, SECOND, third)], axis=1)
    field = GradientField.from_arrays(POINTS, jacobians, names=NAMES, tangent="none")
    assert field.rank == 3
    assert (field.modulo([FIRST, cf.parse("2*(x*y + z) + 1", names=NAMES)]).weights == 0).all()
    with pytest.raises(ShapeError, match="rank 1"):
        field.modulo([FIRST, SECOND, third])
