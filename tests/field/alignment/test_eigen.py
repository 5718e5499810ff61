import numpy as np
import pytest
import scipy.linalg

from closedform.field.alignment.eigen import extended_minima, fit_coefficients, modes
from plain_misalignment import misalignment


def random_moments(n_terms, rng, rank=None):
    rows = rng.normal(size=(40, n_terms)) * rng.uniform(0.5, 2, n_terms)
    lost = rows * (rng.uniform(size=(40, 1)) < 0.5)
    whole = rows.T @ rows
    scale = np.sqrt(np.diagonal(whole))
    return lost.T @ lost / np.outer(scale, scale), whole / np.outer(scale, scale)


def test_modes_agree_with_scipy():
    rng = np.random.default_rng(0)
    a, b = map(np.array, zip(*(random_moments(4, rng) for _ in range(5)), strict=True))
    values, vectors, dependent = modes(a, b)
    for i in range(5):
        np.testing.assert_allclose(
            values[i], scipy.linalg.eigh(a[i], b[i], eigvals_only=True), rtol=1e-9, atol=1e-12
        )
        np.testing.assert_allclose(vectors[i].T @ b[i] @ vectors[i], np.eye(4), atol=1e-10)
    assert not dependent.any()


def test_a_vanishing_combination_is_noticed():
    b = np.array([[[1.0, -1.0], [-1.0, 1.0]]])
    assert modes(np.zeros((1, 2, 2)), b)[2][0]


@pytest.mark.parametrize("m", [1, 2, 4])
def test_extended_minima_are_the_smallest_eigenvalues(m):
    rng = np.random.default_rng(m)
    a, b = random_moments(9, rng)
    supports = np.array([rng.choice(9, m, replace=False) for _ in range(6)])
    found = extended_minima(a, b, supports)
    for row, support in enumerate(supports):
        for term in range(9):
            if term in support:
                assert found[row, term] == np.inf
                continue
            both = np.ix_([*support, term], [*support, term])
            smallest = scipy.linalg.eigh(a[both], b[both], eigvals_only=True)[0]
            assert found[row, term] == pytest.approx(smallest, rel=1e-6, abs=1e-9)


def test_dependent_terms_are_no_extension():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(30, 3))
    rows = np.column_stack([rows, rows[:, 0] - 2 * rows[:, 1]])
    rows /= np.linalg.norm(rows, axis=0)
    whole = rows.T @ rows
    found = extended_minima(0.5 * whole, whole, np.array([[0, 1]]))
    assert found[0, 3] == np.inf
    assert found[0, 2] == pytest.approx(0.5)


def field_of(jacobians, coefficients):
    truth = jacobians @ coefficients
    return (truth / np.linalg.norm(truth, axis=1, keepdims=True))[:, :, None]


def test_exact_coefficients_whatever_the_units_of_the_terms():
    rng = np.random.default_rng(2)
    jacobians = rng.normal(size=(200, 3, 3)) * [1e-6, 1.0, 1e5]
    wanted = np.array([2e6, -1.0, 3e-5])
    fit = fit_coefficients(jacobians, field_of(jacobians, wanted), np.ones(200))
    np.testing.assert_allclose(
        fit.coefficients / fit.coefficients[0] * wanted[0], wanted, rtol=1e-10
    )
    assert fit.misalignment < 1e-20
    assert fit.shares.max() == 1
    assert fit.shares.min() > 0.1


def test_several_latents():
    rng = np.random.default_rng(3)
    jacobians = rng.normal(size=(100, 5, 3))
    other = rng.normal(size=(100, 5))
    frames = np.linalg.qr(np.stack([jacobians @ [1.0, -0.5, 0.0], other], axis=2))[0]
    fit = fit_coefficients(jacobians, frames, np.ones(100))
    np.testing.assert_allclose(fit.coefficients / fit.coefficients[0], [1.0, -0.5, 0.0], atol=1e-9)
    assert fit.shares[2] < 1e-9


def test_far_points_do_not_decide():
    rng = np.random.default_rng(4)
    jacobians = rng.normal(size=(300, 2, 2))
    frames = field_of(jacobians, np.array([1.0, 0.7]))
    jacobians[:3] *= 1e4
    frames[:3] = rng.normal(size=(3, 2, 1))
    frames[:3] /= np.linalg.norm(frames[:3], axis=1, keepdims=True)
    fit = fit_coefficients(jacobians, frames, np.ones(300))
    # Three of 300 points count, as three of 300; they alone would decide if each counted by its
    # length.
    assert fit.misalignment <= misalignment(jacobians @ [1.0, 0.7], frames)
    assert fit.coefficients[1] / fit.coefficients[0] == pytest.approx(0.7, rel=0.03)


def test_reweighting_lowers_the_misalignment_and_reports_it():
    rng = np.random.default_rng(5)
    jacobians = rng.normal(size=(300, 3, 2)) * np.exp(1.5 * rng.normal(size=(300, 1, 2)))
    truth = jacobians @ [1.0, 0.7] + 0.3 * rng.normal(size=(300, 3))
    frames = (truth / np.linalg.norm(truth, axis=1, keepdims=True))[:, :, None]
    once, often = (
        fit_coefficients(jacobians, frames, np.ones(300), reweightings=n) for n in (0, 3)
    )
    assert often.misalignment < once.misalignment
    assert often.misalignment == pytest.approx(
        misalignment(jacobians @ often.coefficients, frames), rel=1e-9
    )


def test_terms_that_cancel_on_the_data_do_not_make_a_concept():
    rng = np.random.default_rng(6)
    base = rng.normal(size=(100, 3))
    jacobians = np.stack([base, -base], axis=2)
    frames = rng.normal(size=(100, 3, 1))
    frames /= np.linalg.norm(frames, axis=1, keepdims=True)
    fit = fit_coefficients(jacobians, frames, np.ones(100))
    assert (
        np.linalg.norm(jacobians @ fit.coefficients)
        > 1e-3 * np.linalg.norm(base) * np.abs(fit.coefficients).max()
    )
    assert fit.misalignment > 0.3


def test_points_of_weight_zero_do_not_count():
    rng = np.random.default_rng(7)
    jacobians = rng.normal(size=(200, 3, 2))
    frames = field_of(jacobians, np.array([1.0, 2.0]))
    weights = np.ones(200)
    weights[:50] = 0
    frames[:50] = np.eye(3)[:, :1]
    fit = fit_coefficients(jacobians, frames, weights)
    assert fit.coefficients[1] / fit.coefficients[0] == pytest.approx(2.0, rel=1e-9)


def test_the_arguments_stay_as_they_are():
    jacobians, frames = np.full((5, 1, 1), 3.0), np.ones((5, 1, 1))
    fit_coefficients(jacobians, frames, np.ones(5))
    assert (jacobians == 3).all()
    assert (frames == 1).all()
