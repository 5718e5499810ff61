import numpy as np
import pytest
from scipy.spatial import KDTree

from closedform.errors import FieldError
from closedform.field.tangent import curved_rank, local_tangent
from closedform.field.tangent_space import TangentSpace, robust_spread


def basis(space):
    assert space.basis is not None
    return space.basis


def sphere(n_points, rng):
    normals = rng.normal(size=(n_points, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return normals.copy(), normals


def torus(n_points, rng, radius=2.0, tube=1.0):
    """Uniform on the surface: the angle around the tube is drawn in proportion to the area
    there.
    """
    angles = rng.uniform(0, 2 * np.pi, 4 * n_points)
    kept = rng.uniform(0, radius + tube, 4 * n_points) < radius + tube * np.cos(angles)
    around, along = angles[kept][:n_points], rng.uniform(0, 2 * np.pi, n_points)
    outward = np.stack([np.cos(along), np.sin(along), np.zeros(n_points)], axis=1)
    upward = np.array([0.0, 0.0, 1.0])
    normals = np.cos(around)[:, None] * outward + np.sin(around)[:, None] * upward
    return radius * outward + tube * normals, normals


def angles_to_truth(space, scale, normals):
    """Degrees between planes: the largest angle between a plane's vectors and the true one, in
    scaled coordinates.
    """
    covectors = normals * scale
    covectors /= np.linalg.norm(covectors, axis=1, keepdims=True)
    return np.degrees(
        np.arcsin(
            np.clip(np.linalg.norm(np.einsum("ndr,nd->nr", basis(space), covectors), axis=1), 0, 1)
        )
    )


@pytest.mark.parametrize("surface", [sphere, torus])
def test_every_plane_is_within_five_degrees_at_noise_of_a_thousandth(surface):
    rng = np.random.default_rng(0)
    points, normals = surface(5000, rng)
    points = points + 1e-3 * rng.normal(size=points.shape)
    scale = robust_spread(points)
    space = local_tangent(points, scale)
    assert (space.kind, space.rank) == ("local", 2)
    assert angles_to_truth(space, scale, normals).max() < 5.0
    identity = np.swapaxes(basis(space), 1, 2) @ basis(space)
    np.testing.assert_allclose(identity, np.broadcast_to(np.eye(2), identity.shape), atol=1e-12)


def test_planes_are_ten_times_nearer_than_plain_local_pca():
    points, normals = sphere(2000, np.random.default_rng(1))
    scale = robust_spread(points)
    neighbors = (points / scale)[KDTree(points / scale).query(points / scale, 20)[1]]
    axes = np.linalg.svd(neighbors - neighbors.mean(axis=1, keepdims=True))[2]
    plain = TangentSpace("local", 2, np.swapaxes(axes[:, :2], 1, 2))
    plain_error = angles_to_truth(plain, scale, normals).mean()
    assert angles_to_truth(local_tangent(points, scale), scale, normals).mean() < plain_error / 10


@pytest.mark.parametrize("noise", [0.0, 1e-3, 1e-2])
def test_the_neighbourhood_follows_noise_and_curvature(noise):
    # Within half as much again as the best of fixed sizes, where one size for all is up to ten
    # times worse.
    points, normals = sphere(1500, np.random.default_rng(2))
    points = points + noise * np.random.default_rng(3).normal(size=points.shape)
    scale = robust_spread(points)
    fixed = [
        angles_to_truth(local_tangent(points, scale, n_neighbors=n), scale, normals).mean()
        for n in (12, 30, 78)
    ]
    chosen = angles_to_truth(local_tangent(points, scale), scale, normals).mean()
    assert chosen < 1.5 * min(fixed)
    assert max(fixed) > 2 * min(fixed)


def test_units_do_not_matter():
    rng = np.random.default_rng(2)
    points, _ = sphere(800, rng)
    units = np.array([1000.0, 1.0, 1e-4])
    here, there = (
        local_tangent(points, robust_spread(points)),
        local_tangent(points * units, robust_spread(points * units)),
    )
    assert here.rank == there.rank
    projectors = [basis(space) @ np.swapaxes(basis(space), 1, 2) for space in (here, there)]
    np.testing.assert_allclose(projectors[0], projectors[1], atol=1e-8)


def test_rotations_have_three_tangent_directions_in_nine_inputs():
    rotations = np.linalg.qr(np.random.default_rng(3).normal(size=(1000, 3, 3)))[0]
    points = rotations.reshape(-1, 9)
    assert local_tangent(points, robust_spread(points)).rank == 3


def test_data_that_fills_its_space_keeps_every_direction():
    points = np.random.default_rng(4).normal(size=(500, 4))
    space = local_tangent(points, robust_spread(points))
    assert space.rank == 4
    np.testing.assert_array_equal(basis(space), np.eye(4))


def test_repeated_points_do_not_empty_the_neighbourhoods():
    points, normals = sphere(500, np.random.default_rng(5))
    repeated = np.repeat(points, 30, axis=0)
    scale = robust_spread(repeated)
    assert (
        angles_to_truth(local_tangent(repeated, scale), scale, np.repeat(normals, 30, axis=0)).max()
        < 5.0
    )


def test_too_few_points_are_refused_with_their_number():
    points = np.repeat(np.random.default_rng(7).normal(size=(9, 2)), 10, axis=0)
    with pytest.raises(FieldError, match="9 different points"):
        local_tangent(points, np.ones(2))


@pytest.mark.parametrize("surface", [sphere, torus])
def test_curved_surfaces_are_seen(surface):
    points = surface(1000, np.random.default_rng(8))[0]
    assert curved_rank(points / robust_spread(points)) == 2


def correlated(rng, n_points, n_inputs):
    """A thin but flat cloud: every input nearly the same."""
    return rng.normal(size=(n_points, 1)) + 0.02 * rng.normal(size=(n_points, n_inputs))


def trajectories(rng, n_points, n_inputs):
    """Few orbits: locally lines, and across the lines is what a concept reads."""
    phases, sizes = rng.uniform(0, 6, (10, 1, n_inputs)), rng.uniform(0.3, 1, (10, 1, n_inputs))
    times = np.linspace(0, 6, n_points // 10)[:, None] * (1 + 0.3 * np.arange(n_inputs))
    return (sizes * np.cos(times + phases)).reshape(-1, n_inputs)


def dense_trajectories(rng, n_points, n_inputs):
    return trajectories(rng, 4 * n_points, n_inputs)


@pytest.mark.parametrize("n_inputs", [2, 3, 6])
@pytest.mark.parametrize(
    "cloud",
    [
        lambda rng, n, d: rng.uniform(size=(n, d)),
        lambda rng, n, d: rng.normal(size=(n, d)),
        lambda rng, n, d: rng.standard_t(1.5, size=(n, d)),
        correlated,
        trajectories,
        dense_trajectories,
    ],
)
def test_clouds_and_trajectories_are_no_surfaces(cloud, n_inputs):
    for seed in range(4):
        points = cloud(np.random.default_rng(seed), 1000, n_inputs)
        assert curved_rank(points / robust_spread(points)) is None


@pytest.mark.parametrize("seed", range(8))
def test_flat_pieces_are_not_a_curved_surface(seed):
    """One-hot columns put the data on parallel planes. What rounding leaves across them told, with
    one version of NumPy and not with another, that they are curved.
    """
    rng = np.random.default_rng(seed)
    points = np.column_stack([rng.uniform(1, 2, (300, 2)), np.eye(3)[rng.integers(0, 3, 300)]])
    turned = points @ np.linalg.qr(rng.normal(size=(5, 5)))[0]
    assert curved_rank(turned / robust_spread(turned)) is None
