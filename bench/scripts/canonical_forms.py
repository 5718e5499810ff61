"""How long canonical forms take, and how often they are plainer: random formulas of up to 25 nodes
on 2,000 points.
"""

import argparse
import time

import numpy as np

from closedform import Expression
from closedform.canonical.constants import free_constants
from closedform.canonical.form import canonical_form
from closedform.canonical.proposals import snapped_forms, without_small_terms
from closedform.testing import random_tree

NAMES = ("x", "y", "z")


def main() -> None:
    """Print the table of the documentation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--formulas", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    points = rng.uniform(0.1, 2, (2000, len(NAMES)))
    seconds: dict[str, list[float]] = {
        "canonical_form": [],
        "snapped_forms": [],
        "without_small_terms": [],
    }
    plainer = stable = 0
    for _ in range(options.formulas):
        expression = Expression(random_tree(rng, int(rng.integers(5, 26)), len(NAMES)), NAMES)
        start = time.process_time()
        form = canonical_form(expression, points)
        seconds["canonical_form"].append(time.process_time() - start)
        start = time.process_time()
        snapped_forms(form, errors=[0.01] * len(free_constants(form)))
        seconds["snapped_forms"].append(time.process_time() - start)
        start = time.process_time()
        without_small_terms(form, points)
        seconds["without_small_terms"].append(time.process_time() - start)
        plainer += form.complexity() < expression.complexity()
        stable += canonical_form(form, points) == form
    print("| function | median | 95% | largest |\n|---|---|---|---|")
    for name, taken in seconds.items():
        middle, high, largest = (
            1e3 * float(value) for value in (np.median(taken), np.percentile(taken, 95), max(taken))
        )
        print(f"| `{name}` | {middle:.0f} ms | {high:.0f} ms | {largest:.0f} ms |")
    print(
        f"\nOf {options.formulas} formulas {plainer} became plainer; {stable} forms are "
        f"their own canonical form."
    )


if __name__ == "__main__":
    main()
