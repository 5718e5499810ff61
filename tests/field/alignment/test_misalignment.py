import numpy as np
import pytest

import closedform as cf
from closedform.errors import ShapeError
from closedform.field.alignment.misalignment import (
    chance_level,
    paper_loss,
    point_misalignment,
    trimmed_mean,
    weighted_mean,
)
from plain_misalignment import misalignment


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(500, 3))


def test_neither_sign_nor_distortion_matters():
    g = cf.parse("x*y + z**2", names=["x", "y", "z"])
    frames = unit(g.gradient(POINTS))[:, :, None]
    for text in ("x*y + z**2", "-3*(x*y + z**2) + 1", "exp(x*y + z**2)", "(x*y + z**2)**3"):
        assert misalignment(cf.parse(text, names=["x", "y", "z"]).gradient(POINTS), frames) < 1e-12
    assert misalignment(cf.parse("x", names=["x", "y", "z"]).gradient(POINTS), frames) > 0.1


def test_value_for_one_neuron_is_the_squared_sine():
    angle = 0.3
    gradients = np.array([[np.cos(angle), np.sin(angle)]])
    assert misalignment(gradients, np.array([[[1.0], [0.0]]])) == pytest.approx(np.sin(angle) ** 2)


def test_several_latents_span_a_space():
    first, second = cf.parse("x*y", names=["x", "y", "z"]), cf.parse("x + z", names=["x", "y", "z"])
    jacobian = np.stack([first.gradient(POINTS), second.gradient(POINTS)], axis=2)
    frames = np.linalg.qr(jacobian)[0]
    mixture = cf.parse("sin(x*y) + (x + z)**3 * x*y", names=["x", "y", "z"])
    assert misalignment(mixture.gradient(POINTS), frames) < 1e-12
    random = unit(RNG.normal(size=(500, 3)))
    assert misalignment(random, frames) == pytest.approx(chance_level(2, 3), abs=0.05)


def test_only_the_tangential_part_counts():
    """On x + y + z = const anything along (1, 1, 1) is invisible."""
    normal = np.ones(3) / np.sqrt(3)
    tangent = np.linalg.svd(normal[None])[2][1:].T
    truth = unit(cf.parse("x*y", names=["x", "y", "z"]).gradient(POINTS) @ tangent)[:, :, None]
    shifted = cf.parse("x*y + (x + y + z)*5", names=["x", "y", "z"]).gradient(POINTS)
    assert misalignment(shifted, truth, tangent) < 1e-12
    per_point = np.broadcast_to(tangent, (500, 3, 2))
    assert misalignment(shifted, truth, per_point) < 1e-12
    constant_on_the_surface = cf.parse("(x + y + z)**2", names=["x", "y", "z"]).gradient(POINTS)
    np.testing.assert_array_equal(point_misalignment(constant_on_the_surface, truth, tangent), 1.0)


def test_zero_and_non_finite_gradients_count_one():
    frames = np.tile([[[1.0], [0.0]]], (4, 1, 1))
    gradients = np.array([[0.0, 0.0], [np.nan, 1.0], [np.inf, 0.0], [1.0, 0.0]])
    np.testing.assert_array_equal(point_misalignment(gradients, frames), [1, 1, 1, 0])


def test_the_size_of_gradients_does_not_matter():
    frames = np.tile([[[1.0], [0.0]]], (2, 1, 1))
    np.testing.assert_allclose(
        point_misalignment(np.array([[1e-140, 1e-140], [1e140, 1e140]]), frames), 0.5
    )


def test_weights():
    values = np.array([0.0, 1.0, 1.0])
    assert weighted_mean(values, np.array([2.0, 1.0, 1.0])) == 0.5
    assert weighted_mean(values, np.array([1.0, 0.0, 0.0])) == 0.0
    assert weighted_mean(values, np.zeros(3)) == 1.0


def test_trimmed_mean_leaves_out_the_worst_share():
    values = np.concatenate([np.full(95, 0.1), np.ones(5)])
    assert trimmed_mean(values, trim=0.05) == pytest.approx(0.1)
    assert trimmed_mean(values, trim=0.0) == pytest.approx(values.mean())
    assert trimmed_mean(values, trim=0.025) == pytest.approx((95 * 0.1 + 2.5) / 97.5)


def test_papers_loss():
    target = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert paper_loss(target * 7, target) == 0.0
    assert paper_loss(-target, target) == 0.0
    assert paper_loss(np.array([[1.0, 0.0], [0.0, -1.0]]), target) == pytest.approx(2.0)
    assert paper_loss(np.zeros((2, 2)), target) == pytest.approx(1.0)
    assert paper_loss(np.array([[1.0, 0.0], [0.0, 0.0]]), target) == pytest.approx(0.5)


def test_shapes_are_checked():
    with pytest.raises(ShapeError):
        misalignment(np.zeros((3, 2)), np.zeros((3, 3, 1)))


@pytest.mark.parametrize(
    ("rank", "tangent_rank", "level"), [(1, 4, 0.75), (2, 2, 0.0), (3, 2, 0.0), (1, 0, 0.0)]
)
def test_chance_level(rank, tangent_rank, level):
    assert chance_level(rank, tangent_rank) == level
