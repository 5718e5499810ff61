import pickle

import numpy as np
import pytest

from closedform.errors import ExpressionError, FieldError, ShapeError
from closedform.expressions.parse import parse
from closedform.field.gradient_field import GradientField
from closedform.field.tangent_space import TangentSpace

UNITS = np.array([1000.0, 1.0, 1.0, 1.0])


def basis(space):
    assert space.basis is not None
    return space.basis


def uniform(n_points=300, n_inputs=4, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, (n_points, n_inputs))


def traceless(n_points=300):
    points = uniform(n_points)
    points[:, 3] = 1.5 - points[:, 0]
    return points


def determinant(points):
    return np.stack([points[:, 3], -points[:, 2], -points[:, 1], points[:, 0]], axis=1)


def misalignment(field, gradients):
    """1 minus the squared share of a candidate's gradient that lies in the field, as every
    comparison computes it.
    """
    candidate = field.project(gradients)
    candidate = candidate / np.linalg.norm(candidate, axis=1, keepdims=True)
    return 1 - (np.einsum("nrk,nr->nk", field.frames, candidate) ** 2).sum(axis=1)


def test_one_neuron_in_free_data_has_its_unit_gradient_as_direction():
    points = uniform()
    gradients = determinant(points)
    field = GradientField.from_arrays(points, gradients, latents=points[:, 0])
    unit = gradients / np.linalg.norm(gradients, axis=1, keepdims=True)
    np.testing.assert_allclose(field.directions[:, :, 0], unit, atol=1e-12)
    assert field.names == ("x0", "x1", "x2", "x3")
    assert field.latents is not None
    assert field.latents.shape == (300, 1)
    np.testing.assert_array_equal(field.weights, 1.0)


@pytest.mark.parametrize("n_latents", [1, 2])
def test_directions_are_orthonormal_and_tangent_in_the_users_coordinates(n_latents):
    points = traceless() * UNITS
    gradients = np.stack([determinant(points / UNITS) / UNITS, 2 * points / UNITS**2], axis=1)[
        :, :n_latents
    ]
    field = GradientField.from_arrays(points, gradients)
    assert field.tangent.rank == 3
    assert field.directions.shape == (300, 4, n_latents)
    identity = np.swapaxes(field.directions, 1, 2) @ field.directions
    np.testing.assert_allclose(
        identity, np.broadcast_to(np.eye(n_latents), identity.shape), atol=1e-12
    )
    # The normal of the data in the user's coordinates is the gradient of x0/1000 + x3, by hand.
    normal = np.array([1e-3, 0.0, 0.0, 1.0])
    np.testing.assert_allclose(np.einsum("ndk,d->nk", field.directions, normal), 0.0, atol=1e-12)


def test_the_projection_keeps_what_a_gradient_says_about_the_data():
    points = traceless() * UNITS
    gradients = determinant(points / UNITS) / UNITS
    field = GradientField.from_arrays(points, gradients)
    # Slopes along steps between data points, by the gradient and by the direction, are proportional
    # at each point.
    steps = points[1:6] - points[:5]
    slopes, seen = gradients @ steps.T, field.directions[:, :, 0] @ steps.T
    ratio = (slopes * seen).sum(axis=1, keepdims=True) / (seen**2).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(slopes, ratio * seen, atol=1e-9 * np.abs(slopes).max())
    assert (ratio > 0).all()


def test_frames_and_directions_are_the_same_information():
    points = traceless() * UNITS
    jacobians = np.stack([determinant(points / UNITS) / UNITS, 2 * points / UNITS**2], axis=1)
    field = GradientField.from_arrays(points, jacobians)
    projected = field.project(field.directions)
    np.testing.assert_allclose(
        field.frames @ (np.swapaxes(field.frames, 1, 2) @ projected), projected, atol=1e-9
    )
    assert np.linalg.matrix_rank(projected).min() == 2


@pytest.mark.parametrize("tangent", ["none", "linear", "local"])
def test_units_change_nothing_but_units(tangent):
    points = traceless(800)
    if tangent == "local":
        points[:, 3] = points[:, 0] ** 2
    gradients, candidate = determinant(points), np.cos(points)
    here = GradientField.from_arrays(points, gradients, tangent=tangent)
    there = GradientField.from_arrays(points * UNITS, gradients / UNITS, tangent=tangent)
    np.testing.assert_allclose(there.scale, here.scale * UNITS, rtol=1e-12)
    assert here.tangent.rank == there.tangent.rank
    np.testing.assert_allclose(
        misalignment(there, candidate / UNITS), misalignment(here, candidate), atol=1e-7
    )
    np.testing.assert_allclose(misalignment(there, gradients / UNITS), 0.0, atol=1e-9)


def test_units_change_nothing_but_units_with_constraints():
    points, candidate = traceless(), np.cos(traceless())
    here = GradientField.from_arrays(points, determinant(points), constraints=["x0 + x3"])
    there = GradientField.from_arrays(
        points * UNITS, determinant(points) / UNITS, constraints=["x0/1000 + x3 = 1.5"]
    )
    np.testing.assert_allclose(
        misalignment(there, candidate / UNITS), misalignment(here, candidate), atol=1e-9
    )


def test_what_happens_across_the_data_does_not_count():
    points = traceless()
    wrong = determinant(points) + 5.0 * np.array([1.0, 0.0, 0.0, 1.0])
    assert misalignment(GradientField.from_arrays(points, wrong), determinant(points)).max() < 1e-12
    assert (
        misalignment(
            GradientField.from_arrays(points, wrong, tangent="none"), determinant(points)
        ).mean()
        > 0.3
    )


def test_functions_of_several_latents_lie_in_the_field():
    points = uniform()
    first, second = (
        parse("x0*x1 + x2", ["x0", "x1", "x2", "x3"]),
        parse("x3**2 - x0", ["x0", "x1", "x2", "x3"]),
    )
    field = GradientField.from_arrays(
        points, np.stack([first.gradient(points), second.gradient(points)], axis=1)
    )
    product = parse("(x0*x1 + x2)*(x3**2 - x0)", ["x0", "x1", "x2", "x3"])
    assert field.rank == 2
    assert misalignment(field, product.gradient(points)).max() < 1e-10
    assert misalignment(field, points).mean() > 0.1


def test_a_latent_that_repeats_another_adds_no_direction():
    points = uniform()
    field = GradientField.from_arrays(
        points,
        np.stack([determinant(points), -3 * determinant(points)], axis=1),
        latents=points[:, :2],
    )
    assert field.rank == 1
    assert field.latents is not None
    assert field.latents.shape == (300, 2)
    assert misalignment(field, determinant(points)).max() < 1e-12


def test_points_without_a_usable_gradient_weigh_nothing():
    points = uniform()
    gradients = determinant(points)
    gradients[0], gradients[1, 2], gradients[2, 0] = 0.0, np.nan, -np.inf
    given = np.full(300, 2.0)
    given[5] = 0.0
    field = GradientField.from_arrays(points, gradients, weights=given)
    np.testing.assert_array_equal(np.flatnonzero(field.weights == 0), [0, 1, 2, 5])
    assert set(field.weights[6:]) == {2.0}
    np.testing.assert_allclose(np.linalg.norm(field.directions, axis=1), 1.0)
    assert np.isfinite(field.frames).all()


@pytest.mark.parametrize("n_latents", [1, 3])
def test_one_input_and_dead_latents_still_make_a_field(n_latents):
    points = uniform(n_inputs=1)
    field = GradientField.from_arrays(points, np.ones((300, n_latents, 1)))
    assert field.frames.shape == (300, 1, 1)
    assert field.quality.finding("every-function-fits") is not None
    dead = GradientField.from_arrays(uniform(), np.zeros((300, n_latents, 4)))
    assert not dead.weights.any()
    assert dead.quality.finding("dead-neuron") is not None


def test_more_latents_than_directions_keep_the_rank_of_the_data():
    points = uniform(n_inputs=2)
    field = GradientField.from_arrays(points, np.random.default_rng(1).normal(size=(300, 5, 2)))
    assert field.rank == 2
    assert field.quality.finding("every-function-fits") is not None


def test_a_subset_slices_everything():
    points = np.random.default_rng(2).normal(size=(400, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    points[7] = 0.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("closedform.field.gradient_field.assess", lambda *_: None)
        field = GradientField.from_arrays(
            points,
            np.cos(points),
            latents=points[:, 1],
            constraints=["sqrt(x0**2 + x1**2 + x2**2)"],
            notes=["a note"],
        )
    for chosen in (np.array([7, 3, 5]), np.arange(400) < 9):
        part = field.subset(chosen)
        for name in ("points", "directions", "frames", "latents", "weights"):
            np.testing.assert_array_equal(getattr(part, name), getattr(field, name)[chosen])
        np.testing.assert_array_equal(basis(part.tangent), basis(field.tangent)[chosen])
        np.testing.assert_array_equal(
            part.tangent.is_defined, np.asarray(field.tangent.is_defined)[chosen]
        )
        np.testing.assert_allclose(
            part.project(np.ones_like(part.points)), field.project(np.ones_like(points))[chosen]
        )
        assert part.scale is field.scale
        assert (part.names, part.notes, part.quality) == (field.names, ("a note",), field.quality)


def test_arrays_are_read_only_copies():
    points, gradients, weights = uniform(), determinant(uniform()), np.ones(300)
    field = GradientField.from_arrays(points, gradients, latents=points[:, 0], weights=weights)
    before = field.points.copy()
    points[:], weights[:] = 0.0, 0.0
    np.testing.assert_array_equal(field.points, before)
    assert field.latents is not None
    for array in (
        field.points,
        field.directions,
        field.frames,
        field.latents,
        field.weights,
        field.scale,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    with pytest.raises(AttributeError):
        field.names = ("a",)  # pyright: ignore[reportAttributeAccessIssue]


def test_a_ready_tangent_space_is_taken_as_it_is():
    points = uniform()
    space = TangentSpace("linear", 2, np.eye(4)[:, :2])
    assert GradientField.from_arrays(points, np.cos(points), tangent=space).tangent is space
    with pytest.raises(FieldError, match="ready tangent space"):
        GradientField.from_arrays(points, np.cos(points), tangent=space, constraints=["x0"])
    with pytest.raises(ShapeError):
        GradientField.from_arrays(points, np.cos(points), tangent=TangentSpace("none", 3))


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"points": np.zeros(3)}, ShapeError, r"non-empty array"),
        (
            {"points": np.zeros((0, 4)), "gradients": np.zeros((0, 4))},
            ShapeError,
            r"non-empty array",
        ),
        ({"gradients": np.ones((300, 3))}, ShapeError, "shape"),
        ({"gradients": np.ones((299, 4))}, ShapeError, r"pass \(300, 4\) for"),
        ({"gradients": np.ones((300, 4, 2))}, ShapeError, r"n_latents, 4\)"),
        ({"gradients": np.ones((300, 0, 4))}, ShapeError, r"n_latents, 4\)"),
        (
            {"points": np.where(np.arange(1200).reshape(300, 4) < 6, np.nan, 0)},
            FieldError,
            "2 of 300 points hold nan",
        ),
        ({"names": ["a", "b"]}, FieldError, "pass 4 different ones"),
        ({"names": "abcd"}, FieldError, "pass 4 different ones"),
        ({"names": ["a", "b", "a", "c"]}, FieldError, "pass 4 different ones"),
        ({"names": ["a", "b", "pi", "c"]}, ExpressionError, "cannot be named 'pi'"),
        ({"weights": np.ones(3)}, ShapeError, r"pass \(300,\)"),
        ({"weights": -np.ones(300)}, FieldError, "0 or larger"),
        ({"latents": np.ones((300, 2))}, ShapeError, r"pass \(300, 1\)"),
        ({"points": np.ones((300, 4))}, FieldError, "are the same"),
    ],
)
def test_errors_say_what_to_pass(changed, error, message):
    arguments = {"points": uniform(), "gradients": determinant(uniform()), **changed}
    with pytest.raises(error, match=message):
        GradientField.from_arrays(arguments.pop("points"), arguments.pop("gradients"), **arguments)


def test_its_repr_fits_on_a_line():
    points = uniform()
    assert (
        repr(GradientField.from_arrays(points, np.cos(points)))
        == "GradientField(300 points, 4 inputs, rank 1, tangent none)"
    )


def test_a_digest_is_that_of_the_arrays_and_is_kept():
    points = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    field = GradientField.from_arrays(points, points)
    again = GradientField.from_arrays(points, points)
    assert field.digest() == field.digest() == again.digest()
    assert field.digest() == pickle.loads(pickle.dumps(field)).digest()
    assert field.digest() != field.subset(np.arange(49)).digest()
