"""Networks of kinds that no example has, trained on drawn formulas and read in one call.

``python bench/scripts/unfamiliar_networks.py rows.jsonl --seed SEED [--trainings 3]``:
36 networks of 14 kinds and 6 controls, all of the first training before the second. What is in the
file is not run again; each row has the formula, the verdict, and whether it is right. ``--exact``
trains nothing: it reads the exact directions of those formulas in the file that a network carries
and that were read wrongly.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from closedform_bench.unfamiliar.drawing import draw_networks
from closedform_bench.unfamiliar.reading import carried_and_wrong, read, read_exact, table

TOLD = ("name", "truth", "found", "status", "right", "carried", "train", "seconds")
"""What is printed of a row."""


def main() -> None:
    """Read what is missing, and print the table."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("rows", type=Path)
    words.add_argument("--seed", type=int, required=True)
    words.add_argument("--trainings", type=int, default=3)
    words.add_argument("--kinds", nargs="*", default=[], help="all by default")
    words.add_argument("--exact", action="store_true")
    asked = words.parse_args()
    text = asked.rows.read_text() if asked.rows.exists() else ""
    rows = [json.loads(line) for line in text.splitlines()]
    if asked.exact:
        _read_exactly(asked.seed, [row for row in rows if row["seed"] == asked.seed])
        return
    done = {(row["name"], row["seed"], row["training"]) for row in rows}
    networks = [
        one for one in draw_networks(asked.seed) if not asked.kinds or one.kind in asked.kinds
    ]
    with asked.rows.open("a") as file:
        for training in range(asked.trainings):
            for network in networks:
                if (network.name, asked.seed, training) not in done:
                    rows.append(read(network, training))
                    file.write(json.dumps(rows[-1]) + "\n")
                    file.flush()
                    print({key: rows[-1].get(key) for key in TOLD}, flush=True)
    print(table([row for row in rows if row["seed"] == asked.seed]))


def _read_exactly(seed: int, rows: list[dict[str, Any]]) -> None:
    """Tell how many of the formulas that were missed are missed without a network's errors too."""
    missed = carried_and_wrong(rows)
    problems = {one.problem.truth: one.problem for one in draw_networks(seed) if one.problem}
    found = []
    for truth in sorted(missed):
        found.append(read_exact(problems[truth]))
        print(found[-1], flush=True)
    print(f"right from exact directions: {sum(row['right'] for row in found)} of {len(found)}")


if __name__ == "__main__":
    main()
