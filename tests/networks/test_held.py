"""Inputs that are held while others are read: readings with wrt= were never verified."""

import numpy as np
import pytest

import closedform as cf
from closedform.networks.samples import HELD_VARY, group_held

NAMES = ["a", "b", "c"]
RIVALS = ["a + b", "a*b + 0.31*a**2", "a*b**2", "a**2 + b**2", "a"]


def points(n: int = 1200) -> np.ndarray:
    return np.random.default_rng(0).uniform(1, 2, (n, 3))


def wavy(x: np.ndarray) -> np.ndarray:
    """A network of a*b for each c, with an error of its own."""
    return x[:, 2] * np.exp(x[:, 0] * x[:, 1] / 2) + 3e-3 * np.sin(4 * x @ [1.0, 0.7, 0.1])


def field_of(function, data: np.ndarray) -> cf.GradientField:
    return cf.extract_field(function, data, 0, names=NAMES, wrt=["a", "b"], batched=True, rng=0)


@pytest.mark.parametrize("few", [True, False])
def test_a_network_read_with_held_inputs_is_verified(few) -> None:
    data = points()
    if few:
        data[:, 2] = data[:, 2].round()
    field = field_of(wavy, data)
    assert field.latents is not None
    assert "phi may differ" in field.notes[-1]
    answer = cf.verify("a*b", field, rivals=RIVALS, rng=0)
    assert answer.verdict.status == "verified"
    assert answer.fit is not None
    assert answer.fit.kind == "network"


def test_values_within_each_held_value_tell_a_formula_from_its_square() -> None:
    """Without them phi was not tested at all: x and its square have the same directions."""
    data = points()
    data[:, 2] = data[:, 2].round()
    data[:, :2] -= 1.5
    field = field_of(lambda x: x[:, 2] * (x[:, 0] + x[:, 1]) ** 2, data)
    assert cf.verify("a + b", field, rivals=None, rng=0).verdict.status != "verified"


def test_a_concept_that_differs_between_held_values_is_not_verified() -> None:
    data = points()
    data[:, 2] = data[:, 2].round()
    field = field_of(lambda x: np.where(x[:, 2] > 1, x[:, 0] * x[:, 1], x[:, 0] + x[:, 1]), data)
    for formula in ("a*b", "a + b"):
        answer = cf.verify(formula, field, rivals=RIVALS, rng=0)
        assert answer.verdict.status == "approximate"
        assert "fits some values of the held inputs far worse" in answer.verdict.sentence


def test_values_are_left_out_where_moving_held_inputs_turns_directions() -> None:
    field = field_of(lambda x: x[:, 0] * np.sin(40 * x[:, 2]) + x[:, 1], points())
    assert field.latents is None
    assert field.notes[-1] == HELD_VARY


def test_points_of_rare_held_values_do_not_count(tmp_path) -> None:
    data = points(300)
    data[:, 2] = np.repeat([1.0, 2.0, 3.0], [200, 90, 10])
    field = field_of(wavy, data)
    assert "10 points with rarer ones do not count" in field.notes[-1]
    assert (field.weights[-10:] == 0).all()
    field.save(tmp_path / "field.npz")
    again = cf.load_field(tmp_path / "field.npz")
    assert again.held is not None
    assert field.held is not None
    assert again.held.tolist() == field.held.tolist()


def test_too_few_points_make_no_groups() -> None:
    assert group_held(np.linspace(0, 1, 200)[:, None]) is None
