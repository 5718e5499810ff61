from dataclasses import replace

import numpy as np
import pytest

import closedform as cf
from closedform.judge.witnesses import VALUE_FLOOR, Witnesses, typical

NAMES = ["x", "v"]
RNG = np.random.default_rng(0)
POINTS = RNG.uniform(0.5, 2, (600, 2))
TRUTH = cf.parse("x**2 + 3*v", names=NAMES)


def field(phi=np.tanh, noise=0.0, **options):
    values = TRUTH(POINTS) / 8
    gradients = TRUTH.gradient(POINTS) * (phi(values + 1e-6) - phi(values))[:, None] * 1e6
    gradients = gradients + noise * RNG.normal(size=gradients.shape)
    return cf.GradientField.from_arrays(
        POINTS, gradients, latents=phi(values), names=NAMES, tangent="none", **options
    )


def means(text, of, scales=(1e-12, VALUE_FLOOR)):
    witnesses = Witnesses.of(of)
    return witnesses.means(witnesses.hear(cf.parse(text, names=NAMES).tree), scales)


def test_both_witnesses_tell_the_truth_from_a_stand_in():
    right, wrong = means("x**2 + 3*v", field()), means("x**2 + 3.3*v", field())
    assert right[0] < wrong[0] - 5
    assert right[1] < wrong[1] - 3


def test_values_are_exact_where_directions_are_rough():
    rough = field(noise=0.3)
    right, wrong = means("x**2 + 3*v", rough), means("x**2 + 3.3*v", rough)
    assert wrong[0] - right[0] < 0.5
    assert wrong[1] - right[1] > 3


def test_saturated_points_do_not_vote():
    saturated = field(lambda g: np.tanh(8 * g))
    witnesses = Witnesses.of(saturated)
    assert saturated.latents is not None
    flat = np.abs(saturated.latents[:, 0]) > 0.999
    assert witnesses.steepness[flat].sum() < 0.3 * flat.mean()
    assert witnesses.steepness.sum() == pytest.approx(1)


def test_without_values_directions_speak_alone():
    alone = replace(field(), latents=None, slopes=None)
    witnesses = Witnesses.of(alone)
    assert not witnesses.has_values
    assert witnesses.hear(TRUTH.tree).squares()[1] is None
    assert means("x**2 + 3*v", alone)[1] == 0


def test_values_of_several_concepts_are_not_those_of_one():
    jacobians = np.stack([POINTS * [1, 0], POINTS * [0, 1]], axis=1)
    both = cf.GradientField.from_arrays(
        np.column_stack([POINTS, POINTS[:, 0]]) + RNG.normal(size=(600, 3)),
        np.concatenate([jacobians, np.zeros((600, 2, 1))], axis=2),
        latents=POINTS,
        tangent="none",
    )
    assert both.rank == 2
    assert not Witnesses.of(both).has_values
    left = both.modulo([cf.parse("x0", names=list(both.names))])
    assert left.latents is None


def test_pointing_against_the_field_is_an_error_where_signs_count():
    """x**2 is no invertible function of x where x has both signs."""
    points = RNG.uniform(-1, 1, (400, 2))
    signed = cf.GradientField.from_arrays(points, points * [1, 0] + [0, 1e-9], names=NAMES)
    for is_signed, share in ((True, 0.5), (False, 0.0)):
        witnesses = Witnesses.of(replace(signed, is_signed=is_signed))
        squares = witnesses.hear(cf.parse("x", names=NAMES).tree).squares()[0]
        assert (squares > 0.5).mean() == pytest.approx(share, abs=0.1)


def test_a_phi_from_other_points_serves_here():
    whole = field()
    first, second = whole.subset(np.arange(400)), whole.subset(np.arange(400, 600))
    before = Witnesses.of(first)
    after = Witnesses.of(second, before)
    fit = before.hear(TRUTH.tree).phi
    assert fit is not None
    squares = after.hear(TRUTH.tree, fit).squares()[1]
    assert squares is not None
    assert np.median(squares) < 1e-6


def test_a_formula_without_values_leaves_everything():
    heard = Witnesses.of(field()).hear(cf.parse("log(x - 1)", names=NAMES).tree)
    directions, values = heard.squares()
    assert values is not None
    assert (values == 1).all()
    assert (directions[POINTS[:, 0] < 1] == 1).all()
    assert typical(heard)[1] == 1
