"""Mutation testing: change the package in one place, drawn by seed, and see whether a test notices.

A mutant lives in a copy of the sources, so nothing here is changed. It meets the doctests of its
module and the tests of its room, without numba's compilation.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("expressions", "alignment", "selection", "verification")

SWAPS: dict[Any, Any] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change.

    Attributes
    ----------
    file : Path
        Relative to the sources.
    place : int
        Which of the file's places.
    line : int
    what : str
    """

    file: Path
    place: int
    line: int
    what: str


def places(tree: ast.AST) -> Iterator[tuple[Any, str]]:
    """What can be changed in a module, and into what."""
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.Compare(ops=[op, *_]):
                if type(op) in SWAPS:
                    yield node, f"{type(op).__name__} -> {SWAPS[type(op)].__name__}"
            case ast.UnaryOp(op=ast.Not() | ast.USub()):
                yield node, f"{type(node.op).__name__} taken out"
            case ast.Constant(value=bool() | int() | float() as value):
                yield node, f"{value} changed"


def change(node: Any) -> None:
    """Change one place."""
    match node:
        case ast.BinOp() | ast.BoolOp():
            node.op = SWAPS[type(node.op)]()
        case ast.Compare():
            node.ops[0] = SWAPS[type(node.ops[0])]()
        case ast.UnaryOp(op=ast.USub()):
            node.op = ast.UAdd()
        case ast.UnaryOp():
            node.operand = ast.UnaryOp(ast.Not(), node.operand)
        case ast.Constant(value=bool()):
            node.value = not node.value
        case ast.Constant():
            node.value += 1
    ast.fix_missing_locations(node)


def all_mutants() -> list[Mutant]:
    """Every place of every room."""
    sources = ROOT / "src"
    return [
        Mutant(file.relative_to(sources), place, node.lineno, what)
        for room in ROOMS
        for file in sorted((sources / "closedform" / room).rglob("*.py"))
        for place, (node, what) in enumerate(places(ast.parse(file.read_text())))
    ]


def outcome(mutant: Mutant, seconds: float) -> str:
    """``killed``, ``killed by time`` or ``survived``."""
    # The module's own tests first, and then all of its room; the first that fails ends it.
    rooms = ROOT / "tests" / Path(*mutant.file.parts[1:-1])
    own = rooms / f"test_{mutant.file.name}"
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "src", Path(folder, "src"))
        file = Path(folder, "src", mutant.file)
        tree = ast.parse(file.read_text())
        change(list(places(tree))[mutant.place][0])
        file.write_text(ast.unparse(tree))
        environment = os.environ | {
            "PYTHONPATH": str(Path(folder, "src")),
            "NUMBA_DISABLE_JIT": "1",
            "OMP_NUM_THREADS": "1",
        }
        tests = [str(file), *([str(own)] if own.exists() else []), str(rooms)]
        call = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        try:
            ended = subprocess.run(
                call, cwd=ROOT, env=environment, capture_output=True, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired:
            return "killed by time"
    return "survived" if ended.returncode == 0 else "killed"


def main() -> None:
    """Print a line for each mutant, and the share killed with its 95% interval (Wilson's)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--first", type=int, default=0, help="go on from this one")
    parser.add_argument("--last", type=int, help="stop before this one")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600.0, help="for the tests of one")
    options = parser.parse_args()
    drawn = random.Random(options.seed).sample(all_mutants(), options.count)
    counts: Counter[str] = Counter()
    for number in range(options.first, options.last or options.count):
        found = outcome(drawn[number], options.seconds)
        counts[found] += 1
        mutant = drawn[number]
        print(f"{number} {found}: {mutant.file}:{mutant.line} {mutant.what}", flush=True)
    total, killed = counts.total(), counts.total() - counts["survived"]
    share, z = killed / total, 1.96
    middle = (share + z**2 / (2 * total)) / (1 + z**2 / total)
    half = z / (1 + z**2 / total) * sqrt(share * (1 - share) / total + z**2 / (4 * total**2))
    print(f"{killed} of {total} killed: {share:.0%} ({middle - half:.0%} to {middle + half:.0%})")


if __name__ == "__main__":
    main()
