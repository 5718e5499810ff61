import numpy as np
import pytest

from closedform.field.findings import Redundancy
from closedform.field.quality import constant_inputs, redundant_inputs
from closedform.field.tangent_space import robust_spread


def found(points, names):
    return {
        (item.name, item.others, item.is_affine)
        for item in redundant_inputs(points, robust_spread(points), names)
    }


def uniform(n_points, n_inputs, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, (n_points, n_inputs))


def test_an_antisymmetric_matrix_has_three_redundant_entries():
    v = uniform(300, 3)
    zero = np.zeros(300)
    entries = [zero, v[:, 0], v[:, 1], -v[:, 0], zero, v[:, 2], -v[:, 1], -v[:, 2], zero]
    names = [f"A{row}{column}" for row in (1, 2, 3) for column in (1, 2, 3)]
    relations = found(np.stack(entries, axis=1), names)
    assert relations == {("A21", ("A12",), True), ("A31", ("A13",), True), ("A32", ("A23",), True)}


def test_an_affine_combination_names_what_it_is_made_of():
    x = uniform(300, 4)
    points = np.column_stack([x * [1, 1e3, 1, 1], 2 * x[:, 0] - 3 * x[:, 2] + 7])
    assert found(points, ["a", "b", "c", "d", "e"]) == {("e", ("a", "c"), True)}


def test_a_relation_is_solved_for_an_input_that_has_weight_in_it():
    x = uniform(300, 2)
    points = np.column_stack([x[:, 0], x[:, 0] + 0.01 * x[:, 1], x[:, 1]])
    assert found(points, ["a", "c", "b"]) == {("c", ("a", "b"), True)}


def test_a_function_of_others_is_seen():
    x = uniform(1000, 2)
    assert found(np.column_stack([x, np.sin(x[:, 0]) + x[:, 1] ** 2]), ["a", "b", "c"]) == {
        ("c", ("a", "b"), False)
    }


def test_a_square_follows_from_its_root_but_not_the_other_way_round():
    x = uniform(500, 1)
    assert found(np.column_stack([x**2, x]), ["square", "root"]) == {("square", ("root",), False)}


@pytest.mark.parametrize(
    "points",
    [
        uniform(1000, 4),
        np.random.default_rng(1).multivariate_normal([0, 0], [[1, 0.99], [0.99, 1]], 1000),
        np.random.default_rng(2).standard_t(1.2, size=(500, 3)),
        uniform(3, 5),
        uniform(500, 1),
    ],
    ids=["free", "correlated", "heavy tails", "few points", "one input"],
)
def test_free_inputs_are_not_redundant(points):
    assert (
        redundant_inputs(points, robust_spread(points), [f"x{i}" for i in range(points.shape[1])])
        == ()
    )


def test_a_sphere_has_no_redundant_input_because_each_has_two_signs():
    points = np.random.default_rng(3).normal(size=(1000, 3))
    assert found(points / np.linalg.norm(points, axis=1, keepdims=True), ["x", "y", "z"]) == set()


def test_constant_inputs_are_those_that_do_not_vary_beyond_rounding():
    points = np.column_stack(
        [np.full(50, 0.1), uniform(50, 1), np.zeros(50), 1e9 + 1e-5 * uniform(50, 1)]
    )
    assert constant_inputs(points) == [0, 2, 3]


def test_the_result_is_plain_data():
    x = uniform(200, 1)
    assert redundant_inputs(np.hstack([x, -x]), np.ones(2), ["a", "b"]) == (
        Redundancy("b", ("a",), is_affine=True),
    )
