"""Calibrate the verdict: how often is it right, and is anything verified where there is nothing?

    python bench/scripts/calibration.py --set report --out calibration.jsonl

Fields of trained networks are kept in --folder, and finished cases in --out, so that an interrupted
run goes on where it was.
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from calibration_fields import Case, analytic, controls, trained

import closedform as cf
from closedform.alignment.refit import refit
from closedform.neighbours.same_form import mutual_misalignment

WELL_TRAINED = 0.999


def is_right(concept: cf.Expression, case: Case) -> bool:
    """The same concept, or the same form with constants that are off by little.

    The form is right if its constants, fitted to exact gradients of the truth, make it exact; they
    are near if the misalignment to the truth is below 1e-3. The allowance is that of `approximate`
    in the paper's experiments.
    """
    assert case.truth is not None
    truth = cf.parse(case.truth, names=list(case.field.names))
    distance = mutual_misalignment(truth, concept, case.field)
    if distance < 1e-9:
        return True
    exact = cf.GradientField.from_arrays(
        case.field.points, truth.gradient(case.field.points), names=case.field.names, tangent="none"
    )
    _, left = refit([concept], exact, iterations=50)
    return bool(distance < 1e-3 and left[0] < 1e-7)


def cases(which: str, folder: Path, networks: int, n_controls: int) -> Iterator[Case]:
    """All cases of a set."""
    yield from analytic(which)
    yield from trained(which, folder, networks)
    yield from controls(which, folder, n_controls)


def run(case: Case, budget: float) -> dict[str, object]:
    """Interpret one field."""
    began = time.perf_counter()
    found = cf.interpret_field(case.field, budget=budget, rng=0)
    alignment = found.alignment
    return {
        "name": case.name,
        "kind": case.kind,
        "noise": case.noise,
        "fit": case.fit,
        "size": case.field.n_points,
        "verdict": found.verdict.status,
        "right": None
        if case.truth is None or found.concept is None
        else is_right(found.concept, case),
        "concept": str(found.concept),
        "misalignment": None if alignment is None else alignment.misalignment,
        "bound": None if alignment is None else alignment.bound,
        "failed": [check.name for check in found.verdict.checks if check.passed is False],
        "alternatives": [str(formula) for formula in found.alternatives],
        "seconds": time.perf_counter() - began,
    }


def report(rows: list[dict[str, object]]) -> None:
    """Print the table."""
    known = [row for row in rows if row["kind"] in ("analytic", "network")]
    verified = [row for row in known if row["verdict"] == "verified"]
    one_degree = [row for row in rows if row["kind"] == "analytic" and row["noise"] == 1.0]
    nets = [
        row for row in rows if row["kind"] == "network" and float(str(row["fit"])) >= WELL_TRAINED
    ]
    print("| fields | number | verified | of these right | approximate | none |")
    print("|---|---|---|---|---|---|")
    groups = [
        (
            f"noise {noise:g} degrees",
            [r for r in rows if r["kind"] == "analytic" and r["noise"] == noise],
        )
        for noise in sorted({float(str(r["noise"])) for r in rows if r["kind"] == "analytic"})
    ]
    groups += [
        (kind, [r for r in rows if r["kind"] == kind])
        for kind in ("network", "untrained", "shuffled", "smooth", "noise")
    ]
    for name, group in groups:
        counts = [
            sum(r["verdict"] == s for r in group) for s in ("verified", "approximate", "none")
        ]
        right = sum(r["verdict"] == "verified" and bool(r["right"]) for r in group)
        print(f"| {name} | {len(group)} | {counts[0]} | {right} | {counts[1]} | {counts[2]} |")
    right = sum(bool(row["right"]) for row in verified)
    print(f"right among verified: {right} of {len(verified)} = {right / max(len(verified), 1):.1%}")
    print(f"verified at 1 degree and 2,000 points: {_share(one_degree)}")
    print(f"verified of networks with R^2 >= {WELL_TRAINED}: {_share(nets)}")
    print(f"controls verified: "
        f"{sum(r['verdict'] == 'verified' for r in rows if r['right'] is None and r not in known)}"
          f" of {sum(r not in known for r in rows)}")  # fmt: skip
    print(f"median seconds {np.median([float(str(r['seconds'])) for r in rows]):.1f}")


def _share(rows: list[dict[str, object]]) -> str:
    count = sum(row["verdict"] == "verified" for row in rows)
    return f"{count} of {len(rows)} = {count / max(len(rows), 1):.0%}"


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--set", choices=["tune", "report"], default="report")
    parser.add_argument("--budget", type=float, default=8.0)
    parser.add_argument("--networks", type=int, default=4, help="networks for each formula")
    parser.add_argument("--controls", type=int, default=18, help="of each kind")
    parser.add_argument("--folder", type=Path, default=Path("calibration_fields"))
    parser.add_argument("--out", type=Path, default=Path("calibration.jsonl"))
    parser.add_argument(
        "--processor", action="store_true", help="count processor seconds, for a busy machine"
    )
    parser.add_argument("--only", help="a kind, to run a part")
    options = parser.parse_args()
    if options.processor:
        time.perf_counter = time.process_time
    rows = (
        [json.loads(line) for line in options.out.read_text().splitlines()]
        if options.out.exists()
        else []
    )
    done = {row["name"] for row in rows}
    for case in cases(options.set, options.folder, options.networks, options.controls):
        if case.name in done or (options.only and case.kind != options.only):
            continue
        rows.append(run(case, options.budget))
        with options.out.open("a") as file:
            file.write(json.dumps(rows[-1]) + "\n")
        print(json.dumps(rows[-1]), flush=True)
    report(rows)


if __name__ == "__main__":
    main()
