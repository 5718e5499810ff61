"""How many formulas are read from exact or noisy gradient fields: the Feynman equations, or formulas drawn at random.

    python benchmarks/feynman_fields.py --equations EQUATIONS.py --processor
    python benchmarks/feynman_fields.py --equations EQUATIONS.py --noise 1 --processor --systems I.10.7 II.6.11
    python benchmarks/feynman_fields.py --random 100 --seed 7 --processor

The file of equations holds a dictionary ``EQUATIONS`` from a name to a formula and the ranges of its inputs. A formula of one
input cannot be decided and is left out; asin of something is the same concept as that something. 1,000 points, directions with
noise in degrees (root mean square of the angle in scaled coordinates). Right: `same_concept` proved or numerical; with noise
also the same after refitting the constants that are not plain, if they change by at most 10% and the misalignment to the truth
is below 1e-3.
"""

import argparse
import importlib.util
import re
import statistics
import time
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

import closedform as cf
from closedform.alignment.refit import refit
from closedform.alignment.scores import field_misalignment
from closedform.expressions.fitted_constants import constant_values, fitted_positions
from closedform.pipeline import compile_all
from closedform.search.budget import processor_seconds

Ranges = dict[str, tuple[float, float]]


@dataclass(frozen=True)
class Outcome:
    """One reading."""

    name: str
    status: str
    right: bool
    dependent: bool
    seconds: float


def main() -> None:
    """Print a line for each formula, and the totals."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--equations")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--systems", nargs="*")
    parser.add_argument("--noise", type=float, default=0.0)
    parser.add_argument("--budget", type=float, default=12.0)
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--engine", default="auto")
    options = parser.parse_args()
    problems = read_equations(options.equations) if options.equations else random_problems(options.random, options.seed)
    chosen = {name: one for name, one in problems.items() if not options.systems or name in options.systems}
    compile_all()
    warm_up()
    with processor_seconds() if options.processor else nullcontext():
        outcomes = [read_one(name, *one, options) for name, one in chosen.items()]
    right, seconds = [o for o in outcomes if o.right], [o.seconds for o in outcomes]
    verified = [o for o in outcomes if o.status == "verified"]
    print(f"right {len(right)} of {len(outcomes)}; verified {len(verified)}, of them right {sum(o.right for o in verified)}")
    print(f"median {statistics.median(seconds):.2f} s, mean {statistics.mean(seconds):.2f} s, longest {max(seconds):.2f} s")
    print("missed:", *(o.name + (" (dependent)" if o.dependent else "") for o in outcomes if not o.right))


def read_equations(path: str) -> dict[str, tuple[str, Ranges]]:
    """Equations of two or more inputs from a file."""
    spec = importlib.util.spec_from_file_location("equations", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: dict[str, tuple[str, Ranges]] = {}
    for name, (formula, ranges) in module.EQUATIONS.items():
        if len(ranges) > 1:
            found[name] = re.sub(r"^asin\((.*)\)$", r"\1", formula), ranges
    return found


def random_problems(count: int, seed: int) -> dict[str, tuple[str, Ranges]]:
    """Formulas as physics writes them: products of powers, sums of like parts, a function of a quotient, an offset."""
    rng = np.random.default_rng([seed, 20261115])
    found: dict[str, tuple[str, Ranges]] = {}
    while len(found) < count:
        n_inputs = int(rng.integers(2, 9))
        names = [f"x{place}" for place in range(n_inputs)]
        formula = random_formula(rng, list(rng.permutation(names)))
        ranges = {name: (1.0, float(rng.choice([2.0, 3.0, 5.0]))) for name in names}
        points = np.column_stack([rng.uniform(*ranges[name], 400) for name in names])
        slopes = cf.parse(formula, names=names).gradient(points) * points.std(axis=0)
        shares = (slopes**2).mean(axis=0) / (slopes**2).mean() if np.isfinite(slopes).all() else np.zeros(n_inputs)
        if shares.min() > 1e-3:
            found[f"random{len(found)}"] = formula, ranges
    return found


FUNCTIONS = ("sin({})", "cos({})", "exp(-{})", "exp({})", "log({})", "sqrt({})", "{}**2", "1/(1 + {})", "sqrt(1 + {}**2)",
             "1/(exp({}) - 1)", "log(1 + {})", "1/(1 + {}**2)", "1 + {}", "1 - exp(-{})")  # fmt: skip


def random_formula(rng: np.random.Generator, names: list[str]) -> str:
    """A formula in which every name occurs once, now and then one twice."""
    if len(names) == 1:
        power = str(rng.choice(["", "", "", "", "**2", "**2", "**3"]))
        return names[0] + power
    kind = rng.random()
    cut = int(rng.integers(1, len(names)))
    left, right = random_formula(rng, names[:cut]), random_formula(rng, names[cut:])
    if kind < 0.3:
        return f"({left})*({right})"
    if kind < 0.5:
        return f"({left})/({right})"
    if kind < 0.62:
        return f"({left} + {right})"
    if kind < 0.72:
        return f"({left} - {float(rng.choice([1, 1, 2, 0.5])):g}*({right}))"
    if kind < 0.9:
        return f"({left})*{str(rng.choice(FUNCTIONS)).format(f'({right})')}"
    shared = names[int(rng.integers(len(names)))]
    return f"({left})*{str(rng.choice(FUNCTIONS)).format(f'({right}/{shared})')}"


def warm_up() -> None:
    """Load what the first reading would load."""
    points = np.random.default_rng(0).uniform(1, 2, (200, 2))
    field = cf.GradientField.from_arrays(points, points[:, ::-1], names=["x", "y"], tangent="none")
    cf.interpret_field(field, budget=1.0, rng=0)


def make_field(truth: cf.Expression, ranges: Ranges, noise: float, rng: np.random.Generator) -> cf.GradientField:
    """Exact gradients, turned by random angles."""
    points = np.column_stack([rng.uniform(*ranges[name], 1000) for name in truth.names])
    gradients, scale = truth.gradient(points), points.std(axis=0)
    if noise:
        units = gradients * scale
        units /= np.linalg.norm(units, axis=1, keepdims=True)
        sideways = rng.normal(size=units.shape)
        sideways -= (sideways * units).sum(axis=1, keepdims=True) * units
        gradients = (units + np.deg2rad(noise) * sideways / np.sqrt(max(units.shape[1] - 1, 1))) / scale
    return cf.GradientField.from_arrays(points, gradients, names=list(truth.names), tangent="none")


def read_one(name: str, formula: str, ranges: Ranges, options: argparse.Namespace) -> Outcome:
    """Read one field and judge the answer."""
    names = list(ranges)
    truth = cf.parse(formula, names=names)
    rng = np.random.default_rng([options.seed, len(name), len(formula)])
    began = time.process_time()
    field = make_field(truth, ranges, options.noise, rng)
    answer = cf.interpret_field(field, engine=options.engine, budget=options.budget, rng=options.seed)
    seconds = time.process_time() - began
    status = answer.verdict.status
    right, dependent = (False, False) if answer.concept is None else judge(answer.concept, truth, ranges, options.noise)
    mark = "right" if right else "WRONG"
    print(f"{name:10s} {mark} {status:11s} {seconds:5.2f} s  {answer.concept}  | {formula}", flush=True)
    return Outcome(name, status, right, dependent, seconds)


def judge(found: cf.Expression, truth: cf.Expression, ranges: Ranges, noise: float) -> tuple[bool, bool]:
    """Whether the answer is right, and whether it is a function of the truth at least."""
    rng = np.random.default_rng(99)
    points = np.column_stack([rng.uniform(*ranges[name], 300) for name in truth.names])
    same = cf.same_concept(str(found), str(truth), list(truth.names), points=points)
    if same.status != "different":
        return True, True
    if not noise:
        return False, bool(same.dependent)
    clean = make_field(truth, ranges, 0.0, rng)
    (fitted,), _ = refit([found], clean, iterations=50)
    before = np.array(constant_values(found.tree, fitted_positions(found.tree)))
    after = np.array(constant_values(fitted.tree, fitted_positions(found.tree)))
    near = bool((np.abs(after - before) <= 0.1 * np.abs(after)).all())
    small = float(field_misalignment(found, clean).mean()) < 1e-3
    exact = float(field_misalignment(fitted, clean).mean()) < 1e-10
    return near and small and exact, bool(same.dependent)


if __name__ == "__main__":
    main()
