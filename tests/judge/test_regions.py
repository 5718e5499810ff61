import numpy as np

import closedform as cf
from closedform.judge.regions import divide


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
