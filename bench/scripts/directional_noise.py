"""How well the noise of directions is read off a field: ``python
bench/scripts/directional_noise.py``.

Prints the estimate for known noise (in degrees, root mean square) on fields with known gradients,
and the resolution that the estimate states for itself.
"""

from collections.abc import Callable

import numpy as np

from closedform.arrays import FloatArray
from closedform.field.neighborhoods import directional_noise
from closedform.field.tangent import TangentSpace
from closedform.field.tangent_space import robust_spread

NOISE = (0.0, 0.3, 1.0, 3.0, 10.0, 30.0)

Gradient = Callable[[FloatArray], FloatArray]

FIELDS: dict[str, tuple[int, tuple[float, float], Gradient]] = {
    "x^2 + v^2": (2, (-1, 1), lambda x: 2 * x),
    "x^2 + x^4/2 + v^2": (
        2,
        (-1, 1),
        lambda x: np.stack([2 * x[:, 0] + 2 * x[:, 0] ** 3, 2 * x[:, 1]], axis=1),
    ),
    "sin x + v^2/2": (2, (-3, 3), lambda x: np.stack([np.cos(x[:, 0]), x[:, 1]], axis=1)),
    "x^2 + v^2 + exp(x + 1)": (
        2,
        (-1, 1),
        lambda x: np.stack([2 * x[:, 0] + np.exp(x[:, 0] + 1), 2 * x[:, 1]], axis=1),
    ),
    "trace 2x2": (4, (0, 1), lambda x: np.tile([1.0, 0.0, 0.0, 1.0], (len(x), 1))),
    "det 2x2": (4, (-4, 4), lambda x: x[:, ::-1] * [1, -1, -1, 1]),
    "t^2 - x^2 - y^2 - z^2": (4, (0, 1), lambda x: x * [2.0, -2.0, -2.0, -2.0]),
    "E.B": (6, (0, 1), lambda x: np.roll(x, 3, axis=1)),
    "sum of x_i x_i+1, 9 inputs": (
        9,
        (-1, 1),
        lambda x: np.roll(x, 1, axis=1) + np.roll(x, -1, axis=1),
    ),
    "sum of x_i x_i+1, 16 inputs": (
        16,
        (-1, 1),
        lambda x: np.roll(x, 1, axis=1) + np.roll(x, -1, axis=1),
    ),
}


def perturbed(directions: FloatArray, degrees: float, rng: np.random.Generator) -> FloatArray:
    """Unit vectors turned by a random angle whose root mean square is the given one."""
    errors = rng.normal(size=directions.shape)
    errors -= directions * (errors * directions).sum(axis=1, keepdims=True)
    turned = directions + errors * np.tan(np.radians(degrees)) / np.sqrt(directions.shape[1] - 1)
    return turned / np.linalg.norm(turned, axis=1, keepdims=True)


def main() -> None:
    """Print the table."""
    print(
        "| concept | points | "
        + " | ".join(f"{degrees:g}" for degrees in NOISE)
        + " | resolution |"
    )
    print("|---" * (3 + len(NOISE)) + "|")
    for name, (n_inputs, (low, high), gradient) in FIELDS.items():
        for n_points in (500, 2000, 5000):
            rng = np.random.default_rng(1)
            points = rng.uniform(low, high, (n_points, n_inputs))
            scale = robust_spread(points)
            clean = gradient(points) * scale
            clean /= np.linalg.norm(clean, axis=1, keepdims=True)
            cells, resolution = [], 0.0
            for degrees in NOISE:
                noisy = perturbed(clean, degrees, rng)[:, :, None]
                estimate = directional_noise(points / scale, noisy, TangentSpace("none", n_inputs))
                assert estimate is not None
                resolution = estimate.resolution_degrees
                cells.append(f"{estimate.degrees:.2f}")
            print(f"| {name} | {n_points} | " + " | ".join(cells) + f" | {resolution:.2f} |")


if __name__ == "__main__":
    main()
