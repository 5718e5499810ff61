import numpy as np
import pytest

from closedform.field.neighborhoods import directional_noise
from closedform.field.tangent import choose_tangent, local_tangent
from closedform.field.tangent_space import TangentSpace, robust_spread


def perturbed(directions, degrees, rng):
    """Turn unit vectors by a random angle whose mean square is that of the given one."""
    errors = rng.normal(size=directions.shape)
    errors -= directions * (errors * directions).sum(axis=1, keepdims=True)
    errors *= np.tan(np.radians(degrees)) / np.sqrt(directions.shape[1] - 1)
    turned = directions + errors
    return turned / np.linalg.norm(turned, axis=1, keepdims=True)


def oscillator(points):
    return np.stack([2 * points[:, 0] + 2 * points[:, 0] ** 3, 2 * points[:, 1]], axis=1)


def determinant(points):
    return np.stack([points[:, 3], -points[:, 2], -points[:, 1], points[:, 0]], axis=1)


def field(gradient, n_inputs, degrees, n_points=2000, seed=0):
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1, 1, (n_points, n_inputs))
    directions = gradient(points)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return points, perturbed(directions, degrees, rng)[:, :, None]


@pytest.mark.parametrize("degrees", [1.0, 3.0, 10.0])
@pytest.mark.parametrize(("gradient", "n_inputs"), [(oscillator, 2), (determinant, 4)])
def test_known_noise_is_read_within_a_tenth(gradient, n_inputs, degrees):
    points, frames = field(gradient, n_inputs, degrees)
    estimate = directional_noise(points, frames, TangentSpace("none", n_inputs))
    assert estimate is not None
    assert estimate.degrees == pytest.approx(degrees, rel=0.1)


def test_on_average_it_is_right():
    # The median of few residuals lies below their mean; without its correction the average would be
    # 8% too small.
    estimates = [
        directional_noise(*field(oscillator, 2, 3.0, seed=seed), TangentSpace("none", 2))
        for seed in range(8)
    ]
    assert np.mean(
        [estimate.degrees for estimate in estimates if estimate is not None]
    ) == pytest.approx(3.0, rel=0.04)


@pytest.mark.parametrize(("gradient", "n_inputs"), [(oscillator, 2), (determinant, 4)])
def test_a_clean_field_has_next_to_none(gradient, n_inputs):
    points, frames = field(gradient, n_inputs, 0.0)
    estimate = directional_noise(points, frames, TangentSpace("none", n_inputs))
    assert estimate is not None
    assert estimate.degrees < 0.1


def test_signs_do_not_matter():
    points, frames = field(oscillator, 2, 3.0)
    flipped = frames * np.random.default_rng(1).choice([-1.0, 1.0], size=(len(frames), 1, 1))
    space = TangentSpace("none", 2)
    first, second = (
        directional_noise(points, frames, space),
        directional_noise(points, flipped, space),
    )
    assert first is not None
    assert second is not None
    assert second.degrees == pytest.approx(first.degrees, rel=1e-6)


def test_two_directions_are_compared_as_planes():
    rng = np.random.default_rng(2)
    points = rng.uniform(-1, 1, (3000, 4))
    planes = np.stack([determinant(points) + 3, points * [1, 2, 3, 4] + [3, 0, 0, -4]], axis=2)
    clean = np.linalg.qr(planes)[0]
    turns = np.linalg.qr(rng.normal(size=(3000, 2, 2)))[0]
    # In each plane the basis is arbitrary; the noise turns both vectors out of it by three degrees
    # in the mean square.
    outward = rng.normal(size=clean.shape)
    outward -= clean @ (np.swapaxes(clean, 1, 2) @ outward)
    noisy = np.linalg.qr(clean + np.tan(np.radians(3.0)) / np.sqrt(2) * outward)[0] @ turns
    estimates = [
        directional_noise(points, frames, TangentSpace("none", 4))
        for frames in (clean @ turns, noisy)
    ]
    assert estimates[0] is not None
    assert estimates[1] is not None
    assert estimates[0].degrees < 0.1
    assert estimates[1].degrees == pytest.approx(3.0, rel=0.1)


def test_in_many_inputs_the_resolution_says_that_little_can_be_told():
    def gradient(points):
        return np.roll(points, 1, axis=1) * np.roll(points, 2, axis=1) + points

    points, frames = field(gradient, 12, 0.0)
    estimate = directional_noise(points, frames, TangentSpace("none", 12))
    assert estimate is not None
    assert estimate.resolution_degrees > 5.0
    points, frames = field(oscillator, 2, 0.0)
    estimate = directional_noise(points, frames, TangentSpace("none", 2))
    assert estimate is not None
    assert estimate.resolution_degrees < 0.1


@pytest.mark.parametrize("kind", ["linear", "local"])
def test_noise_is_read_inside_tangent_spaces(kind):
    rng = np.random.default_rng(3)
    if kind == "linear":
        points = rng.uniform(-1, 1, (2000, 4))
        points[:, 3] = 1 - points[:, 0]
        scale = robust_spread(points)
        space = choose_tangent(points, scale)
    else:
        points = rng.normal(size=(3000, 3))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        scale = robust_spread(points)
        space = local_tangent(points, scale)
    coordinates = space.coordinates(points**2 + [0.5] * points.shape[1], scale)
    coordinates /= np.linalg.norm(coordinates, axis=1, keepdims=True)
    estimate = directional_noise(
        points / scale, perturbed(coordinates, 4.0, rng)[:, :, None], space
    )
    assert estimate is not None
    assert estimate.degrees == pytest.approx(4.0, rel=0.15)


def test_none_where_nothing_can_be_told():
    points, frames = field(oscillator, 2, 3.0, n_points=20)
    assert directional_noise(points, frames, TangentSpace("none", 2)) is None
    line = np.linspace(0, 1, 500)[:, None]
    assert directional_noise(line, np.ones((500, 1, 1)), TangentSpace("none", 1)) is None
    wide = np.random.default_rng(4).normal(size=(500, 70))
    assert (
        directional_noise(wide, np.tile(np.eye(70, 1), (500, 1, 1)), TangentSpace("none", 70))
        is None
    )
