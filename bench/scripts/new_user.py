"""Networks that no example has, trained anew and read as a new user would, three seeds each.

``python bench/scripts/new_user.py results.jsonl [--cases thin] [--seeds 3] [--budget 30]``; what is
in the file is not run again. Right means: the truth as the same concept or, its constants fitted
again, nearly so; for a network without a closed form, nothing verified. ``--json`` prints all rows
as one JSON list, and progress to stderr.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import closedform as cf
from closedform.errors import ExtractionError
from closedform.searching.budget import processor_seconds
from closedform_bench.formulas.problem import Problem
from closedform_bench.formulas.scoring import is_right
from closedform_bench.new_user.case import Case
from closedform_bench.new_user.laws import LAW_CASES
from closedform_bench.new_user.models import MODEL_CASES

CASES = LAW_CASES | MODEL_CASES


def judge(case: Case, answer: cf.Interpretation) -> bool:
    """Whether the answer is right."""
    if case.truth is None:
        return answer.verdict.status != "verified"
    points = np.asarray(case.points())
    names = [*answer.names]
    ranges = {
        name: (float(low), float(high))
        for name, low, high in zip(names, points.min(axis=0), points.max(axis=0), strict=True)
    }
    return is_right(Problem("", case.truth, ranges), answer.concept, approximately=True)


def read(name: str, seed: int, budget: float) -> dict[str, Any]:
    """Train, read and judge one network."""
    began = time.process_time()
    case = CASES[name](seed)
    trained = time.process_time()
    row: dict[str, Any] = {"name": name, "seed": seed, "budget": budget, "truth": case.truth}
    try:
        answer = case.read(budget, seed)
    except ExtractionError as error:
        told = {"status": "refused", "found": None, "right": case.truth is None}
        return row | told | {"said": str(error)[:120], "train": round(trained - began, 1)}
    return row | {
        "status": answer.verdict.status,
        "found": None if answer.concept is None else str(answer.concept),
        "right": judge(case, answer),
        "train": round(trained - began, 1),
        "seconds": round(time.process_time() - trained, 1),
    }


def table(rows: list[dict[str, Any]]) -> str:
    """A line for each network, and what counts below."""
    lines = [f"{'network':26} {'right':>5}  {'verdicts':34} {'train s':>8} {'read s':>7}"]
    for name in CASES:
        mine = [row for row in rows if row["name"] == name]
        if mine:
            right = f"{sum(row['right'] for row in mine)}/{len(mine)}"
            verdicts = ", ".join(row["status"] for row in mine)
            train = np.mean([row["train"] for row in mine])
            seconds = np.mean([row.get("seconds", 0.0) for row in mine])
            lines.append(f"{name:26} {right:>5}  {verdicts:34} {train:8.1f} {seconds:7.1f}")
    known = [row for row in rows if row["truth"] is not None]
    wrong = [row for row in rows if row["status"] == "verified" and not row["right"]]
    lines.append(f"with a closed form: {sum(row['right'] for row in known)} of {len(known)} right")
    lines.append(f"wrong and verified: {len(wrong)}")
    return "\n".join(lines)


def main() -> None:
    """Read what is missing, and print the table."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("results", type=Path)
    words.add_argument("--cases", nargs="*", default=[], help="beginnings of names; all by default")
    words.add_argument("--seeds", type=int, default=3)
    words.add_argument("--first-seed", type=int, default=0)
    words.add_argument("--budget", type=float, default=30.0, help="processor seconds of a reading")
    words.add_argument("--json", action="store_true")
    asked = words.parse_args()
    text = asked.results.read_text() if asked.results.exists() else ""
    rows = [json.loads(line) for line in text.splitlines()]
    done = {(row["name"], row["seed"], row["budget"]) for row in rows}
    chosen = [name for name in CASES if not asked.cases or name.startswith(tuple(asked.cases))]
    seeds = range(asked.first_seed, asked.first_seed + asked.seeds)
    with processor_seconds(), asked.results.open("a") as file:
        for name in chosen:
            for seed in seeds:
                if (name, seed, asked.budget) not in done:
                    rows.append(read(name, seed, asked.budget))
                    file.write(json.dumps(rows[-1]) + "\n")
                    file.flush()
                    print(rows[-1], flush=True, file=sys.stderr if asked.json else sys.stdout)
    told = [row for row in rows if row["budget"] == asked.budget]
    print(json.dumps(told) if asked.json else table(told))


if __name__ == "__main__":
    main()
