import numpy as np
import pytest

from closedform.errors import ShapeError
from closedform.field.tangent_space import TangentSpace
from closedform_bench.smoothing_gain import smoothing_gain

POINTS = np.random.default_rng(0).uniform(-1, 1, size=(600, 2)) + 2.0
TRUTH = POINTS[:, None, :].copy()
SCALE = np.ones(2)


def noisy(noise: float, seed: int = 1) -> np.ndarray:
    return TRUTH + noise * np.random.default_rng(seed).normal(size=TRUTH.shape)


def test_less_noise_in_what_is_fitted_foretells_raw_directions_better() -> None:
    raw = noisy(0.5)

    gain = smoothing_gain(POINTS, raw, TRUTH, scale=SCALE, rng=0)

    assert gain.smoothed < gain.raw
    assert gain.ratio > 1.05


def test_a_biased_field_is_worse_however_smooth_it_is() -> None:
    raw = noisy(0.05)
    biased = TRUTH * [1.0, 2.0]

    gain = smoothing_gain(POINTS, raw, biased, scale=SCALE, rng=0)

    assert gain.ratio < 0.5


def test_nothing_changes_where_nothing_was_smoothed() -> None:
    raw = noisy(0.3)

    assert smoothing_gain(POINTS, raw, raw, scale=SCALE, rng=0).ratio == 1.0


def test_directions_are_compared_inside_the_tangent_space() -> None:
    points = np.column_stack([POINTS, np.zeros(len(POINTS))])
    raw = np.concatenate(
        [noisy(0.3), np.random.default_rng(3).normal(size=(600, 1, 1)) * 50], axis=2
    )
    truth = np.concatenate([TRUTH, np.zeros((600, 1, 1))], axis=2)

    inside = smoothing_gain(
        points,
        raw,
        truth,
        scale=np.ones(3),
        tangent=TangentSpace("linear", 2, np.eye(3)[:, :2]),
        rng=0,
    )
    outside = smoothing_gain(points, raw, truth, scale=np.ones(3), rng=0)

    assert inside.smoothed < 0.1
    assert outside.smoothed > 0.5


def test_several_latents_compare_their_row_spaces() -> None:
    points = np.random.default_rng(0).normal(size=(300, 3))
    frames = np.broadcast_to(np.eye(3)[:2], (300, 2, 3))
    mixed = np.einsum("nkl,nld->nkd", np.random.default_rng(1).normal(size=(300, 2, 2)), frames)

    gain = smoothing_gain(points, mixed, frames.copy(), scale=np.ones(3), rng=0)

    assert gain.smoothed == pytest.approx(0.0, abs=1e-12)


def test_a_fit_of_the_callers_own_is_used() -> None:
    perfect = smoothing_gain(
        POINTS, TRUTH, TRUTH, scale=SCALE, fit=lambda p, j: lambda wanted: wanted[:, None, :], rng=0
    )
    useless = smoothing_gain(
        POINTS,
        TRUTH,
        TRUTH,
        scale=SCALE,
        fit=lambda p, j: lambda wanted: 0 * wanted[:, None, :],
        rng=0,
    )

    assert perfect.raw == pytest.approx(0.0, abs=1e-12)
    assert useless.raw == 1.0


def test_points_without_a_raw_direction_do_not_count() -> None:
    raw = TRUTH.copy()
    raw[:50] = 0.0
    raw[50:60] = np.nan

    gain = smoothing_gain(POINTS, raw, TRUTH, scale=SCALE, rng=0)

    assert gain.smoothed < 1e-3


def test_arrays_must_belong_together() -> None:
    with pytest.raises(ShapeError, match="belong together"):
        smoothing_gain(POINTS, TRUTH, TRUTH[:10], scale=SCALE)
    with pytest.raises(ShapeError, match="too few"):
        smoothing_gain(POINTS[:20], TRUTH[:20], TRUTH[:20], scale=SCALE)
