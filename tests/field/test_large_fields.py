"""Beyond a number of points, what is measured about a field is estimated on some of them."""

import numpy as np
import pytest

from closedform.field import quality as quality_module
from closedform.field.gradient_field import GradientField
from closedform.field.neighborhoods import count_distinct, looked_at, nearest_others
from closedform.field.tangent import affine_spectrum, linear_tangent
from closedform.field.tolerances import MOST_LOOKED_AT

MANY = 3 * MOST_LOOKED_AT


def uniform(n_points, n_inputs, seed=0):
    return np.random.default_rng(seed).uniform(1, 2, (n_points, n_inputs))


def test_what_is_looked_at_is_bounded_and_always_the_same():
    assert looked_at(MOST_LOOKED_AT).tolist() == list(range(MOST_LOOKED_AT))
    some = looked_at(10**6)
    assert len(set(some.tolist())) == MOST_LOOKED_AT
    assert (np.diff(some) > 0).all()
    assert (some == looked_at(10**6)).all()
    # A grid in the order of its rows keeps all its columns.
    assert len(set((some % 1000).tolist())) == 1000


def test_neighbours_are_looked_for_among_a_bounded_number_of_points(monkeypatch):
    seen = []

    def spy(scaled, *rest):
        seen.append(len(scaled))

    monkeypatch.setattr(quality_module, "directional_noise", spy)
    points = uniform(MANY, 3)
    GradientField.from_arrays(points, points)
    assert seen == [MOST_LOOKED_AT]


@pytest.mark.parametrize("degrees", [0.0, 3.0])
def test_noise_of_many_points_is_that_of_the_field(degrees):
    points = uniform(MANY, 2)
    angles = np.radians(degrees) * np.random.default_rng(1).normal(size=MANY)
    turned = points[:, ::-1] * np.cos(angles)[:, None] + np.column_stack(
        [-points[:, 0], points[:, 1]]
    ) * np.sin(angles)[:, None]  # fmt: skip
    quality = GradientField.from_arrays(points, turned).quality
    assert quality.n_points == MANY
    assert quality.noise_degrees == pytest.approx(degrees, rel=0.1, abs=0.05)


def test_a_constraint_that_one_point_of_many_breaks_is_none():
    points = uniform(MANY, 3)
    points[:, 2] = 3 - points[:, 0]
    assert linear_tangent(points, np.ones(3)).rank == 2
    unseen = np.setdiff1d(np.arange(MANY), looked_at(MANY))[0]
    points[unseen, 2] += 0.5
    assert linear_tangent(points, np.ones(3)).rank == 3


def test_the_spectrum_in_blocks_is_that_of_the_whole():
    points = uniform(MANY, 5) * [1, 1e-3, 10, 1, 1]
    scaled = points - points.mean(axis=0)
    values = np.linalg.svd(scaled, compute_uv=False)
    assert np.allclose(affine_spectrum(points, np.ones(5))[0], values / values[0], rtol=1e-10)


def test_repeated_points_are_counted_among_all():
    points = np.round(uniform(MANY, 2), 2)
    points[::7] *= -1
    points[0, 0] = 0.0
    repeated = np.concatenate([points, points[:1000], [[-0.0, points[0, 1]]]])
    assert count_distinct(repeated) == len(np.unique(repeated, axis=0))
    quality = GradientField.from_arrays(points, points).quality
    assert quality.duplicate_share == 1 - len(np.unique(points, axis=0)) / MANY


def test_a_redundant_input_of_many_points_is_seen():
    points = uniform(MANY, 3)
    points[:, 2] = points[:, 0] ** 2
    with pytest.warns(UserWarning, match="curved surface"):
        quality = GradientField.from_arrays(points, points).quality
    assert [found.name for found in quality.redundant] == ["x2"]


@pytest.mark.parametrize("n_inputs", [2, 17])
def test_the_nearest_other_is_found_with_few_inputs_and_with_many(n_inputs):
    points = uniform(300, n_inputs) + 100.0
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    np.fill_diagonal(distances, np.inf)
    assert (nearest_others(points)[:, 0] == distances.argmin(axis=1)).all()


def test_directions_of_many_points_are_those_of_few():
    points = uniform(MANY, 3)
    gradients = np.roll(points, 1, axis=1) * np.where(points[:, :1] < 1.5, -1, 1)
    space = linear_tangent(points, np.ones(3))
    many = GradientField.from_arrays(points, gradients, tangent=space)
    few = GradientField.from_arrays(points[:99], gradients[:99], tangent=space)
    units = gradients / np.linalg.norm(gradients, axis=1, keepdims=True)
    assert np.allclose(many.directions[:, :, 0], units, atol=1e-12)
    assert np.allclose(many.directions[:99], few.directions, atol=1e-12)
