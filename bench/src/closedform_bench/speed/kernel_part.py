"""The kernel against the machine's limits, and against the same trees compiled alone."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from closedform.expressions.sweeps import BLOCK
from closedform.expressions.tape import TapeBatch, compile_tapes
from closedform.expressions.tree import Tree
from closedform.field.alignment.comparison import Comparison, prepare
from closedform.testing import random_tree
from closedform_bench.speed.lone_tree import compile_alone
from closedform_bench.speed.part import Effort, Numbers, Part
from closedform_bench.speed.rates import Rates, rate_calls, rates_of
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
    batches = {
        kind: compile_tapes(draw(operators, count, comparison)) for kind, operators in KINDS.items()
    }
    judging = {kind: partial(comparison.misalignments, tapes) for kind, tapes in batches.items()}
    seconds = in_turn({**judging, **rate_calls()}, rounds)
    rates = rates_of(seconds)
    rows = {
        kind: _against_limits(tapes, seconds[kind], rates)
        | _against_alone(
            draw(KINDS[kind], alone, comparison, seed=1), comparison, points, directions, rounds
        )
        for kind, tapes in batches.items()
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


def _against_limits(tapes: TapeBatch, seconds: float, rates: Rates) -> Numbers:
    """Microseconds for a tree, and the least that the machine's rates allow."""
    per_tree = 1e6 * N_POINTS / tapes.n_trees
    found = tape_work(tapes, N_INPUTS).limits(rates)
    limits = {name: limit * per_tree for name, limit in found.items()}
    kernel = 1e6 * seconds / tapes.n_trees
    return {"kernel": kernel, "limits": limits, "share": max(limits.values()) / kernel}


def _against_alone(
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
