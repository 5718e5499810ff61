"""The choice on the front of the paper's experiment 8: the rule of factors, and the steepest drop
beside it.

    python bench/scripts/choice_quartic.py --folder networks

Trains the quick network of the experiment into the folder if it is not there (about 20 s), and
reads it.
"""

import argparse
from pathlib import Path

import closedform as cf
from closedform.networks.siamese import load_siamese
from closedform_bench.paper.extraction import extract_experiment
from closedform_bench.paper.train import network_file, train_into

EXPERIMENT = 8


def main() -> None:
    """Train, read, and print the front."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=Path("networks"))
    parser.add_argument("--budget", type=float, default=20.0)
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    train_into(options.folder, EXPERIMENT, "quick")
    field = extract_experiment(EXPERIMENT, load_siamese(network_file(options.folder, EXPERIMENT)))
    found = cf.interpret_field(field, budget=options.budget, rng=0)
    print("| complexity | misalignment | formula | |\n|---|---|---|---|")
    for place, entry in enumerate(found.front):
        marks = [
            word
            for word, index in (("chosen", found.chosen), ("steepest drop", found.steepest_drop))
            if index == place
        ]
        print(
            f"| {entry.complexity} | {entry.misalignment:.2e} | {entry.expression} | "
            f"{', '.join(marks)} |"
        )
    print(found.choice_reason)
    print(found.verdict)


if __name__ == "__main__":
    main()
