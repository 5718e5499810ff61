"""Numbers that move constants, also those of computed ones."""

import numpy as np

import closedform as cf
from closedform.field.alignment.refit import refit
from closedform.judge.neighbours.same_form import free_positions

NAMES = ["x", "y", "z"]


def test_a_computed_constant_is_fitted_by_the_number_inside_it():
    """The whole term was lost: log of 0.3 was overwritten by a number."""
    points = np.random.default_rng(0).uniform(1, 3, (300, 3))
    truth = cf.parse("1.4*x + y*(log(z) + log(0.3))", names=NAMES)
    field = cf.GradientField.from_arrays(points, truth.gradient(points), names=NAMES)
    start = cf.parse("1.2*x + y*(log(z) + log(0.5))", names=NAMES)
    (fitted,), (left,) = refit([start], field, positions=[free_positions(start.tree, tuple(NAMES))])
    assert fitted.tree.variables == {0, 1, 2}
    assert left < 1e-12
    np.testing.assert_allclose(fitted.gradient(points), truth.gradient(points), rtol=1e-5)
