"""Time of the compiled judge: batches of random trees, against a reference kernel and against the number of inputs.

    python benchmarks/kernel_speed.py [--reference PATH/gradient_kernel.py]

The reference is a module with ``loss_batch(op, feat, val, lens, X, G, signfree, out, ar)`` and ``ARITY``; both run in turn in
one process, and the ratio of the medians is what counts.
"""

import argparse
import importlib.util
import statistics
import sys
import time
from pathlib import Path

import numpy as np

from closedform.alignment.comparison import prepare
from closedform.expressions.tape import compile_tapes
from closedform.expressions.tree import Constant, Tree, Variable, apply, constant, variable

REFERENCE_CODES = {"add": 2, "sub": 3, "mul": 4, "div": 5, "square": 6, "sqrt": 7, "sin": 8, "exp": 9}


def random_tree(rng: np.random.Generator, size: int, n_inputs: int) -> Tree:
    """A random tree of exactly this many nodes over the reference's operators."""
    if size == 1:
        return variable(int(rng.integers(n_inputs))) if rng.random() < 0.8 else constant(round(float(rng.normal()), 3))
    if size == 2 or rng.random() < 0.3:
        return apply(str(rng.choice(["square", "sqrt", "sin", "exp"])), random_tree(rng, size - 1, n_inputs))
    left = int(rng.integers(1, size - 1))
    operands = random_tree(rng, left, n_inputs), random_tree(rng, size - 1 - left, n_inputs)
    return apply(str(rng.choice(["add", "sub", "mul", "div"])), *operands)


def batch(seed: int, n_inputs: int, count: int = 1000, size: int = 20) -> list[Tree]:
    """Trees of one size; those that fold to fewer nodes are drawn again."""
    rng = np.random.default_rng(seed)
    trees: list[Tree] = []
    while len(trees) < count:
        tree = random_tree(rng, size, n_inputs)
        if tree.size == size:
            trees.append(tree)
    return trees


def reference_arrays(trees: list[Tree]) -> tuple[np.ndarray, ...]:
    """The same trees as the reference writes them."""
    size = max(tree.size for tree in trees)
    op, feat = np.zeros((len(trees), size), np.int8), np.zeros((len(trees), size), np.int16)
    val, lens = np.zeros((len(trees), size)), np.array([tree.size for tree in trees])
    for row, tree in enumerate(trees):
        for i, token in enumerate(tree.tokens):
            if isinstance(token, Variable):
                op[row, i], feat[row, i], val[row, i] = 1, token.index, 1.0
            elif isinstance(token, Constant):
                val[row, i] = float(token.value)
            else:
                op[row, i] = REFERENCE_CODES[token]
    return op, feat, val, lens


def seconds(call, repeats: int = 1) -> float:
    """Time of one call."""
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def main() -> None:
    """Print microseconds for each tree and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    calls = {}
    checks = {}
    for n_inputs in (4, 16):
        points = rng.normal(size=(256, n_inputs))
        directions = rng.normal(size=(256, n_inputs))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        # The same trees for both widths: only the first four inputs occur, so the work in the tree is the same.
        trees = batch(7, 4)
        tapes = compile_tapes(trees)
        comparison = prepare(points, directions[:, :, None])
        calls[f"closedform, {n_inputs} inputs"] = lambda c=comparison, t=tapes: c.misalignments(t)
        if n_inputs == 4:
            checks["closedform"] = comparison.misalignments(tapes)
            if options.reference:
                sys.path.insert(0, str(options.reference.parent))
                spec = importlib.util.spec_from_file_location("gradient_kernel", options.reference)
                assert spec is not None
                assert spec.loader is not None
                reference = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(reference)
                op, feat, val, lens = reference_arrays(trees)
                x, g = np.ascontiguousarray(points.T), np.ascontiguousarray(directions.T)
                out = np.empty(len(trees))
                calls["reference, 4 inputs"] = lambda: reference.loss_batch(
                    op, feat, val, lens, x, g, True, out, reference.ARITY
                )
                calls["reference, 4 inputs"]()
                checks["reference"] = (out.copy(),)
    for call in calls.values():
        call()
    if "reference" in checks:
        ours, theirs = checks["closedform"][0], checks["reference"][0]
        clean = (checks["closedform"][1] == 0) & np.isfinite(theirs)
        print(f"same misalignment on {clean.sum()} clean trees, largest difference {np.abs(ours - theirs)[clean].max():.1e}")
    times = {name: [] for name in calls}
    for _ in range(options.rounds):
        for name, call in calls.items():
            times[name].append(seconds(call) / 1000 * 1e6)
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, value in medians.items():
        print(f"{name:24s} {value:7.2f} us per tree (20 nodes, 256 points)")
    if options.reference:
        print(f"closedform / reference: {medians['closedform, 4 inputs'] / medians['reference, 4 inputs']:.2f}")
    print(f"16 inputs / 4 inputs:   {medians['closedform, 16 inputs'] / medians['closedform, 4 inputs']:.2f}")


if __name__ == "__main__":
    main()
