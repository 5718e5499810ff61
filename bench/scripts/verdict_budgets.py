"""Whether more time makes answers worse: cases of the suite `verdict`, read with three budgets.

python bench/scripts/verdict_budgets.py networks --seed 1 --start 0 --count 10
"""

import argparse
from collections import Counter

import closedform as cf
from closedform.searching.budget import processor_seconds
from closedform_bench.verdicts.drawing import draw_case
from closedform_bench.verdicts.suite import answers_case

BUDGETS = (8.0, 20.0, 60.0)
"""Processor seconds."""


def main() -> None:
    """Read, and count right answers and what each step gained and lost."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("part", choices=("fields", "networks"))
    arguments.add_argument("--seed", type=int, default=1, help="of the cases")
    arguments.add_argument("--start", type=int, default=0)
    arguments.add_argument("--count", type=int, default=10)
    given = arguments.parse_args()
    right: Counter[float] = Counter()
    lost: Counter[float] = Counter()
    for number in range(given.start, given.start + given.count):
        case = draw_case(given.part, given.seed, number)
        before = False
        for budget in BUDGETS:
            with processor_seconds():
                answer = cf.interpret_field(case.field, budget=budget, rng=0, progress=False)
            now = answers_case(case, answer.concept)
            right[budget] += now
            lost[budget] += before and not now
            before = now
            print(f"{case.name} {budget:g} s: {answer.verdict.status}, {now}", flush=True)
    for budget in BUDGETS:
        print(f"{budget:g} s: {right[budget]} right of {given.count}, {lost[budget]} lost.")


if __name__ == "__main__":
    main()
