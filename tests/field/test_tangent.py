import warnings

import numpy as np
import pytest

from closedform.errors import ClosedformWarning, FieldError
from closedform.field.tangent import choose_tangent, linear_tangent
from closedform.field.tangent_space import robust_spread

UNITS = np.array([1.0, 1000.0, 1e-4, 1.0])


def basis(space):
    assert space.basis is not None
    return space.basis


def traceless(n_points=300):
    points = np.random.default_rng(0).uniform(-4, 4, (n_points, 4))
    points[:, 3] = 5.0 - points[:, 0]
    return points * UNITS


def sphere(n_points=1000):
    points = np.random.default_rng(1).normal(size=(n_points, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def test_the_linear_space_holds_every_difference_of_points():
    points = traceless()
    scale = robust_spread(points)
    space = linear_tangent(points, scale)
    assert space.rank == 3
    steps = (points[1:] - points[:-1]) / scale
    np.testing.assert_allclose(steps @ basis(space) @ basis(space).T, steps, atol=1e-10)


def test_single_precision_does_not_hide_a_constraint():
    points = traceless().astype(np.float32)
    points[:, 3] = np.float32(5) - points[:, 0]
    assert linear_tangent(points.astype(float), robust_spread(points)).rank == 3


@pytest.mark.parametrize("size", [1e3, 1e9])
def test_outliers_neither_make_nor_hide_constraints(size):
    points = traceless()
    points[:3, :3] *= size
    points[:3, 3] = 5.0 - points[:3, 0]
    assert linear_tangent(points, robust_spread(points)).rank == 3
    free = np.random.default_rng(2).normal(size=(300, 4))
    free[:3] *= size
    assert linear_tangent(free, robust_spread(free)).rank == 4


def test_a_nearly_constant_relation_is_no_constraint():
    points = traceless()
    points[:, 3] += 1e-3 * np.random.default_rng(3).normal(size=len(points))
    assert linear_tangent(points, robust_spread(points)).rank == 4


def test_auto_finds_affine_constraints_and_nothing_in_free_data():
    points = traceless()
    space = choose_tangent(points, robust_spread(points))
    assert (space.kind, space.rank) == ("linear", 3)
    free = np.random.default_rng(4).uniform(size=(300, 4))
    space = choose_tangent(free, robust_spread(free))
    assert (space.kind, space.rank, space.basis) == ("none", 4, None)
    assert len(space.spectrum) == 4


def test_auto_drops_a_constant_input():
    points = np.random.default_rng(5).uniform(size=(200, 3))
    points[:, 1] = 7.0
    space = choose_tangent(points, robust_spread(points))
    assert space.rank == 2
    np.testing.assert_allclose(basis(space)[1], 0.0, atol=1e-12)


def test_auto_warns_about_curved_data_at_the_callers_line():
    points = sphere()
    with pytest.warns(ClosedformWarning, match="curved surface of dimension 2 in 3") as caught:
        space = choose_tangent(points, robust_spread(points))
    assert caught[0].filename == __file__
    assert (space.kind, space.local_rank) == ("none", 2)


def test_auto_sees_a_curved_surface_inside_a_linear_space():
    points = np.hstack([sphere(), 1 - 2 * sphere()[:, :1]])
    with pytest.warns(ClosedformWarning, match="dimension 2 in 3"):
        space = choose_tangent(points, robust_spread(points))
    assert (space.kind, space.rank, space.local_rank) == ("linear", 3, 2)


@pytest.mark.parametrize("tangent", ["none", "linear", "local"])
def test_a_chosen_tangent_does_not_warn(tangent):
    points = sphere()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        space = choose_tangent(points, robust_spread(points), tangent)
    assert space.kind == tangent
    assert space.rank == (2 if tangent == "local" else 3)


@pytest.mark.parametrize("tangent", ["auto", "constraints"])
def test_stated_constraints_are_used(tangent):
    points = sphere()
    space = choose_tangent(points, robust_spread(points), tangent, ["x0**2 + x1**2 + x2**2"])
    assert (space.kind, space.rank) == ("constraints", 2)


def test_auto_adds_affine_constraints_to_the_stated_ones():
    points = np.hstack([sphere(), 1 - 2 * sphere()[:, :1]]) * [1.0, 1.0, 1.0, 1000.0]
    scale, stated = robust_spread(points), ["x0**2 + x1**2 + x2**2"]
    automatic, alone = (
        choose_tangent(points, scale, kind, stated) for kind in ("auto", "constraints")
    )
    assert (automatic.rank, alone.rank) == (2, 3)
    # Along every tangent vector, in the user's coordinates, x3 changes by -2000 times what x0
    # changes by.
    vectors = basis(automatic) * scale[:, None]
    np.testing.assert_allclose(vectors[:, 3], -2000 * vectors[:, 0], atol=1e-9)


def test_one_constraint_may_be_a_bare_text():
    points = sphere()
    assert (
        choose_tangent(
            points, robust_spread(points), "auto", "a**2 + b**2 + c**2 = 1", ["a", "b", "c"]
        ).rank
        == 2
    )


def test_few_points_satisfy_constraints_by_chance_so_auto_finds_none():
    points = np.random.default_rng(6).normal(size=(4, 4))
    assert choose_tangent(points, robust_spread(points)).kind == "none"
    with pytest.raises(FieldError, match="4 points in 4 inputs always satisfy"):
        choose_tangent(points, robust_spread(points), "linear")


def test_errors_say_what_to_do():
    points = sphere()
    with pytest.raises(FieldError, match="no tangent 'flat'"):
        choose_tangent(points, np.ones(3), "flat")
    with pytest.raises(FieldError, match="does not use them"):
        choose_tangent(points, np.ones(3), "linear", ["x0"])
    with pytest.raises(FieldError, match="All 10 points are the same"):
        choose_tangent(np.ones((10, 2)), np.ones(2))
