import numpy as np
import pytest
import torch
from torch import nn

from closedform.errors import ShapeError
from closedform.field.tangent_space import TangentSpace
from closedform.networks.extract import open_source
from closedform.networks.samples import Samples, Source, smooth_samples

POINTS = np.random.default_rng(0).uniform(-1, 1, size=(300, 2)) * [1.0, 100.0]


def kinks(x: np.ndarray) -> np.ndarray:
    """A staircase of slopes that follows x^2/2 + v^2/2 with v = y/100, as a rectified network
    would.
    """
    u = x / [1.0, 100.0]
    grid = np.linspace(-2, 2, 81)
    return np.interp(u[:, 0], grid, grid**2 / 2) + np.interp(u[:, 1], grid, grid**2 / 2)


def test_smoothing_removes_the_steps_of_a_piecewise_linear_function() -> None:
    source = open_source(kinks, POINTS, 0, step=1e-5, kind="function")
    raw = source.evaluate(source.points)

    smooth = smooth_samples(source, raw, radius=0.05, draws=32, rng=0)

    truth = POINTS / [1.0, 100.0]
    raw_error, smooth_error = (
        np.abs(s.jacobians[:, 0] * [1.0, 100.0] - truth).mean() for s in (raw, smooth)
    )
    assert smooth_error < raw_error / 2
    assert smooth.points is not None
    np.testing.assert_array_equal(smooth.latents, raw.latents)
    assert "32 draws" in smooth.notes[-1]


def test_errors_are_those_of_the_mean() -> None:
    source = open_source(
        lambda x: np.abs(x[:, 0]),
        np.full((400, 1), 0.0) + np.linspace(0, 1e-9, 400)[:, None],
        0,
        step=1e-6,
    )
    raw = source.evaluate(source.points)

    few = smooth_samples(source, raw, radius=0.05, draws=4, rng=0, scale=np.ones(1))

    # On the kink both sides of a pair cancel, so every mean is 0 with no error at all.
    assert few.errors is not None
    np.testing.assert_allclose(few.jacobians, 0.0, atol=1e-9)
    np.testing.assert_allclose(few.errors, 0.0, atol=1e-9)


def test_the_same_seed_gives_the_same_draws_and_the_bias_is_of_second_order() -> None:
    source = open_source(lambda x: np.sin(3 * x[:, 0]) + x[:, 1], POINTS, 0)
    raw = source.evaluate(source.points)

    first, again, other = (
        smooth_samples(source, raw, radius=0.04, draws=8, rng=seed).jacobians for seed in (1, 1, 2)
    )
    wide, narrow = (
        np.abs(
            smooth_samples(source, raw, radius=r, draws=128, rng=0).jacobians[:, 0, 0]
            - raw.jacobians[:, 0, 0]
        ).mean()
        for r in (0.05, 0.025)
    )

    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()
    assert 3 < wide / narrow < 5


def test_draws_stay_inside_the_tangent_space() -> None:
    class Watching(Source):
        def __init__(self) -> None:
            self.points = np.random.default_rng(0).normal(size=(50, 3))
            self.steps: list[np.ndarray] = []

        def evaluate(self, points: np.ndarray) -> Samples:
            self.steps.append(points - self.points)
            return Samples(points, np.ones((50, 1, 3)), np.ones((50, 1)))

    source = Watching()
    scale = np.array([1.0, 10.0, 0.1])
    basis = np.linalg.qr(np.random.default_rng(1).normal(size=(50, 3, 2)))[0]
    raw = source.evaluate(source.points)

    smooth_samples(
        source,
        raw,
        radius=0.05,
        draws=100,
        rng=0,
        scale=scale,
        tangent=TangentSpace("local", 2, basis),
    )

    steps = np.stack(source.steps[1:]) / scale
    outside = steps - np.einsum("ndr,ner,bne->bnd", basis, basis, steps)
    np.testing.assert_allclose(outside, 0.0, atol=1e-12)
    # Two directions of standard deviation 0.05 each.
    assert np.sqrt((steps**2).sum(axis=2).mean()) == pytest.approx(0.05 * np.sqrt(2), rel=0.05)


def test_the_network_itself_is_smoothed() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 1))
    source = open_source(model, POINTS / [1.0, 100.0], 0, rng=0)
    raw = source.evaluate(source.points)

    smooth = smooth_samples(source, raw, radius=0.05, rng=0)

    assert smooth.jacobians.tolist() != raw.jacobians.tolist()
    assert smooth.errors is not None
    assert smooth.errors.max() > 0


@pytest.mark.parametrize("radius", [0.0, -0.01, 0.051, float("nan")])
def test_radii_out_of_range_are_refused(radius: float) -> None:
    source = open_source(lambda x: x[:, 0], POINTS, 0)
    with pytest.raises(ValueError, match="radius"):
        smooth_samples(source, source.evaluate(source.points), radius=radius)


def test_draws_come_in_pairs_and_tangent_spaces_must_fit() -> None:
    source = open_source(lambda x: x[:, 0], POINTS, 0)
    raw = source.evaluate(source.points)

    with pytest.raises(ValueError, match="pairs"):
        smooth_samples(source, raw, radius=0.01, draws=3)
    with pytest.raises((ShapeError, ValueError)):
        smooth_samples(
            source, raw, radius=0.01, tangent=TangentSpace("linear", 2, np.eye(3)[:, :2])
        )
