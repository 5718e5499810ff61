"""How often an engine finds known concepts: the ten targets of the prototypes, and twelve that
nobody had tried.

    python bench/scripts/search_targets.py --engine auto --set ten --seeds 5 --seconds 12
    python bench/scripts/search_targets.py --set new
    python bench/scripts/search_targets.py --noise 0.02
    python bench/scripts/search_targets.py --targets pend expo --rescale 1000

A target counts as found when the candidate of lowest training misalignment has max(1 - cos^2) <
1e-6 at fresh points. With noise it is the simplest candidate within 10% of the lowest training
misalignment, for the lowest itself fits the noise, and its mean misalignment to the clean truth
must be below 1e-4. `answer` is the time until the step that found it was done. With ``--processor``
seconds are those of the processor, also those of the budget, so that what else runs on the machine
does not decide. ``--json`` prints a JSON list, and the table to stderr. The truth is used for
making the field and for judging, never by the search.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Callable
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass

import numpy as np

from closedform.basics.progress import Silent
from closedform.expressions.parse import parse
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Budget, processor_seconds
from closedform.searching.engine import Engine, get_engine
from closedform.searching.front import Candidate, Front
from closedform.searching.space import SearchSpace

Sampler = Callable[[np.random.Generator, int, int], np.ndarray]


def normal(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Standard normal inputs."""
    return rng.normal(size=(n, d))


def uniform(low: float, high: float) -> Sampler:
    """Uniform inputs."""
    return lambda rng, n, d: rng.uniform(low, high, (n, d))


@dataclass(frozen=True)
class Target:
    """A concept with its inputs and their distribution."""

    truth: str
    names: tuple[str, ...]
    sampler: Sampler


NINE = tuple(f"a{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3))
SIXTEEN = tuple(f"f{i}" for i in range(16))
DET3 = "a11*(a22*a33 - a23*a32) - a12*(a21*a33 - a23*a31) + a13*(a21*a32 - a22*a31)"
SECOND = "a11*a22 + a11*a33 + a22*a33 - a12*a21 - a13*a31 - a23*a32"
EB = ("e1", "e2", "e3", "b1", "b2", "b3")

TEN = {
    "det2": Target("a*d - b*c", ("a", "b", "c", "d"), normal),
    "EB": Target("e1*b1 + e2*b2 + e3*b3", EB, normal),
    "mink": Target("t**2 - x**2 - y**2 - z**2", ("t", "x", "y", "z"), normal),
    "pend": Target("sin(x) + v**2/2", ("x", "v"), uniform(-3, 3)),
    "expo": Target("x**2/2 + exp(x + 1) + v**2/2", ("x", "v"), uniform(-2, 2)),
    "off3": Target("a12*a21 + a23*a32 + a13*a31", NINE, normal),
    "angmom": Target("x1*v2 - x2*v1", ("x1", "x2", "v1", "v2"), uniform(-3, 3)),
    "inv2": Target(SECOND, NINE, normal),
    "det3": Target(DET3, NINE, normal),
    "eb16": Target("f1*f11 + f2*f13 + f3*f6", SIXTEEN, normal),
}
PAPER_LIKE = ("det2", "EB", "mink", "pend", "expo", "off3", "angmom")
NEW = {
    "kepler": Target("v**2/2 - 1/sqrt(x**2 + y**2)", ("x", "y", "v"), uniform(0.3, 2)),
    "phase": Target("sin(2.3*x + 0.4) + y**2", ("x", "y"), uniform(-2, 2)),
    "ratio": Target("x/(1 + y**2)", ("x", "y"), uniform(-2, 2)),
    "logs": Target("log(x) + 3*log(y)", ("x", "y"), uniform(0.3, 3)),
    "gauss": Target("exp(-x**2/2)*y", ("x", "y"), uniform(-2, 2)),
    "volterra": Target("0.11*log(f) + 0.04*log(r) - 0.04*f - 0.01*r", ("r", "f"), uniform(1, 10)),
    "sir": Target("i + s - log(s)/2", ("s", "i"), uniform(0.05, 1)),
    "lens": Target("1/x + 1/y - 1/z", ("x", "y", "z"), uniform(0.5, 3)),
    "root": Target("sqrt(x**2 + 1) + y", ("x", "y"), uniform(-2, 2)),
    "morse": Target("v**2/2 + (1 - exp(-1.5*x))**2", ("x", "v"), uniform(-0.5, 2)),
    "beat": Target("x*sin(y) + z**2", ("x", "y", "z"), uniform(-2, 2)),
    "gas": Target("(p + 0.5/v**2)*(v - 0.3)/t", ("p", "v", "t"), uniform(0.8, 3)),
}


def make_field(target: Target, seed: int, noise: float, rescale: float) -> GradientField:
    """Training field: 1,000 points, directions turned by |N(0, 1)| * noise radians."""
    rng = np.random.default_rng([seed, 2026])
    points = target.sampler(rng, 1000, len(target.names))
    gradients = parse(target.truth, target.names).gradient(points)
    units = np.ones(points.shape[1])
    units[0] = rescale
    points, gradients = points * units, gradients / units
    if noise:
        scaled = gradients * units
        scaled /= np.linalg.norm(scaled, axis=1, keepdims=True)
        sideways = rng.normal(size=scaled.shape)
        sideways -= (sideways * scaled).sum(1, keepdims=True) * scaled
        sideways /= np.linalg.norm(sideways, axis=1, keepdims=True)
        angle = np.abs(rng.normal(size=(len(scaled), 1))) * noise
        gradients = (np.cos(angle) * scaled + np.sin(angle) * sideways) / units
    return GradientField.from_arrays(points, gradients, names=target.names, tangent="none")


def main() -> None:
    """Print a row for each target."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--set", default="ten", choices=["ten", "new", "all"])
    parser.add_argument("--targets", nargs="*")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=12.0)
    parser.add_argument("--noise", type=float, default=0.0)
    parser.add_argument("--rescale", type=float, default=1.0)
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with processor_seconds() if options.processor else nullcontext():
        search_all(options)


def search_all(options: argparse.Namespace) -> None:
    """Search every target with every seed, and print the table."""
    targets = {"ten": TEN, "new": NEW, "all": TEN | NEW}[options.set]
    targets = {
        name: target
        for name, target in targets.items()
        if not options.targets or name in options.targets
    }
    engine = get_engine(options.engine)
    warm = make_field(TEN["pend"], 0, 0.0, 1.0)
    engine.search(warm, SearchSpace(), Budget(seconds=1.0), np.random.default_rng(0), Silent())
    rows: dict[str, list[TargetOutcome]] = {}
    for name, target in targets.items():
        seeds = range(options.first_seed, options.first_seed + options.seeds)
        rows[name] = [try_once(engine, target, seed, options) for seed in seeds]
        with redirect_stdout(sys.stderr) if options.json else nullcontext():
            print_row(name, rows[name])
    if options.json:
        print(json.dumps([target_row(name, targets[name], rows[name]) for name in rows]))
    else:
        print_summary(rows, options)


def target_row(name: str, target: Target, outcomes: list["TargetOutcome"]) -> dict[str, object]:
    """How one target went, for ``--json``; seconds are the median of what was found."""
    answers = [outcome.answer for outcome in outcomes if outcome.found]
    return {
        "name": name,
        "truth": target.truth,
        "inputs": len(target.names),
        "found": len(answers),
        "of": len(outcomes),
        "seconds": statistics.median(answers) if answers else None,
    }


@dataclass(frozen=True)
class TargetOutcome:
    """One search."""

    found: bool
    answer: float
    seconds: float
    misalignment: float
    expression: str


def try_once(
    engine: Engine, target: Target, seed: int, options: argparse.Namespace
) -> TargetOutcome:
    """Search once and judge the best candidate at fresh points."""
    field = make_field(target, seed, options.noise, options.rescale)
    result = engine.search(
        field, SearchSpace(), Budget(seconds=options.seconds), np.random.default_rng(seed), Silent()
    )
    seconds = result.statistics["seconds"]
    best = choose(result.front, 1.1 if options.noise else 1.0)
    if best is None:
        return TargetOutcome(False, options.seconds, seconds, 1.0, "nothing")
    values = field_misalignment(
        best.expression, make_field(target, seed + 10_000, 0.0, options.rescale)
    )
    value = float(values.mean() if options.noise else values.max())
    steps = result.statistics.get("steps", [])
    done = next(
        (
            s["began"] + s["seconds"]
            for s in steps
            if s["lowest"] <= max(best.misalignment * 1.001, 1e-10)
        ),
        seconds,
    )
    done = result.statistics.get("seconds_to_best", done)
    return TargetOutcome(
        value < (1e-4 if options.noise else 1e-6), done, seconds, value, str(best.expression)
    )


def choose(front: Front, factor: float) -> Candidate | None:
    """The simplest candidate whose training misalignment is within a factor of the lowest."""
    lowest = front.best.misalignment if front.best else 1.0
    return next(
        (candidate for candidate in front if candidate.misalignment <= factor * lowest), None
    )


def print_row(name: str, outcomes: list[TargetOutcome]) -> None:
    """How one target went."""
    found = sum(outcome.found for outcome in outcomes)
    answers = [outcome.answer for outcome in outcomes if outcome.found]
    median = statistics.median(answers) if answers else float("nan")
    worst = max(outcome.misalignment for outcome in outcomes)
    example = next(
        (outcome.expression for outcome in outcomes if outcome.found), outcomes[0].expression
    )
    print(
        f"| {name} | {found} of {len(outcomes)} | {median:.2f} | {worst:.1e} | `{example[:90]}` |",
        flush=True,
    )


def print_summary(rows: dict[str, list[TargetOutcome]], options: argparse.Namespace) -> None:
    """The line that stands for all."""
    everything = [outcome for outcomes in rows.values() for outcome in outcomes]
    found = sum(outcome.found for outcome in everything)
    majority = sum(
        2 * sum(outcome.found for outcome in outcomes) > len(outcomes) for outcomes in rows.values()
    )
    paper = [outcome.answer for name in PAPER_LIKE for outcome in rows.get(name, [])]
    kind = "processor" if options.processor else "clock"
    conditions = (
        f"{options.seconds:g} s of the {kind}, noise {options.noise:g}, first input times "
        f"{options.rescale:g}"
    )
    print(
        f"summary: {options.engine} found {found} of {len(everything)}, {majority} of "
        f"{len(rows)} targets in the majority"
    )
    if paper:
        print(
            f"summary: median seconds to the answer of the paper-like targets "
            f"{statistics.median(paper):.2f}"
        )
    print(
        f"summary: the slowest search took {max(outcome.seconds for outcome in everything):.2f} s"
    )
    print(
        f"summary: {conditions}, seeds {options.first_seed} to "
        f"{options.first_seed + options.seeds - 1}"
    )


if __name__ == "__main__":
    main()
