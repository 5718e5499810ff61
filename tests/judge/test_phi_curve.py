import numpy as np
import pytest

import closedform as cf
from closedform.judge.phi import fit_phi, phi_between


def field_of(latent):
    points = np.random.default_rng(0).uniform(-1, 1, (500, 2))
    return cf.GradientField.from_arrays(
        points, np.ones((500, 2)), latents=latent(points), names=["x", "v"]
    )


def test_a_falling_phi_is_found():
    phi = fit_phi(cf.parse("x + v"), field_of(lambda p: np.exp(-3 * p.sum(axis=1))))
    assert phi is not None
    assert phi.rank_correlation == pytest.approx(-1)
    assert min(phi.r2, phi.r2_inverse) > 0.999
    assert np.all(np.diff(phi.latent) <= 0)
    assert phi(np.array([0.0])) == pytest.approx(1, rel=0.05)


def test_another_concept_has_no_phi():
    phi = fit_phi(cf.parse("x - v", names=["x", "v"]), field_of(lambda p: p.sum(axis=1)))
    assert phi is not None
    assert abs(phi.rank_correlation) < 0.2
    assert phi.r2 < 0.3


def test_without_latents_there_is_no_phi():
    points = np.random.default_rng(0).uniform(1, 2, (50, 2))
    assert (
        fit_phi(cf.parse("x + v"), cf.GradientField.from_arrays(points, points, names=["x", "v"]))
        is None
    )


def test_three_points_are_the_fewest():
    values = np.array([1.0, 2.0, 3.0])
    phi = phi_between(values, values**2)
    assert phi is not None
    assert phi.rank_correlation == pytest.approx(1)
    assert phi_between(values[:2], values[:2]) is None
