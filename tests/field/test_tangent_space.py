import numpy as np
import pytest

from closedform.errors import FieldError, ShapeError
from closedform.field.tangent_space import TangentSpace

SCALE = np.array([10.0, 1.0, 0.1])


@pytest.fixture
def spaces():
    rng = np.random.default_rng(0)
    local = np.linalg.qr(rng.normal(size=(5, 3, 2)))[0]
    return (
        TangentSpace("none", 3),
        TangentSpace("linear", 2, local[0]),
        TangentSpace("local", 2, local),
    )


def test_coordinates_are_slopes_along_the_tangent_vectors(spaces):
    covectors = np.random.default_rng(1).normal(size=(5, 3))
    for space in spaces:
        unit = np.eye(space.rank)
        vectors = np.stack(
            [space.displacements(np.tile(row, (5, 1)), SCALE) for row in unit], axis=2
        )
        slopes = np.einsum("nd,ndr->nr", covectors, vectors)
        np.testing.assert_allclose(space.coordinates(covectors, SCALE), slopes, atol=1e-12)


def test_several_covectors_at_a_point_are_taken_one_by_one(spaces):
    covectors = np.random.default_rng(2).normal(size=(5, 3, 4))
    for space in spaces:
        together = space.coordinates(covectors, SCALE)
        assert together.shape == (5, space.rank, 4)
        for column in range(4):
            np.testing.assert_allclose(
                together[:, :, column],
                space.coordinates(covectors[:, :, column], SCALE),
                atol=1e-14,
            )


def test_a_subset_slices_what_belongs_to_points(spaces):
    none, linear, local = spaces
    assert none.subset([1]).basis is None
    assert linear.subset([1, 2]).basis is linear.basis
    np.testing.assert_array_equal(local.subset([3, 1]).basis, local.basis[[3, 1]])
    defined = TangentSpace(
        "constraints", 2, local.basis, is_defined=np.array([True, False, True, True, True])
    )
    np.testing.assert_array_equal(defined.subset([1, 2]).is_defined, [False, True])
    assert not local.subset([0]).basis.flags.writeable


def test_shapes_that_do_not_fit_are_refused(spaces):
    for space in spaces:
        with pytest.raises(ShapeError, match=r"pass \(n_points, 3\)"):
            space.coordinates(np.zeros((5, 2)), SCALE)
    with pytest.raises(ShapeError, match="4 covectors, but tangent spaces at 5 points"):
        spaces[2].coordinates(np.zeros((4, 3)), SCALE)


def test_impossible_spaces_are_refused():
    with pytest.raises(FieldError, match="no tangent kind 'flat'"):
        TangentSpace("flat", 2)  # pyright: ignore[reportArgumentType]
    with pytest.raises(FieldError, match="needs a basis"):
        TangentSpace("linear", 2)
    with pytest.raises(FieldError, match="has no basis"):
        TangentSpace("none", 2, np.eye(2))
    with pytest.raises(ShapeError, match="must have the rank, 1"):
        TangentSpace("linear", 1, np.eye(2))
