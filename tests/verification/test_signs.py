"""A formula whose gradient turns round where the network's does not folds the concept."""

import numpy as np
import pytest

import closedform as cf
from closedform.interpretation.verdict import CheckResult
from closedform.verification.phi import even_forms
from closedform.verification.signs import measure_reversals, signs_along

NAMES = ["x", "y"]


def _points(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform([-1.0, 1.0], [2.0, 3.0], (600, 2))


def _field(truth: str, *, signed: bool = True) -> cf.GradientField:
    points = _points()
    gradients = cf.parse(truth, names=NAMES).gradient(points)
    return cf.GradientField.from_arrays(
        points, gradients, names=NAMES, tangent="none", signed=signed
    )


def _phi(answer: cf.Interpretation) -> CheckResult:
    return next(check for check in answer.verdict.checks if check.name == "phi")


def _status(formula: str, field: cf.GradientField) -> str:
    return cf.verify(formula, field, rivals=None, rng=0).verdict.status


@pytest.mark.parametrize("formula", ["x**2*y**2", "1/(x**2*y**2)", "abs(x*y)"])
def test_a_folded_formula_is_not_verified(formula: str) -> None:
    # Feynman II.6.15b was read as the inverse square of a truth that changes its sign.
    answer = cf.verify(formula, _field("x*y"), rivals=None, rng=0)
    assert answer.verdict.status == "approximate"
    assert _phi(answer).passed is False
    assert "points against the network's" in _phi(answer).text


@pytest.mark.parametrize("formula", ["x*y", "-3*x*y", "1/(x*y)", "x**3*y**3"])
def test_a_formula_that_keeps_its_sign_is_verified(formula: str) -> None:
    assert _status(formula, _field("x*y")) == "verified"


def test_a_truth_that_turns_back_is_not_its_own_phase() -> None:
    # sin(x*y)**2 was verified as x*y: the network's gradient turns, the formula's does not.
    assert _status("x*y", _field("sin(x*y)**2")) == "approximate"


@pytest.mark.parametrize("signed", [False, True])
def test_arbitrary_signs_decide_nothing(signed: bool) -> None:
    points = _points()
    turned = np.random.default_rng(1).choice([-1.0, 1.0], (len(points), 1))
    gradients = turned * cf.parse("x*y", names=NAMES).gradient(points)
    field = cf.GradientField.from_arrays(
        points, gradients, names=NAMES, tangent="none", signed=signed
    )
    answer = cf.verify("x*y", field, rivals=None, rng=0)
    assert answer.verdict.status == "verified"
    assert _phi(answer).passed is None
    assert "signs" in _phi(answer).text


def test_the_directions_across_a_flow_have_no_sign() -> None:
    points = np.random.default_rng(0).uniform(-1, 1, (600, 2))
    velocities = np.column_stack([points[:, 1], -points[:, 0]])
    field = cf.GradientField.from_flow(points, velocities, names=NAMES)
    assert not field.is_signed
    assert _status("x**2 + y**2", field) == "verified"


def test_several_latents_and_what_is_left_of_them_have_no_sign() -> None:
    points = np.random.default_rng(0).uniform(1, 2, (50, 3))
    jacobians = np.stack([points * [1, 1, 0], points * [0, 2, 1]], axis=1)
    field = cf.GradientField.from_arrays(points, jacobians, names=["x", "y", "z"], tangent="none")
    assert not field.is_signed
    assert not field.modulo([cf.parse("x**2 + y**2")]).is_signed


def test_a_few_turned_points_are_a_networks_error() -> None:
    field = _field("x*y")
    bent = field.frames.copy()
    bent[field.points[:, 0] > np.quantile(field.points[:, 0], 0.97)] *= -1
    (found,) = measure_reversals([signs_along(cf.parse("x*y"), field)], field)
    assert found.share == 0
    noisy = cf.GradientField.from_arrays(
        field.points, bent[:, :, 0] / field.scale, names=NAMES, tangent="none"
    )
    (found,) = measure_reversals([signs_along(cf.parse("x*y"), noisy)], noisy)
    assert 0.02 < found.share < 0.04
    assert not found.is_fold(3.5)
    assert found.is_fold(3.5, allowed=0.0)


def test_the_square_is_read_from_signs_alone() -> None:
    # Without values of the latent x - y was the answer where the network computes its square.
    points = np.random.default_rng(0).uniform(-1, 1, (600, 2))
    truth = cf.parse("(x - y)**2", names=NAMES)
    field = cf.GradientField.from_arrays(
        points, truth.gradient(points), names=NAMES, tangent="none"
    )
    read = even_forms(cf.parse("x - y", names=NAMES), field)
    assert cf.same_concept(str(read), str(truth), NAMES).status == "proved"
    plain = cf.GradientField.from_arrays(points, np.tile([1.0, -1.0], (600, 1)), names=NAMES)
    assert str(even_forms(cf.parse("x - y", names=NAMES), plain)) == "x - y"


def test_a_rival_that_keeps_its_sign_takes_the_place_of_a_fold() -> None:
    field = _field("x*y")
    answer = cf.verify("x**2*y**2", field, rivals=["x*y"], rng=0)
    (rival,) = answer.rivals
    assert str(rival.expression) == "x*y"
    assert rival.difference < -5
    kept = cf.verify("x*y", field, rivals=["x**2*y**2"], rng=0)
    assert kept.verdict.status == "verified"


@pytest.mark.parametrize("signed", [True, False])
def test_a_saved_field_keeps_what_its_signs_mean(tmp_path, signed: bool) -> None:
    _field("x*y", signed=signed).save(tmp_path / "field.npz")
    assert cf.load_field(tmp_path / "field.npz").is_signed is signed


def test_two_points_can_be_turned_round_and_dead_ones_are_not():
    points = _points()[:3]
    gradients = np.ones((3, 2))
    gradients[2] = 0
    field = cf.GradientField.from_arrays(points, gradients, names=NAMES, tangent="none")
    assert signs_along(cf.parse("x + y", names=NAMES), field).tolist() == [1.0, 1.0, 0.0]
    two = field.subset(np.arange(2))
    (turned,) = measure_reversals([np.array([1.0, -1.0])], two)
    assert turned.share > 0
