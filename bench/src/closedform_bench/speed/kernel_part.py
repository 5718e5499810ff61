"""The kernel against the machine's limits, and against the same trees compiled alone."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from closedform.alignment.comparison import Comparison, prepare
from closedform.expressions.sweeps import BLOCK
from closedform.expressions.tape import compile_tapes
from closedform.expressions.tree import Tree
from closedform.testing.random_trees import random_tree
from closedform_bench.speed.lone_tree import compile_alone
from closedform_bench.speed.part import Effort, Numbers, Part
from closedform_bench.speed.rates import Rates, measure_rates
from closedform_bench.speed.tables import table
from closedform_bench.speed.tape_work import tape_work
from closedform_bench.speed.timing import in_turn, timed

KINDS = {
    "polynomials": ("add", "sub", "mul", "square"),
    "all kinds": ("add", "sub", "mul", "div", "square", "sqrt", "sin", "exp"),
}
"""Operators of the random trees."""

SIZE, N_INPUTS, N_POINTS = 20, 4, 16 * BLOCK
LIMITS = ("operations", "cache", "memory")


def measure(effort: Effort) -> Numbers:
    """Judge random trees, all in one batch, and a few of them also compiled alone."""
    count, alone, rounds = (50, 1, 3) if effort.is_short else (500, 6, 9)
    rng = np.random.default_rng(0)
    points, directions = rng.normal(size=(2, N_POINTS, N_INPUTS))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    comparison = prepare(points, directions[:, :, None])
    rates = measure_rates()
    rows = {
        kind: _batch(draw(operators, count, comparison), comparison, rates, rounds)
        | _alone(draw(operators, alone, comparison, seed=1), comparison, points, directions, rounds)
        for kind, operators in KINDS.items()
    }
    return {
        "rates": {name: getattr(rates, name) for name in Rates.__dataclass_fields__},
        "rows": rows,
    }


def draw(
    operators: tuple[str, ...], count: int, comparison: Comparison, seed: int = 0
) -> list[Tree]:
    """Random trees of exactly SIZE nodes that are finite at all points."""
    rng = np.random.default_rng(seed)
    trees: list[Tree] = []
    while len(trees) < count:
        tree = random_tree(rng, SIZE, N_INPUTS, operators)
        if tree.size == SIZE and comparison.misalignments(compile_tapes([tree]))[1][0] == 0:
            trees.append(tree)
    return trees


def _batch(trees: list[Tree], comparison: Comparison, rates: Rates, rounds: int) -> Numbers:
    tapes = compile_tapes(trees)
    seconds = in_turn({"kernel": lambda: comparison.misalignments(tapes)}, rounds)["kernel"]
    work = tape_work(tapes, N_INPUTS)
    per_tree = 1e6 * N_POINTS / len(trees)
    limits = {name: limit * per_tree for name, limit in work.limits(rates).items()}
    kernel = 1e6 * seconds / len(trees)
    return {"kernel": kernel, "limits": limits, "share": max(limits.values()) / kernel}


def _alone(
    trees: list[Tree], comparison: Comparison, points: Any, directions: Any, rounds: int
) -> Numbers:
    """Sums over some trees, each judged often enough to be timed."""
    often = 20
    columns = np.ascontiguousarray(points.T), np.ascontiguousarray(directions.T)
    weights, room = np.full(N_POINTS, 1 / N_POINTS), np.empty(N_POINTS)
    kernel = alone = compiling = difference = 0.0
    for tree in trees:
        tape = compile_tapes([tree])
        judge = compile_alone(tape, N_INPUTS)
        first, found = timed(partial(judge, *columns, weights, room))
        compiling += first
        difference = max(difference, abs(found - comparison.misalignments(tape)[0][0]))
        batch = compile_tapes([tree] * often)
        seconds = in_turn(
            {
                "kernel": partial(comparison.misalignments, batch),
                "alone": lambda judge=judge: [judge(*columns, weights, room) for _ in range(often)],
            },
            rounds,
        )
        kernel += seconds["kernel"] / often
        alone += seconds["alone"] / often
    return {
        "against_alone": kernel / alone,
        "compiling": compiling / len(trees),
        "judged_meanwhile": compiling / kernel,
        "difference": float(difference),
    }


def show(numbers: Numbers, folder: Path) -> str:
    """Two sentences and a table."""
    rates, rows = numbers["rates"], numbers["rows"]
    functions = ", ".join(
        f"{name} {1e9 * seconds:.1f}" for name, seconds in rates["functions"].items()
    )
    text = (
        f"Random trees of {SIZE} nodes at {N_POINTS:,} points of {N_INPUTS} inputs: value, "
        "gradient and misalignment. The limits are what the trees need (additions and "
        "multiplications, functions, and the bytes that the tape moves node by node in the cache "
        "or that come from memory) at the rates that this machine reached in the same run: "
        f"{rates['operations'] / 1e9:.1f} billion operations a second in a product of matrices, "
        f"{rates['cache'] / 1e9:.0f} GB/s in the cache, {rates['memory'] / 1e9:.1f} GB/s from "
        f"memory; nanoseconds for a function: {functions}. 'Alone' is the same tree written out "
        "as a loop of its own and compiled by numba, which takes longer than the kernel takes to "
        "judge the number of trees in the last column.\n\n"
    )
    head = (
        "trees", "kernel, µs a tree", *(f"limit by {name}, µs" for name in LIMITS),
        "share of the largest limit", "kernel / alone", "trees judged while one compiles",
    )  # fmt: skip
    lines = [
        (
            kind,
            f"{row['kernel']:.0f}",
            *(f"{row['limits'][name]:.0f}" for name in LIMITS),
            f"{row['share']:.2f}",
            f"{row['against_alone']:.2f}",
            f"{row['judged_meanwhile']:,.0f}",
        )
        for kind, row in rows.items()
    ]
    return text + table(head, lines)


KERNEL = Part("kernel", "The kernel against its limits", measure, show)
