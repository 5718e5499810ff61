"""An engineer's power law: ten inputs in SI units from 1e-11 to 1e8, of which four matter, and 3%
noise in the targets of the network; the inputs as they are, and as logarithms.

``python bench/scripts/power_law.py --seeds 0 1 2``
"""

import argparse
import time

import numpy as np

import closedform as cf
from closedform.field.alignment.comparison import field_misalignment
from closedform.searching.budget import processor_seconds
from closedform_bench.formulas.problem import Problem
from closedform_bench.formulas.scoring import is_right
from closedform_bench.formulas.trained import N_READ, N_TRAINING, trained_field

NAMES = [f"q{place}" for place in range(10)]
UNITS = 10.0 ** np.array([-11, 8, -3, 5, 0, -6, 2, 7, -9, 3])
PLAIN = "q0*q1**0.8*q3**0.4/q2**2"
LOGARITHMIC = "q0 + 0.8*q1 - 2*q2 + 0.4*q3"
NOISE = 0.03


def problem_and_field(seed: int, *, logarithms: bool) -> tuple[Problem, cf.GradientField]:
    """The law over these inputs, and a network's field."""
    rng = np.random.default_rng([seed, int(logarithms)])
    law = cf.parse(PLAIN, names=NAMES)
    points, held = (
        np.exp(rng.uniform(0, np.log(4), (count, len(NAMES)))) * UNITS
        for count in (N_TRAINING, N_READ)
    )
    values = law(points) * (1 + NOISE * rng.normal(size=len(points)))
    ranges = {name: (unit, 4 * unit) for name, unit in zip(NAMES, UNITS, strict=True)}
    if logarithms:
        points, held, values = np.log(points), np.log(held), np.log(values)
        ranges = {name: (np.log(low), np.log(high)) for name, (low, high) in ranges.items()}
    truth = LOGARITHMIC if logarithms else PLAIN
    return Problem("power law", truth, ranges), trained_field(points, values, held, NAMES, rng)


def main() -> None:
    """Read both for each seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--budget", type=float, default=12.0)
    arguments = parser.parse_args()
    for seed in arguments.seeds:
        for logarithms in (False, True):
            problem, field = problem_and_field(seed, logarithms=logarithms)
            carried = float(field_misalignment(problem.formula(), field).mean())
            with processor_seconds():
                start = time.process_time()
                answer = cf.interpret_field(
                    field, budget=arguments.budget, rng=seed, progress=False
                )
                seconds = time.process_time() - start
            right = is_right(problem, answer.concept, approximately=True)
            print(
                f"seed {seed}, {'logarithms' if logarithms else 'SI units'}: "
                f"{'right' if right else 'wrong'}, {answer.verdict.status}, {seconds:.1f} s, "
                f"network misaligned by {carried:.1e}: {answer.concept}"
            )


if __name__ == "__main__":
    main()
