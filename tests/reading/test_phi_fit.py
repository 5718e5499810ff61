import numpy as np
import pytest

from closedform.expressions.libraries import NUMPY
from closedform.networks.parametric_formula import FormulaPhi, SplinePhi
from closedform.reading.replacing import ReplacementError, error_of, fit_one, fit_several


def values(phi, concept):
    return phi.value(concept[:, None], phi.trained() | phi.fixed(), NUMPY)[:, 0]


@pytest.mark.parametrize(
    ("form", "function"),
    [
        ("log", lambda g: 2 - 3 * np.log(g)),
        ("sqrt", lambda g: np.sqrt(g)),
        ("/g", lambda g: 1 + 2 / g),
        ("exp", lambda g: 0.5 + 2 * np.exp(-1.5 * g)),
        ("tanh", lambda g: -0.3 + 0.7 * np.tanh(2 * g - 2.5)),
    ],
)
def test_a_simple_formula_is_found(form, function):
    concept = np.random.default_rng(0).uniform(0.5, 2, 400)
    phi = fit_one(concept, function(concept), "auto")
    assert isinstance(phi, FormulaPhi)
    assert form in str(phi).replace("g**(-1)", "/g")
    assert error_of(phi, concept, function(concept)) < 1e-10


def test_what_no_formula_fits_becomes_a_spline_that_only_grows():
    rng = np.random.default_rng(0)
    concept = rng.uniform(-2, 2, 800)
    latent = concept + np.abs(concept) * 3 + 0.01 * rng.normal(size=800) + 0.2 * concept**3
    latent = latent - 6 * np.minimum(concept, 0) * -1
    phi = fit_one(concept, latent, "auto")
    assert isinstance(phi, SplinePhi)
    wide = np.linspace(-4, 4, 500)
    assert (np.diff(values(phi, wide)) > 0).all()
    assert error_of(phi, concept, latent) < 1e-3 * latent.var()


def test_a_falling_spline_falls_even_where_the_latent_is_flat():
    concept = np.linspace(-1, 1, 400)
    phi = fit_one(concept, -np.maximum(concept, 0), "spline")
    assert isinstance(phi, SplinePhi)
    assert phi.sign == -1
    assert (np.diff(values(phi, concept)) < 0).all()


def test_training_cannot_turn_a_spline_back():
    concept = np.linspace(-1, 1, 400)
    phi = fit_one(concept, concept**3, "spline")
    numbers = phi.trained() | phi.fixed()
    numbers["phi"] = numbers["phi"] + np.random.default_rng(0).normal(size=numbers["phi"].shape)
    assert (np.diff(phi.value(concept[:, None], numbers, NUMPY)[:, 0]) > 0).all()


def test_beyond_its_ends_a_spline_is_straight():
    concept = np.linspace(0, 1, 400)
    phi = fit_one(concept, concept**2 + concept, "spline")
    outside = values(phi, np.array([1.0, 2.0, 3.0]))
    assert outside[2] - outside[1] == pytest.approx(outside[1] - outside[0])
    assert outside[1] - outside[0] == pytest.approx(3, rel=0.05)


def test_polynomials_give_several_latents():
    concepts = np.random.default_rng(0).uniform(-1, 1, (500, 2))
    latents = np.stack([concepts[:, 0] * concepts[:, 1], concepts.sum(axis=1)], axis=1)
    phi = fit_several(concepts, latents)
    assert "degree 2" in str(phi)
    assert error_of(phi, concepts, latents) < 1e-20


def test_a_latent_that_does_not_vary_is_refused():
    with pytest.raises(ReplacementError, match="must both vary"):
        fit_one(np.linspace(0, 1, 100), np.ones(100), "auto")
