import numpy as np
import pytest

import closedform as cf
from closedform.selection.regions import (
    RegionalScores,
    _jackknife,
    divide,
    score_regions,
    systematic_shares,
)


def field_of(text, n_points=600, seed=0, noise=0.0):
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1, 1, (n_points, 2))
    gradients = cf.parse(text, names=["x", "v"]).gradient(points)
    return cf.GradientField.from_arrays(
        points, gradients + noise * rng.normal(size=gradients.shape), names=["x", "v"]
    )


def test_regions_are_compact_and_complete():
    field = field_of("x + v**2")
    labels = divide(field, np.random.default_rng(0))
    assert labels.min() == 0
    counts = np.bincount(labels)
    assert len(counts) >= 20
    assert counts.min() > 0
    spread = np.mean(
        [field.points[labels == region].std(axis=0).mean() for region in range(len(counts))]
    )
    assert spread < 0.4 * field.points.std(axis=0).mean()


def test_few_points_have_few_regions_and_dead_ones_none():
    points = np.random.default_rng(0).uniform(-1, 1, (30, 2))
    gradients = points.copy()
    gradients[:5] = 0
    labels = divide(cf.GradientField.from_arrays(points, gradients), np.random.default_rng(0))
    assert (labels[:5] == -1).all()
    assert labels.max() + 1 <= 5
    one = divide(cf.GradientField.from_arrays(points[5:9], points[5:9]), np.random.default_rng(0))
    assert one.tolist() == [0, 0, 0, 0]


def test_two_points_already_show_what_neighbours_share():
    points = np.array([[1.0, 1.0], [1.5, 1.2]])
    field = cf.GradientField.from_arrays(points, points[:, ::-1], names=["x", "y"], tangent="none")
    (share,) = systematic_shares([cf.parse("x + y")], field)
    assert 0 <= share < 1


def test_a_region_is_judged_by_constants_fitted_without_it():
    field = field_of("x**2 + v**2", noise=0.02)
    labels = divide(field, np.random.default_rng(0))
    right, wrong = (
        cf.parse(text, names=["x", "v"]) for text in ("x**2 + 1.01*v**2", "x**2 + 1.01*v")
    )
    scores = score_regions([right, wrong], field, labels)
    assert scores.misalignments.shape == (2, labels.max() + 1)
    assert scores.weights.sum() == pytest.approx(1)
    assert scores.means()[0] < 0.01 < scores.means()[1]
    assert scores.resampled(np.random.default_rng(0), 50).shape == (50, 2)


def test_errors_of_constants_are_those_of_repeated_samples():
    values, errors = [], []
    for seed in range(12):
        field = field_of("x**2 + 1.4*v**2", seed=seed, noise=0.05)
        labels = divide(field, np.random.default_rng(seed))
        from closedform.alignment.refit import refit

        (fitted,), _ = refit([cf.parse("x**2 + 1.3*v**2", names=["x", "v"])], field)
        values.append(float(str(fitted).split("+ ")[1].split("*")[0]))
        errors.append(score_regions([fitted], field, labels).errors[0][0])
    assert 0.4 < np.mean(errors) / np.std(values) < 2.5


def test_errors_come_from_leaving_out_one_region_after_another():
    # Around 7/3 the squares are 16/9, 1/9 and 25/9; the jackknife takes 2/3 of their sum.
    errors = _jackknife(np.array([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0]]))
    assert errors == pytest.approx([np.sqrt(2 / 3 * 42 / 9), 0.0])


def test_means_over_drawn_regions_are_about_those_over_all():
    rng = np.random.default_rng(0)
    weights = np.array([0.4, 0.3, 0.2, 0.1])
    scores = RegionalScores(rng.uniform(1, 2, (3, 4)), weights, ())
    drawn = scores.resampled(rng, 5000)
    assert drawn.shape == (5000, 3)
    assert drawn.mean(axis=0) == pytest.approx(scores.means(), rel=0.05)
    assert drawn.min() >= scores.misalignments.min()
    assert drawn.max() <= scores.misalignments.max()
