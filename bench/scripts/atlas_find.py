"""How well the atlas finds formulas: an index of so many, each asked for in disguise.

Run it: python bench/scripts/atlas_find.py --seed N [--formulas 1000] [--json FILE]

The formulas are those of Feynman's table and of the seen half of the textbooks, and fresh ones of
the suites `random` and `forms`, each concept once. Each is asked for twice: as a random invertible
function of itself with its inputs renamed, and the same with every constant moved by 2% up or down.
A third of the functions are logarithms, roots or reciprocals. Expected are an exact match, and one
up to constants (an exact one where the constants were but a scale). What else matches is checked
without the index: whether the constants of one can be fitted so that it becomes the other, at
points that the index never sees. If not, it is a false match.
"""

import argparse
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

import closedform as cf
from closedform.canonical.constants import free_constants, with_constants
from closedform.errors import ClosedformError
from closedform.expressions.complexity import constant_values, with_numbers
from closedform.expressions.tree import Tree, Variable, apply, constant
from closedform.field.alignment.refit import refit
from closedform.field.alignment.tolerances import SAME
from closedform.judge.neighbours.same_form import free_positions
from closedform.sweeping.atlas.concept_index import ConceptIndex, Entry, entry_of
from closedform.sweeping.atlas.finding import Match, find
from closedform_bench.formulas.drawn_forms import draw_forms
from closedform_bench.formulas.feynman import EQUATIONS
from closedform_bench.formulas.grammar import draw_problems
from closedform_bench.formulas.problem import Problem
from closedform_bench.formulas.surrogates import surrogate_problems

PLAIN = ("exp({c}*({z}))", "({z})**3", "tanh({c}*({z}))", "{c}*({z}) - 2", "atan({c}*({z}))",
         "1/(1 + exp(-({z})))", "sinh({c}*({z}))")  # fmt: skip
"""Increasing functions of z, a formula scaled to lie between -1 and 1."""

HARD = ("log({z} + {c} + 1)", "sqrt({z} + {c} + 1)", "1/({z} + {c} + 1)")
LETTERS = "abcdefghklmnpqrstuvwyz"
CHANGE = 0.02
"""By which every constant is moved."""

STARTS = 4
"""Of the fits that decide whether two formulas are one form."""


@dataclass(frozen=True)
class Case:
    """A formula, and the two questions for it."""

    problem: Problem
    entry: Entry
    disguised: str
    moved: str
    is_hard: bool
    is_moved: bool  # whether the constants change the concept


def main() -> None:
    """Print the counts, and write all rows to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--formulas", type=int, default=1000)
    parser.add_argument("--confirmed", type=int, default=0, help="of these, also by same_concept")
    parser.add_argument("--json", default=None)
    options = parser.parse_args()
    began = time.process_time()
    cases = draw_cases(options.formulas, options.seed)
    index = ConceptIndex(case.entry.concept for case in cases)
    drawn = time.process_time()
    counts: Counter[str] = Counter()
    rows, seconds = [], []
    for number, case in enumerate(cases):
        for kind in ("disguised", "moved"):
            expected = "constants" if kind == "moved" and case.is_moved else "exact"
            start = time.process_time()
            matches = find(index, getattr(case, kind), confirm=False, count=0)
            seconds.append(time.process_time() - start)
            own = [match.kind for match in matches if match.number == number]
            got = own[0] if own else "lost"
            counts[
                f"{kind}: {'hard' if case.is_hard else 'plain'}, expected {expected}, {got}"
            ] += 1
            others = [match for match in matches if match.number != number]
            false = [m for m in others if not is_one_form(getattr(case, kind), m, cases)]
            counts["matches with other formulas"] += len(others)
            counts["of these false"] += len(false)
            told = {"name": case.problem.name, "truth": case.problem.truth, "kind": kind}
            told |= {"asked": getattr(case, kind), "expected": expected, "got": got}
            told["seconds"] = round(seconds[-1], 3)
            rows.append(told | {"false": [(m.kind, m.formula) for m in false]})
        if number < options.confirmed:
            said = find(index, case.disguised, count=0)
            is_said = any(m.number == number and m.kind == "exact" for m in said)
            counts[f"confirmed by same_concept: {'yes' if is_said else 'no'}"] += 1
        if sys.stderr.isatty() and number % 50 == 0:
            print(number, file=sys.stderr)
    pairs = 2 * len(cases) * (len(cases) - 1)
    found: dict[str, Any] = {
        "seed": options.seed, "formulas": len(cases), "hard": sum(case.is_hard for case in cases),
        **dict(sorted(counts.items())), "pairs": pairs,
        "false in 100,000 pairs": round(1e5 * counts["of these false"] / pairs, 3),
        "seconds to draw and describe": round(drawn - began, 1),
        "seconds of a question, median and largest": [
            round(float(np.median(seconds)), 3), round(max(seconds), 3)],
        "processor seconds": round(time.process_time() - began, 1),
    }  # fmt: skip
    print(json.dumps(found, indent=1))
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)


def draw_cases(count: int, seed: int) -> list[Case]:
    """Formulas of all sources, each concept once, with their questions."""
    known = [Problem(name, *entry) for name, entry in EQUATIONS.items()]
    known += surrogate_problems("seen")
    fresh = max(count - len(known), 0)
    rng = np.random.default_rng([seed, 48])
    problems = [*known, *draw_problems(fresh, seed), *draw_forms(fresh, seed)]
    first, rest = problems[: len(known)], problems[len(known) :]
    order = rng.permutation(len(rest))
    cases: list[Case] = []
    keys: set[str] = set()
    for problem in [*first, *(rest[place] for place in order)]:
        if len(cases) == count:
            break
        case = _case(problem, rng, is_hard=len(cases) % 3 == 0)
        if case is not None and case.entry.key.text not in keys:
            keys.add(case.entry.key.text)
            cases.append(case)
    return cases


def _case(problem: Problem, rng: np.random.Generator, *, is_hard: bool) -> Case | None:
    formula = problem.formula()
    used = sorted(formula.tree.variables)
    if len(used) < 2:
        return None
    try:
        entry = entry_of(formula)
    except ClosedformError:
        return None
    factors = 1 + CHANGE * rng.choice([-1, 1], len(free_constants(formula)))
    numbers = [float(c.value) * f for c, f in zip(free_constants(formula), factors, strict=True)]
    moved = with_constants(formula, numbers)
    points = problem.points(200, rng)
    disguised, asked = (_disguised(each, points, rng, is_hard) for each in (formula, moved))
    if disguised is None or asked is None:
        return None
    with np.errstate(all="ignore"):
        gap = _misalignment(*(each.gradient(points) * points for each in (formula, moved)))
    return Case(problem, entry, disguised, asked, is_hard, bool(gap > SAME))


def _disguised(
    formula: cf.Expression, points: np.ndarray, rng: np.random.Generator, is_hard: bool
) -> str | None:
    """A function of the formula that is increasing on the data, with other names for its inputs."""
    values = formula(points)
    values = values[np.isfinite(values)]
    if len(values) < 100 or not np.ptp(values) > 0:
        return None
    middle, half = (values.max() + values.min()) / 2, np.ptp(values) / 2
    letters = rng.permutation(list(LETTERS))[: len(formula.names)].tolist()
    inner = str(cf.Expression(formula.tree, tuple(letters)))
    scaled = f"(({inner}) - ({float(middle):.6g}))/{float(half):.6g}"
    outer = str(rng.choice(HARD if is_hard else PLAIN))
    return outer.format(c=round(float(rng.uniform(0.2, 0.9)), 3), z=scaled)


def is_one_form(asked: str, match: Match, cases: list[Case]) -> bool:
    """Whether the constants of one formula can be fitted so that it becomes the other, its inputs
    in some order. Of maxima, minima and absolute values, whose slopes do not show their constants,
    smooth relatives are compared.
    """
    other, own = (
        smooth(each) for each in (cases[match.number].entry.key.form, entry_of(asked).key.form)
    )
    names = other.names
    given = [dict(match.inputs).get(name, "") for name in names]
    orders = [given, *(map(list, permutations(own.names)) if len(names) <= 4 else [])]
    rng = np.random.default_rng(7)
    for order in orders:
        if set(order) != set(own.names):
            continue
        renamed = cf.Expression(own.rename(order).tree, names)
        for span in (3.0, 30.0, 1e3):
            points = np.exp(rng.uniform(-np.log(span), np.log(span), (3000, len(names))))
            both = [each.gradient(points) for each in (renamed, other)]
            points = points[np.isfinite(both).all(axis=(0, 2))][:400]
            if len(points) >= 24:
                break
        else:
            continue
        if _becomes(renamed, other, points, rng) or _becomes(other, renamed, points, rng):
            return True
    return False


def smooth(formula: cf.Expression) -> cf.Expression:
    """max(a, b) as log(exp(3*a) + exp(3*b)), and its relatives."""

    def node(name: str, *parts: Tree) -> Tree:
        if name in ("max", "min"):
            scale = constant(3 if name == "max" else -3)
            return apply(
                "log", apply("add", *(apply("exp", apply("mul", scale, p)) for p in parts))
            )
        if name == "abs":
            return apply("sqrt", apply("add", constant(0.3), apply("pow", parts[0], constant(2))))
        return apply(name, *parts)

    return cf.Expression(formula.tree.fold(lambda token: Tree((token,)), node), formula.names)


def _becomes(
    general: cf.Expression, target: cf.Expression, points: np.ndarray, rng: np.random.Generator
) -> bool:
    gradients = target.gradient(points)
    if _misalignment(general.gradient(points), gradients) < SAME:
        return True
    field = cf.GradientField.from_arrays(points, gradients, names=target.names, tangent="none")
    for start in range(STARTS):
        # A coefficient of 1 is not written, so every input gets one.
        tried = general if start == 0 else cf.Expression(_scaled(general.tree), general.names)
        positions = free_positions(tried.tree, tried.names)
        if start > 1:
            numbers = constant_values(tried.tree, positions) * rng.lognormal(0, 0.7, len(positions))
            tree = with_numbers(tried.tree, positions, numbers.tolist())
            tried = cf.Expression(tree, tried.names)
        left = (
            refit([tried], field, iterations=100, positions=[positions])[1] if positions else [1.0]
        )
        if left[0] < SAME:
            return True
    return False


def _scaled(tree: Tree) -> Tree:
    def leaf(token: Any) -> Tree:
        own = Tree((token,))
        return apply("mul", constant(1.001), own) if isinstance(token, Variable) else own

    return tree.fold(leaf, apply)


def _misalignment(one: np.ndarray, other: np.ndarray) -> float:
    cosines = np.einsum("nd,nd->n", one, other) / (
        np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    )
    return float(np.nanmean(1 - cosines**2))


if __name__ == "__main__":
    main()
