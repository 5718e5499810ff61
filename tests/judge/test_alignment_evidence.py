import numpy as np
import pytest

import closedform as cf
from closedform.judge.regions import angles_in_degrees, divide, measure_alignment


def test_known_angles_are_measured():
    rng = np.random.default_rng(0)
    points = rng.uniform(1, 2, (1000, 2))
    units = points / np.linalg.norm(points, axis=1, keepdims=True)
    angles = np.radians(3) * rng.normal(size=(1000, 1))
    turned = np.cos(angles) * units + np.sin(angles) * np.column_stack([-units[:, 1], units[:, 0]])
    field = cf.GradientField.from_arrays(points, turned, names=["x", "v"])
    found = measure_alignment(cf.parse("x**2 + v**2"), field, divide(field, rng))
    expected = float((np.sin(angles) ** 2).mean())
    assert found.misalignment == pytest.approx(expected, rel=0.01)
    assert found.low < expected < found.high
    assert found.trimmed < found.misalignment
    assert found.chance == 0.5
    assert found.bound == pytest.approx(2 * found.high)
    assert found.angles[0] == pytest.approx(3 * 0.6745, rel=0.1)
    assert found.paper_loss == pytest.approx(float((2 - 2 * np.cos(angles)).mean()), rel=0.05)


def test_angles():
    assert angles_in_degrees(np.array([0.0, 0.25, 1.0])) == pytest.approx([0, 30, 90])


def test_a_bad_region_widens_the_interval():
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, (1200, 2))
    gradients = points.copy()
    bad = points[:, 0] > 0.7
    gradients[bad] = gradients[bad][:, ::-1]
    narrow, wide = (
        measure_alignment(cf.parse("x**2 + v**2"), field, divide(field, rng))
        for field in (
            cf.GradientField.from_arrays(points, g, names=["x", "v"]) for g in (points, gradients)
        )
    )
    assert narrow.high < 1e-12
    assert wide.low < 0.7 * wide.misalignment
    assert wide.high > 1.3 * wide.misalignment
