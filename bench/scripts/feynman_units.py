"""What units save on the Feynman equations: share found, processor seconds and wrong forms, with
and without them.

``python bench/scripts/feynman_units.py results.jsonl [--sample 25] [--budget 6] [--noise 1]``; what
is in the file already is not run again, and the table is of everything in it. ``--json`` prints all
rows as one JSON list, and progress to stderr.
"""

import argparse
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

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


def read(name: str, with_units: bool, words: argparse.Namespace) -> dict[str, Any]:
    """Read one equation."""
    problem = Problem(name, *EQUATIONS[name])
    rng = np.random.default_rng([words.seed, *name.encode()])
    field = exact_field(problem, rng, degrees=words.noise)
    units = units_of(name, problem.names) if with_units else None
    began = time.process_time()
    answer = cf.interpret_field(
        field, budget=words.budget, rng=words.seed, progress=False, units=units
    )
    return {
        "name": name,
        "units": with_units,
        "noise": words.noise,
        "budget": words.budget,
        "seed": words.seed,
        "found": None if answer.concept is None else str(answer.concept),
        "status": answer.verdict.status,
        "right": is_right(problem, answer.concept, approximately=words.noise > 0),
        "seconds": round(time.process_time() - began, 2),
    }


def table(rows: list[dict[str, Any]]) -> str:
    """Both ways beside each other, over the equations that were read in both."""
    both = {row["name"] for row in rows if row["units"]} & {
        row["name"] for row in rows if not row["units"]
    }
    lines = ["units  right  of  verified  verified wrong  median s  total s"]
    for with_units in (False, True):
        mine = [row for row in rows if row["units"] is with_units and row["name"] in both]
        verified = [row for row in mine if row["status"] == "verified"]
        seconds = [row["seconds"] for row in mine] or [0.0]
        lines.append(
            f"{'with' if with_units else 'none':5} {sum(row['right'] for row in mine):6} "
            f"{len(mine):3} {len(verified):9} {sum(not row['right'] for row in verified):15} "
            f"{statistics.median(seconds):9.2f} {sum(seconds):8.1f}"
        )
    return "\n".join(lines)


def main() -> None:
    """Read what is missing, and print the table."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("results", type=Path)
    words.add_argument("--sample", type=int, default=25)
    words.add_argument("--budget", type=float, default=6.0, help="processor seconds of a reading")
    words.add_argument("--noise", type=float, default=0.0, help="degrees")
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--json", action="store_true")
    asked = words.parse_args()
    text = asked.results.read_text() if asked.results.exists() else ""
    rows = [json.loads(line) for line in text.splitlines()]
    done = {(row["name"], row["units"], row["noise"], row["budget"], row["seed"]) for row in rows}
    with processor_seconds(), asked.results.open("a") as file:
        for name in sample(asked.sample):
            for with_units in (False, True):
                if (name, with_units, asked.noise, asked.budget, asked.seed) in done:
                    continue
                rows.append(read(name, with_units, asked))
                file.write(json.dumps(rows[-1]) + "\n")
                file.flush()
                print(rows[-1], flush=True, file=sys.stderr if asked.json else sys.stdout)
    chosen = [
        row
        for row in rows
        if (row["noise"], row["budget"], row["seed"]) == (asked.noise, asked.budget, asked.seed)
    ]
    print(json.dumps(chosen) if asked.json else table(chosen))


if __name__ == "__main__":
    main()
