"""Which formulas are one form."""

import numpy as np

import closedform as cf
from closedform.judge.neighbours.same_form import group_by_form


def test_points_without_a_gradient_do_not_divide_a_form():
    """Spellings of the squared magnetisation were rivals, since whole numbers are often 0."""
    points = np.random.default_rng(0).integers(-3, 4, (200, 2)).astype(float)
    field = cf.GradientField.from_arrays(points, np.ones_like(points), names=["x", "y"])
    texts = ("x**2", "x**4", "x + x**2")
    assert group_by_form([cf.parse(text, names=["x", "y"]) for text in texts], field) == [0, 0, 1]
