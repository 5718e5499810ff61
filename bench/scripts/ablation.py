"""What each part of the method is worth, on the paper's twelve experiments with quick networks of
one seed.

    python bench/scripts/ablation.py --networks DIR --out ablation.jsonl

Networks that are missing are trained into DIR/elu and DIR/relu, and finished cases are kept in
--out, so that an interrupted run goes on where it was.
"""

import argparse
import json
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import closedform as cf
from closedform.field.alignment.comparison import field_misalignment
from closedform.networks.siamese import load_siamese
from closedform_bench.paper.answer_scoring import score
from closedform_bench.paper.answers import ANSWERS
from closedform_bench.paper.experiment_catalogue import EXPERIMENTS
from closedform_bench.paper.extraction import extract_experiment
from closedform_bench.paper.profiles import get_profile
from closedform_bench.paper.train import train_experiment


@dataclass(frozen=True)
class Variant:
    """One way to read a network."""

    activation: str = "elu"
    tangent: str = "auto"
    smoothing: float = 0.0
    engine: str = "auto"


VARIANTS = {
    "as it is": Variant(),
    "no tangent space": Variant(tangent="none"),
    "terms alone": Variant(engine="terms"),
    "evolution alone": Variant(engine="evolution"),
    "ReLU, smoothed": Variant(activation="relu", smoothing=0.05),
    "ReLU, not smoothed": Variant(activation="relu"),
}


def network(folder: Path, number: int, activation: str) -> Any:
    """The quick network of an experiment, trained if it is not there."""
    file = folder / activation / f"experiment_{number:02d}.safetensors"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        profile = get_profile("quick", number)
        profile = replace(profile, options=replace(profile.options, activation=activation))
        trained = train_experiment(number, profile, checkpoint=file.with_suffix(".checkpoint"))
        if trained.status == "interrupted":
            raise KeyboardInterrupt
        trained.save(file)
        file.with_suffix(".checkpoint").unlink(missing_ok=True)
    return load_siamese(file)


def run(number: int, name: str, folder: Path, budget: float) -> dict[str, Any]:
    """Read one network in one way."""
    variant = VARIANTS[name]
    module = network(folder, number, variant.activation)
    field = extract_experiment(number, module, tangent=variant.tangent, smoothing=variant.smoothing)
    began = time.perf_counter()
    found = cf.interpret_field(field, engine=variant.engine, budget=budget, rng=0)
    truth = cf.parse(ANSWERS[number].expression, names=list(field.names))
    return {
        "number": number,
        "variant": name,
        "found": str(found.concept),
        "equivalence": score(number, found.concept, field.points).status,
        "verdict": found.verdict.status,
        "misalignment_of_truth": float(field_misalignment(truth, field)[field.weights > 0].mean()),
        "seconds": time.perf_counter() - began,
    }


def table(rows: list[dict[str, Any]]) -> None:
    """Print one line for each experiment: equivalence, verdict's first letter, misalignment of the
    truth.
    """
    print("| | " + " | ".join(VARIANTS) + " |")
    print("|---" * (len(VARIANTS) + 1) + "|")
    cells = {(row["number"], row["variant"]): row for row in rows}
    for number in EXPERIMENTS:
        line = [cells.get((number, name)) for name in VARIANTS]
        texts = [
            "-"
            if r is None
            else f"{r['equivalence']}, {r['verdict']}, {r['misalignment_of_truth']:.1e}"
            for r in line
        ]
        print(f"| {number} | " + " | ".join(texts) + " |")
    counts = []
    for name in VARIANTS:
        own = [row for row in rows if row["variant"] == name]
        recovered, verified = (
            sum(r["equivalence"] != "different" for r in own),
            sum(r["verdict"] == "verified" for r in own),
        )
        counts.append(f"{recovered} of {len(own)}, {verified} verified")
    print("| recovered | " + " | ".join(counts) + " |")


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("numbers", nargs="*", type=int, default=list(EXPERIMENTS))
    parser.add_argument("--networks", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("ablation.jsonl"))
    parser.add_argument("--budget", type=float, default=4.5)
    parser.add_argument(
        "--processor", action="store_true", help="count processor seconds, for a busy machine"
    )
    words = parser.parse_args()
    if words.processor:
        time.perf_counter = time.process_time
    rows = (
        [json.loads(line) for line in words.out.read_text().splitlines()]
        if words.out.exists()
        else []
    )
    done = {(row["number"], row["variant"]) for row in rows}
    for number in words.numbers:
        for name in VARIANTS:
            if (number, name) in done:
                continue
            rows.append(run(number, name, words.networks, words.budget))
            with words.out.open("a") as file:
                file.write(json.dumps(rows[-1]) + "\n")
            print(json.dumps(rows[-1]), flush=True)
    table(rows)


if __name__ == "__main__":
    main()
