"""Could a search in the invariants of a symmetry read more? Formulas of the suite `forms` with a
symmetry by which the search has not reduced its inputs already.

    python bench/scripts/unused_symmetries.py --seed 28193 --count 24
"""

import argparse

import numpy as np

import closedform as cf
from closedform.reading.one_field import compile_all
from closedform.searching.budget import processor_seconds
from closedform_bench.formulas.drawn_forms import draw_forms
from closedform_bench.formulas.problem import exact_field

SECONDS = 5.0


def main() -> None:
    """Print a line for each formula, and the count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=24)
    given = parser.parse_args()
    compile_all()
    n_symmetric = n_unused = 0
    for problem in draw_forms(given.count, given.seed):
        field = exact_field(problem, np.random.default_rng(0))
        dimension = cf.symmetries(field, rng=0).dimension
        if not dimension:
            continue
        n_symmetric += 1
        with processor_seconds():
            found = cf.search(field, engine="structure", budget=SECONDS, rng=0, progress=False)
        left = len(field.names if found.structure is None else found.structure.combinations)
        is_unused = left > len(field.names) - dimension
        n_unused += is_unused
        print(
            f"{len(field.names)} inputs, {dimension} symmetries, {left} quantities left"
            f"{', unused' if is_unused else ''}: {problem.truth}",
            flush=True,
        )
    print(f"{given.count} formulas, {n_symmetric} with a symmetry, {n_unused} of these unused")


if __name__ == "__main__":
    main()
