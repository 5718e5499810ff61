"""Three networks together against single ones: how near to the truth are the constants of
experiments 2, 8 and 9?

``python bench/scripts/several_networks.py DIR DIR DIR ... [--draws 5]``, directories of
``python -m closedform_bench.paper.train --profile quick --seed N --out DIR 2 8 9``.

The error of a set of constants is the root mean square of their relative errors. Each draw takes
three of the networks.
"""

import argparse
from itertools import combinations
from pathlib import Path

import numpy as np
import torch

import closedform as cf
from closedform.canonical.constants import free_constants
from closedform.expressions.complexity import constant_values
from closedform.field.alignment.refit import refit
from closedform.field.gradient_field import GradientField
from closedform.networks.siamese import load_siamese
from closedform.reading.several_networks import common_field
from closedform_bench.paper.extraction import extract_experiment
from closedform_bench.paper.train import network_file

FORMS = {
    2: ("A11*A22 - 1.01*A12*A21", (1.0,)),
    8: ("v**2 + 1.01*x**2 + 0.51*x**4", (1.0, 0.5)),
    9: ("v**2 + 2.01*sin(x)", (2.0,)),
}
"""The answers with every constant free, and their true values."""


def error(number: int, field: GradientField) -> float:
    """Root mean square relative error of the constants that fit a field best."""
    text, truth = FORMS[number]
    form = cf.parse(text, names=list(field.names))
    positions = [free.position for free in free_constants(form)]
    (fitted,), _ = refit([form], field, positions=[positions], iterations=60)
    values = np.array(constant_values(fitted.tree, positions))
    return float(np.sqrt(np.mean((values / np.array(truth) - 1) ** 2)))


def main() -> None:
    """Compare, experiment by experiment."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directories", nargs="+", type=Path)
    parser.add_argument("--draws", type=int, default=5)
    words = parser.parse_args()
    torch.set_num_threads(1)
    for number in FORMS:
        fields = [
            extract_experiment(number, load_siamese(network_file(path, number)))
            for path in words.directories
        ]
        single = np.array([error(number, field) for field in fields])
        triples = list(combinations(range(len(fields)), 3))
        chosen = np.random.default_rng(0).permutation(len(triples))[: words.draws]
        gains = []
        for place in chosen:
            some = list(triples[place])
            together = error(number, common_field([fields[one] for one in some]))
            gains.append(float(np.median(single[some]) / together))
            print(
                f"experiment {number}, networks {some}: median single "
                f"{np.median(single[some]):.2e}, together {together:.2e}"
            )
        count = sum(gain >= 1.5 for gain in gains)
        print(
            f"experiment {number}: {count} of {len(gains)} draws at least 1.5 times closer; "
            f"gains {np.round(gains, 2)}",
            flush=True,
        )


if __name__ == "__main__":
    main()
