"""Time of the compiled judge on random trees, against a reference kernel and against the number of
inputs.

    python bench/scripts/kernel_speed.py --reference PATH/gradient_kernel.py

The reference is a module with ``loss_batch(op, feat, val, lens, X, G, signfree, out, ar)`` and
``ARITY``; all run in turn in one process, and the ratio of the medians is what counts. Random trees
come in two kinds: as drawn (most of them are not finite somewhere) and clean (finite at all
points). The reference gives up a tree at its first value that is not finite; ``give_up=0`` does the
same, ``give_up=1`` judges every point.
"""

import argparse
import importlib
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from closedform.expressions.tape import TapeBatch, compile_tapes
from closedform.expressions.tree import Constant, Tree, Variable
from closedform.field.alignment.comparison import Comparison, prepare
from closedform.testing import random_tree

CODES = {"add": 2, "sub": 3, "mul": 4, "div": 5, "square": 6, "sqrt": 7, "sin": 8, "exp": 9}
COUNT, SIZE, N_POINTS = 1000, 20, 256


def field(n_inputs: int) -> tuple[np.ndarray, np.ndarray]:
    """Random points and unit directions."""
    rng = np.random.default_rng(1)
    directions = rng.normal(size=(N_POINTS, n_inputs))
    return rng.normal(size=(N_POINTS, n_inputs)), directions / np.linalg.norm(
        directions, axis=1, keepdims=True
    )


def draw(accept: Callable[[Tree], bool]) -> list[Tree]:
    """Random trees of exactly SIZE nodes over four inputs."""
    rng = np.random.default_rng(7)
    trees: list[Tree] = []
    while len(trees) < COUNT:
        tree = random_tree(rng, SIZE, 4, tuple(CODES))
        if tree.size == SIZE and accept(tree):
            trees.append(tree)
    return trees


def judge(comparison: Comparison, tapes: TapeBatch, give_up: float) -> Callable[[], Any]:
    """A call to time."""
    return lambda: comparison.misalignments(tapes, give_up=give_up)


def reference_call(path: Path, trees: list[Tree], out: np.ndarray) -> Callable[[], Any]:
    """The same trees through the reference kernel."""
    sys.path.insert(0, str(path.parent))
    module = importlib.import_module(path.stem)
    op, feat = np.zeros((COUNT, SIZE), np.int8), np.zeros((COUNT, SIZE), np.int16)
    val, lens = np.zeros((COUNT, SIZE)), np.full(COUNT, SIZE)
    for row, tree in enumerate(trees):
        for i, token in enumerate(tree.tokens):
            if isinstance(token, Variable):
                op[row, i], feat[row, i], val[row, i] = 1, token.index, 1.0
            elif isinstance(token, Constant):
                val[row, i] = float(token.value)
            else:
                op[row, i] = CODES[token]
    points, directions = (np.ascontiguousarray(array.T) for array in field(4))
    return lambda: module.loss_batch(
        op, feat, val, lens, points, directions, True, out, module.ARITY
    )


def main() -> None:
    """Print microseconds for each tree, and the ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--rounds", type=int, default=25)
    options = parser.parse_args()
    comparisons = {n: prepare(field(n)[0], field(n)[1][:, :, None]) for n in (4, 16)}

    def is_clean(tree: Tree) -> bool:
        return comparisons[4].misalignments(compile_tapes([tree]))[1][0] == 0

    kinds = {"clean": draw(is_clean), "as drawn": draw(lambda tree: True)}
    calls: dict[str, Callable[[], Any]] = {}
    for kind, trees in kinds.items():
        tapes = compile_tapes(trees)
        calls[f"{kind}, give_up=1"] = judge(comparisons[4], tapes, 1.0)
        calls[f"{kind}, give_up=0"] = judge(comparisons[4], tapes, 0.0)
        if options.reference:
            out = np.empty(COUNT)
            calls[f"{kind}, reference"] = reference_call(options.reference, trees, out)
            calls[f"{kind}, reference"]()
            found, bad = comparisons[4].misalignments(tapes)
            fine = (bad == 0) & np.isfinite(out)
            print(
                f"{kind}: {fine.sum()} trees finite everywhere, largest difference "
                f"{np.abs(found - out)[fine].max():.1e}"
            )
    calls["clean, 16 inputs"] = judge(comparisons[16], compile_tapes(kinds["clean"]), 1.0)
    times: dict[str, list[float]] = {name: [] for name in calls}
    for round_ in range(options.rounds + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            if round_:
                times[name].append((time.perf_counter() - start) / COUNT * 1e6)
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, value in medians.items():
        kind = name.split(",")[0]
        ratio = (
            f"  {value / medians[f'{kind}, reference']:.2f} of the reference"
            if options.reference
            else ""
        )
        print(f"{name:24s} {value:7.2f} us per tree{ratio}")
    print(f"16 inputs against 4: {medians['clean, 16 inputs'] / medians['clean, give_up=1']:.2f}")


if __name__ == "__main__":
    main()
