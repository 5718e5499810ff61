"""How near local tangent planes come to the true ones: ``python bench/scripts/tangent_planes.py``.

Prints, for each surface, number of points and noise, the largest, the 99% and the mean angle in
degrees: the worst of three seeds.
"""

import numpy as np

from closedform.arrays import FloatArray
from closedform.field.tangent import local_tangent
from closedform.field.tangent_space import robust_spread

Surface = tuple[FloatArray, FloatArray]


def sphere(n_points: int, rng: np.random.Generator) -> Surface:
    """Points and normals of the unit sphere."""
    normals = rng.normal(size=(n_points, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return normals.copy(), normals


def torus(n_points: int, rng: np.random.Generator, radius: float, tube: float) -> Surface:
    """Points, uniform on the surface, and normals of a torus."""
    angles = rng.uniform(0, 2 * np.pi, 4 * n_points)
    kept = rng.uniform(0, radius + tube, 4 * n_points) < radius + tube * np.cos(angles)
    around, along = angles[kept][:n_points], rng.uniform(0, 2 * np.pi, n_points)
    outward = np.stack([np.cos(along), np.sin(along), np.zeros(n_points)], axis=1)
    normals = np.cos(around)[:, None] * outward + np.sin(around)[:, None] * np.array(
        [0.0, 0.0, 1.0]
    )
    return radius * outward + tube * normals, normals


def errors(surface: Surface, noise: float, rng: np.random.Generator) -> FloatArray:
    """Largest, 99% and mean angle between the planes found and the true ones, in scaled
    coordinates.
    """
    points = surface[0] + noise * rng.normal(size=surface[0].shape)
    scale = robust_spread(points)
    space = local_tangent(points, scale)
    assert space.basis is not None
    assert space.rank == 2
    normals = surface[1] * scale
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    sines = np.linalg.norm(np.einsum("ndr,nd->nr", space.basis, normals), axis=1)
    angles = np.degrees(np.arcsin(np.clip(sines, 0, 1)))
    return np.array([angles.max(), np.quantile(angles, 0.99), angles.mean()])


def main() -> None:
    """Print the table."""
    surfaces = {
        "sphere": sphere,
        "torus 2:1": lambda n_points, rng: torus(n_points, rng, 2.0, 1.0),
        "torus 5:2": lambda n_points, rng: torus(n_points, rng, 1.0, 0.4),
    }
    print("| surface | points | noise | largest | 99% | mean |\n|---|---|---|---|---|---|")
    for name, make in surfaces.items():
        for n_points in (1000, 2000, 5000, 10_000):
            for noise in (1e-3, 1e-2):
                generators = [np.random.default_rng(seed) for seed in range(3)]
                worst = np.max(
                    [errors(make(n_points, rng), noise, rng) for rng in generators], axis=0
                )
                print(
                    f"| {name} | {n_points} | {noise:g} | "
                    + " | ".join(f"{angle:.1f}" for angle in worst)
                    + " |"
                )


if __name__ == "__main__":
    main()
