import numpy as np
import pytest

from closedform.errors import ClosedformWarning, ExpressionError, FieldError, ShapeError
from closedform.expressions.parse import parse
from closedform.field.tangent import constraint_tangent, linear_tangent
from closedform.field.tangent_space import robust_spread

MATRIX = ["A11", "A12", "A21", "A22"]


def basis(space):
    assert space.basis is not None
    return space.basis


def sphere(n_points, seed=0):
    points = np.random.default_rng(seed).normal(size=(n_points, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def traceless(n_points):
    points = np.random.default_rng(1).uniform(-4, 4, (n_points, 4)) * [1.0, 100.0, 1.0, 1.0]
    points[:, 3] = 5.0 - points[:, 0]
    return points


def test_it_agrees_with_the_linear_space_on_a_linear_case():
    points = traceless(500)
    scale = robust_spread(points)
    stated = constraint_tangent(points, scale, ["A11 + A22"], MATRIX)
    found = linear_tangent(points, scale)
    assert stated.rank == found.rank == 3
    overlap = np.linalg.svd(basis(found).T @ basis(stated), compute_uv=False)
    np.testing.assert_allclose(overlap, 1.0, atol=1e-12)


def test_tangent_vectors_do_not_change_the_constraint():
    points = sphere(200) * [1.0, 50.0, 0.01]
    scale = robust_spread(points)
    text = "x**2 + (y/50)**2 + (100*z)**2 = 1"
    space = constraint_tangent(points, scale, [text], ["x", "y", "z"])
    # A derivative in the user's coordinates along each tangent vector, which is scale * T there.
    slopes = np.einsum(
        "nd,ndr->nr",
        parse(text.split("=")[0], ["x", "y", "z"]).gradient(points),
        scale[:, None] * basis(space),
    )
    np.testing.assert_allclose(slopes, 0.0, atol=1e-12)


@pytest.mark.parametrize(
    "constraint",
    [
        "x**2 + y**2 + z**2 = 1",
        "sqrt(x**2 + y**2 + z**2)",
        parse("x**2 + y**2 + z**2", ["x", "y", "z"]),
        lambda points: 2 * points,
    ],
)
def test_every_way_to_state_it_gives_the_same_planes(constraint):
    points = sphere(50)
    space = constraint_tangent(points, np.ones(3), [constraint], ["x", "y", "z"])
    np.testing.assert_allclose(np.einsum("ndr,nd->nr", basis(space), points), 0.0, atol=1e-12)
    assert space.is_defined is None


def test_several_constraints_and_those_that_follow_from_others():
    points = sphere(60)
    points[:, 2] = 0.3
    points[:, :2] /= np.linalg.norm(points[:, :2], axis=1, keepdims=True)
    circle = ["x**2 + y**2 + z**2", "z", "x**2 + y**2 = 1"]
    space = constraint_tangent(points, np.ones(3), circle, ["x", "y", "z"])
    assert space.rank == 1
    np.testing.assert_allclose(
        np.abs(basis(space)[:, :, 0]), np.abs(points[:, [1, 0, 2]] * [1, 1, 0]), atol=1e-12
    )


def test_points_without_a_gradient_are_not_defined():
    points = np.vstack([sphere(20), [[0.0, 0.0, 0.0]]])
    space = constraint_tangent(points, np.ones(3), ["sqrt(x**2 + y**2 + z**2)"], ["x", "y", "z"])
    np.testing.assert_array_equal(space.is_defined, [True] * 20 + [False])
    np.testing.assert_allclose(basis(space)[-1].T @ basis(space)[-1], np.eye(2))


def test_a_constraint_that_does_not_hold_warns_and_names_itself():
    points = np.random.default_rng(2).uniform(-1, 1, (100, 2))
    with pytest.warns(ClosedformWarning, match=r"'x\*\*2 \+ y' is stated to hold, but it varies"):
        constraint_tangent(points, robust_spread(points), ["x**2 + y"], ["x", "y"])


def test_an_equation_at_another_level_warns():
    with pytest.warns(ClosedformWarning, match="= 2"):
        constraint_tangent(sphere(50), np.ones(3), ["x**2 + y**2 + z**2 = 2"], ["x", "y", "z"])


def test_errors_say_what_to_do():
    points = sphere(30)
    with pytest.raises(FieldError, match="pass constraints="):
        constraint_tangent(points, np.ones(3), [], ["x", "y", "z"])
    with pytest.raises(FieldError, match="no direction is left"):
        constraint_tangent(np.zeros((5, 2)), np.ones(2), ["x", "y"], ["x", "y"])
    with pytest.raises(FieldError, match="no gradient"):
        constraint_tangent(points, np.ones(3), [np.zeros_like], ["x", "y", "z"])
    with pytest.raises(ExpressionError, match="no input named 'q'"):
        constraint_tangent(points, np.ones(3), ["q"], ["x", "y", "z"])
    with pytest.raises(ShapeError):
        constraint_tangent(points, np.ones(3), [lambda p: p[:, :2]], ["x", "y", "z"])
    with pytest.raises(FieldError, match="29 gradients for 30 points"):
        constraint_tangent(points, np.ones(3), [lambda p: p[1:]], ["x", "y", "z"])
