"""What units save inside one engine: Feynman equations whose truth is on the front, seconds and
evaluations, with and without units.

``python bench/scripts/units_in_engines.py terms [--sample 12] [--budget 3] [--noise 1]``.
"""

import argparse
import time

import numpy as np

import closedform as cf
from closedform.searching.budget import processor_seconds
from closedform_bench.formulas.feynman import EQUATIONS
from closedform_bench.formulas.feynman_units import units_of
from closedform_bench.formulas.problem import Problem, exact_field
from closedform_bench.formulas.scoring import is_right


def sample(count: int) -> list[str]:
    """Every so many of the equations of two inputs or more, the same for the same count."""
    names = [name for name, (_, ranges) in EQUATIONS.items() if len(ranges) > 1]
    places = np.unique(np.linspace(0, len(names) - 1, min(count, len(names))).astype(int))
    return [names[place] for place in places]


def look(name: str, with_units: bool, words: argparse.Namespace) -> tuple[bool, float, int]:
    """Search one equation: whether the truth is on the front, seconds, evaluations."""
    problem = Problem(name, *EQUATIONS[name])
    field = exact_field(problem, np.random.default_rng([0, *name.encode()]), degrees=words.noise)
    if with_units:
        field = field.with_units(cf.Units(units_of(name, problem.names), pure_numbers=True))
    began = time.process_time()
    result = cf.search(field, engine=words.engine, budget=words.budget, rng=0, progress=False)
    seconds = time.process_time() - began
    found = any(
        is_right(problem, one.expression, approximately=words.noise > 0) for one in result.front
    )
    return found, seconds, result.evaluations


def main() -> None:
    """Print both ways beside each other."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("engine")
    words.add_argument("--sample", type=int, default=12)
    words.add_argument("--budget", type=float, default=3.0, help="processor seconds of a search")
    words.add_argument("--noise", type=float, default=1.0, help="degrees")
    asked = words.parse_args()
    names = sample(asked.sample)
    with processor_seconds():
        look(names[0], True, asked)  # compiles
        print("units  found  of  seconds  evaluations")
        for with_units in (False, True):
            rows = [look(name, with_units, asked) for name in names]
            found, seconds, evaluations = (sum(column) for column in zip(*rows, strict=True))
            word = "with" if with_units else "none"
            print(f"{word:5} {found:6} {len(rows):3} {seconds:8.1f} {evaluations:12}", flush=True)


if __name__ == "__main__":
    main()
