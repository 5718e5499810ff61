"""The paper's oscillator from directions with 0.02 rad of noise and exact values of a saturating
latent: only the values tell its energy from what fits the noise as well.

    python bench/scripts/noisy_oscillator.py

Three seeds of the noise, budgets of 4, 10 and 20 processor seconds.
"""

import numpy as np

import closedform as cf
from closedform.searching.budget import processor_seconds

TRUTH, NAMES = "x**2/2 + x**4/4 + v**2/2", ["x", "v"]
BUDGETS, NOISE, SATURATION = (4.0, 10.0, 20.0), 0.02, 0.3


def noisy_field(seed: int) -> cf.GradientField:
    """Directions turned by random angles, and values of tanh(0.3 g)."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1.5, 1.5, (1000, 2))
    energy = cf.parse(TRUTH, NAMES)
    gradients = energy.gradient(points)
    turn = rng.normal(0, NOISE, len(points))
    cosine, sine = np.cos(turn), np.sin(turn)
    x, v = gradients.T
    turned = np.column_stack([cosine * x - sine * v, sine * x + cosine * v])
    values = np.tanh(SATURATION * energy(points))
    return cf.GradientField.from_arrays(points, turned, latents=values, names=NAMES)


def main() -> None:
    """Read nine times."""
    fine = 0
    for seed in range(1, 4):
        field = noisy_field(seed)
        for budget in BUDGETS:
            with processor_seconds():
                found = cf.interpret_field(field, budget=budget, rng=seed, progress=False)
            is_right = found.concept is not None and bool(
                cf.same_concept(found.concept, TRUTH, NAMES)
            )
            fine += is_right and found.verdict.status == "verified"
            print(seed, budget, found.concept, found.verdict.status, f"{found.confidence:.3f}")
    print(f"{fine} of {3 * len(BUDGETS)} verified and right")


if __name__ == "__main__":
    main()
