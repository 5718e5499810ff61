import numpy as np
import pytest

from closedform.field.tangent_space import gap_rank, row_spaces


@pytest.mark.parametrize(
    ("spectrum", "rank", "ambiguous"),
    [
        ([1.0], 1, False),
        ([1.0, 0.9], 2, False),
        ([1.0, 0.4], 2, True),
        ([1.0, 0.3], 1, True),
        ([1.0, 0.1], 1, False),
        ([1.0, 0.8, 0.7, 0.01, 0.008], 3, False),
        ([1.0, 0.05, 0.005], 1, True),
        ([1.0, 0.0], 1, False),
        ([1.0, 1e-5, 0.0], 1, False),
        ([0.0, 0.0], 2, False),
    ],
)
def test_a_spectrum_is_cut_at_its_largest_gap(spectrum, rank, ambiguous):
    cut = gap_rank(spectrum)
    assert (cut.rank, cut.is_ambiguous) == (rank, ambiguous)


def norms(coordinates):
    return np.linalg.norm(coordinates, axis=(1, 2))


def test_frames_span_the_row_space_and_are_orthonormal():
    coordinates = np.random.default_rng(0).normal(size=(50, 5, 3))
    rows = row_spaces(coordinates, norms(coordinates), np.ones(50, dtype=bool))
    assert rows.cut.rank == 3
    identity = np.swapaxes(rows.frames, 1, 2) @ rows.frames
    np.testing.assert_allclose(identity, np.broadcast_to(np.eye(3), identity.shape), atol=1e-12)
    np.testing.assert_allclose(
        rows.frames @ (np.swapaxes(rows.frames, 1, 2) @ coordinates), coordinates, atol=1e-12
    )


def test_one_latent_keeps_the_sign_of_its_gradient():
    coordinates = (
        np.random.default_rng(1).normal(size=(50, 3, 1)) * 10.0 ** np.arange(-25, 25)[:, None, None]
    )
    rows = row_spaces(coordinates, norms(coordinates), np.ones(50, dtype=bool))
    kept = rows.is_usable
    np.testing.assert_allclose(
        rows.frames[kept], (coordinates / norms(coordinates)[:, None, None])[kept], rtol=1e-12
    )


def test_several_directions_point_along_their_main_latents():
    coordinates = np.random.default_rng(7).normal(size=(50, 5, 3))
    rows = row_spaces(coordinates, norms(coordinates), np.ones(50, dtype=bool))
    slopes = np.swapaxes(rows.frames, 1, 2) @ coordinates
    main = np.abs(slopes).argmax(axis=2)
    assert (np.take_along_axis(slopes, main[:, :, None], axis=2) > 0).all()


def test_copies_of_a_latent_with_noise_have_rank_one():
    rng = np.random.default_rng(2)
    gradient = rng.normal(size=(200, 4, 1))
    coordinates = gradient * [1.0, -2.0, 0.5] + 0.02 * rng.normal(size=(200, 4, 3))
    rows = row_spaces(coordinates, norms(coordinates), np.ones(200, dtype=bool))
    assert rows.cut.rank == 1
    cosines = np.abs((rows.frames[:, :, 0] * gradient[:, :, 0]).sum(axis=1)) / norms(gradient)
    assert np.median(cosines) > 0.999


def test_a_rank_that_few_points_show_is_seen_and_the_others_do_not_count():
    # Two rectified latents, both alive at a fifth of the points only.
    rng = np.random.default_rng(3)
    coordinates = rng.normal(size=(500, 4, 2))
    coordinates[:200, :, 0] = 0.0
    coordinates[200:400, :, 1] = 0.0
    rows = row_spaces(coordinates, norms(coordinates), np.ones(500, dtype=bool))
    assert rows.cut.rank == 2
    np.testing.assert_array_equal(rows.is_low, np.arange(500) < 400)


def test_zero_and_non_finite_gradients_get_a_harmless_basis():
    coordinates = np.random.default_rng(4).normal(size=(20, 3, 1))
    coordinates[0], coordinates[1, 0], coordinates[2, 0], coordinates[3] = (
        0.0,
        np.nan,
        np.inf,
        1e-40,
    )
    rows = row_spaces(coordinates, norms(coordinates), np.ones(20, dtype=bool))
    np.testing.assert_array_equal(np.flatnonzero(rows.is_zero), [0, 3])
    np.testing.assert_array_equal(np.flatnonzero(~rows.is_finite), [1, 2])
    np.testing.assert_array_equal(rows.frames[:4, :, 0], np.tile([1.0, 0.0, 0.0], (4, 1)))
    np.testing.assert_array_equal(np.flatnonzero(~rows.is_usable), [0, 1, 2, 3])


def test_what_rounding_leaves_of_a_gradient_across_the_data_is_zero():
    coordinates = np.full((10, 2, 1), 1e-14)
    assert row_spaces(coordinates, np.ones(10), np.ones(10, dtype=bool)).is_zero.all()


def test_a_dead_set_of_latents_has_one_direction_that_does_not_count():
    rows = row_spaces(np.zeros((10, 3, 2)), np.zeros(10), np.ones(10, dtype=bool))
    assert rows.frames.shape == (10, 3, 1)
    assert not rows.is_usable.any()


def test_points_that_do_not_count_do_not_decide_the_rank():
    coordinates = np.random.default_rng(5).normal(size=(100, 3, 1)) * [1.0, 1.0]
    coordinates[50:] = np.random.default_rng(6).normal(size=(50, 3, 2))
    assert row_spaces(coordinates, norms(coordinates), np.arange(100) < 50).cut.rank == 1
    assert row_spaces(coordinates, norms(coordinates), np.arange(100) >= 50).cut.rank == 2
