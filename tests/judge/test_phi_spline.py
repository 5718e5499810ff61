import numpy as np
import pytest

from closedform.judge.phi import fit_held_phi, fit_phi_spline

RNG = np.random.default_rng(0)
POINTS = RNG.uniform(-1.5, 1.5, (1050, 2))
ENERGY = POINTS[:, 0] ** 2 / 2 + POINTS[:, 0] ** 4 / 4 + POINTS[:, 1] ** 2 / 2 + 0.3
EVEN = np.ones(len(POINTS))


def left(values, latent):
    fit = fit_phi_spline(values, latent[:, None], EVEN)
    assert fit is not None
    return float((fit.left**2).mean() / latent.var())


@pytest.mark.parametrize(
    "phi", [np.tanh, np.copy, lambda g: (g - 1) ** 3, np.exp], ids=["tanh", "none", "cube", "exp"]
)
@pytest.mark.parametrize("noise", [0.01, 0.05])
def test_it_hardly_matters_how_a_formula_is_written(phi, noise):
    latent = phi(0.5 * ENERGY)
    latent = latent + noise * latent.std() * RNG.normal(size=len(latent))
    ways = [ENERGY, 1 / ENERGY, np.exp(ENERGY), ENERGY**3, np.log(ENERGY)]
    sizes = [left(way, latent) for way in ways]
    assert max(sizes) < 1.06 * min(sizes)
    assert sizes[0] == pytest.approx(noise**2, rel=0.15)


def test_what_is_exact_stays_below_the_floor():
    from closedform.judge.witnesses import VALUE_FLOOR

    for way in (ENERGY, 1 / ENERGY, np.exp(ENERGY), ENERGY**3):
        assert left(way, np.tanh(0.3 * ENERGY)) < VALUE_FLOOR


def test_a_curve_that_turns_back_does_not_pass():
    """Without this x would pass for x**2."""
    assert left(POINTS[:, 0], POINTS[:, 0] ** 2) > 0.3
    assert left(POINTS[:, 0] ** 2, POINTS[:, 0] ** 2) < 1e-6


def test_no_point_is_judged_by_a_curve_that_has_seen_it():
    latent = RNG.normal(size=len(ENERGY))
    assert left(ENERGY, latent) > 1.0
    shifted = latent.copy()
    shifted[7] += 100.0
    plain, moved = (fit_phi_spline(ENERGY, each[:, None], EVEN) for each in (latent, shifted))
    assert plain is not None
    assert moved is not None
    assert moved.left[7, 0] - plain.left[7, 0] == pytest.approx(100.0, rel=0.02)


def test_each_latent_has_its_own_curve():
    both = np.column_stack([np.tanh(ENERGY), -(ENERGY**2)])
    fit = fit_phi_spline(ENERGY, both, EVEN)
    assert fit is not None
    assert (fit.left.var(axis=0) / both.var(axis=0) < 1e-6).all()


@pytest.mark.parametrize("values", [np.zeros(50), np.full(50, np.nan), np.repeat([0.0, 1.0], 25)])
def test_what_hardly_varies_has_no_curve(values):
    assert fit_phi_spline(values, np.arange(50.0)[:, None], np.ones(50)) is None


def test_slopes_are_those_of_the_curve():
    fit = fit_phi_spline(ENERGY, np.tanh(ENERGY)[:, None], EVEN)
    assert fit is not None
    middle = np.linspace(0.6, 2.0, 20)
    numeric = (fit.phi(middle + 1e-5) - fit.phi(middle - 1e-5)) / 2e-5
    assert fit.phi.slopes(middle) == pytest.approx(numeric, abs=1e-6)
    assert (fit.phi.slopes(np.array([-9.0, 99.0])) == 0).all()


def test_each_value_of_held_inputs_has_its_own_curve():
    g, held = RNG.uniform(1, 2, 400), np.arange(400.0) % 2
    latent = np.where(held == 0, np.exp(g), -3 * g)[:, None]
    apart = fit_held_phi(g, latent, np.ones(400), held)
    together = fit_held_phi(g, latent, np.ones(400), np.zeros(400))
    assert apart is not None
    assert together is not None
    assert np.abs(apart.left).max() < 1e-2 < 1 < np.abs(together.left).max()
