"""Forty made contests: 30 in which a network follows one of the theories, 10 in which it follows
none of them; in half of both the nearest wrong theory is within twice the network's error.

``python bench/scripts/contests.py --seed 12345 --out contests.jsonl``

A line for each contest as it ends, and the totals; a file that exists is continued.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import closedform as cf
from closedform_bench.theories.made_contests import made_contest

N_TRUE, N_NONE = 30, 10


def main() -> None:
    """Draw, hold and score them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    rows = [json.loads(line) for line in arguments.out.open()] if arguments.out.exists() else []
    # Interleaved, so that a part of the run is like the whole.
    order = sorted(range(N_TRUE + N_NONE), key=lambda n: (n % 10, n))
    done = {row["number"] for row in rows}
    for number in order:
        if number not in done:
            rows.append(row := held(arguments.seed, number))
            with arguments.out.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(json.dumps(row), flush=True)
    print(json.dumps(totals(rows)))


def held(seed: int, number: int) -> dict[str, Any]:
    """One contest."""
    started = time.process_time()
    made = made_contest(seed, number, has_truth=number < N_TRUE, is_near=number % 2 == 0)
    trained = time.process_time()
    found = cf.contest_field(made.field, made.theories, free=made.free, rng=number, progress=False)
    constants = found.constants.get(made.true_name or "", {})
    return {
        "number": number,
        "truth": made.truth,
        "theories": made.theories,
        "true": made.true_name,
        "winner": found.winner,
        "first": found.theories[0].name,
        "right": found.winner == made.true_name,
        "none_of_them": round(found.none_of_them, 4),
        "error": round(made.error, 3),
        "nearest": round(made.nearest, 3),
        "training": made.training,
        "constants": {
            name: [made.constants[name], one.value, one.error, one.low, one.high]
            for name, one in constants.items()
        },
        "made_seconds": round(trained - started, 1),
        "seconds": round(time.process_time() - trained, 1),
    }


def totals(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """What the issue asks for."""
    true = [row for row in rows if row["true"]]
    none = [row for row in rows if not row["true"]]
    constants = [numbers for row in true for numbers in row["constants"].values()]
    return {
        "with a true theory": len(true),
        "of these right": sum(row["right"] for row in true),
        "the true theory first": sum(row["first"] == row["true"] for row in true),
        "without": len(none),
        "of these none of them": sum(row["right"] for row in none),
        "constants": len(constants),
        "covered": sum(low <= truth <= high for truth, _, _, low, high in constants),
        "near": sum(row["nearest"] <= 2 * row["error"] for row in rows),
    }


if __name__ == "__main__":
    main()
