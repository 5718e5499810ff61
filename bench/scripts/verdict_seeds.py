"""Whether a verdict depends on the seed: cases of the suite `verdict`, read with nine seeds each.

python bench/scripts/verdict_seeds.py networks --seed 1 --start 0 --count 10
"""

import argparse
from collections import Counter

import closedform as cf
from closedform.searching.budget import processor_seconds
from closedform_bench.verdicts.case import PARTS
from closedform_bench.verdicts.drawing import draw_case

N_SEEDS = 9


def main() -> None:
    """Read, and count the cases in which all seeds end with one status."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("part", choices=PARTS)
    arguments.add_argument("--seed", type=int, default=1, help="of the cases")
    arguments.add_argument("--start", type=int, default=0)
    arguments.add_argument("--count", type=int, default=10)
    arguments.add_argument("--budget", type=float, default=10.0, help="processor seconds each")
    given = arguments.parse_args()
    same = 0
    for number in range(given.start, given.start + given.count):
        case = draw_case(given.part, given.seed, number)
        with processor_seconds():
            answers = [
                cf.interpret_field(case.field, budget=given.budget, rng=seed, progress=False)
                for seed in range(N_SEEDS)
            ]
        statuses = Counter(answer.verdict.status for answer in answers)
        formulas = len({str(answer.concept) for answer in answers})
        same += len(statuses) == 1
        truth = "" if case.problem is None else case.problem.truth
        print(f"{case.name} {dict(statuses)} {formulas} formulas {truth}", flush=True)
    print(f"The same verdict over {N_SEEDS} seeds: {same} of {given.count}.")


if __name__ == "__main__":
    main()
