"""How tidy the code is, in numbers that a reader feels; several folders stand beside each other.

    python bench/scripts/house_table.py src/closedform [path/to/another/package ...]

Docstrings do not count as lines of a function. A numeric constant is a name in capitals at the
level of a module whose value is a number or some numbers. Tests are those below `tests` beside
`src`, where there are any.
"""

import argparse
import ast
import re
import statistics
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SCREEN = 40
WIDEST = 100
ROOM_NAMES = ("__init__.py", "__main__.py", "errors.py", "tolerances.py")
"""What every room may have under the same name."""


@dataclass(slots=True)
class House:
    """What is counted in one folder."""

    files: list[int] = field(default_factory=list)
    functions: list[int] = field(default_factory=list)
    documented: list[bool] = field(default_factory=list)
    constants: list[str] = field(default_factory=list)
    classes: Counter[str] = field(default_factory=Counter)
    names: Counter[str] = field(default_factory=Counter)
    comments: int = 0
    wide: int = 0
    tests: int = 0


def main() -> None:
    """Print a table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="+")
    parser.add_argument("--list", action="store_true", help="Print names that occur twice, too.")
    words = parser.parse_args()
    houses = [measured(folder) for folder in words.folder]
    columns = [rows(house) for house in houses]
    print("| | " + " | ".join(folder.name for folder in words.folder) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for title in columns[0]:
        print(f"| {title} | " + " | ".join(column[title] for column in columns) + " |")
    if words.list:
        for house in houses:
            print("classes:", ", ".join(repeated(house.classes)) or "none")
            print("files:", ", ".join(repeated(house.names)) or "none")


def measured(folder: Path) -> House:
    """Count what is in the files below a folder."""
    house = House()
    for file in sorted(folder.rglob("*.py")):
        text = file.read_text()
        lines = text.splitlines()
        house.files.append(len(lines))
        house.wide += sum(len(line) > WIDEST for line in lines)
        house.comments += sum(line.lstrip().startswith("#") for line in lines)
        if file.name not in ROOM_NAMES:
            house.names[file.name] += 1
        _look(ast.parse(text), house)
    tests = folder.parent.parent / "tests"
    for file in sorted(tests.rglob("test_*.py")) if tests.is_dir() else ():
        house.tests += len(re.findall(r"^ *(?:async )?def test_", file.read_text(), re.MULTILINE))
    return house


def _look(tree: ast.Module, house: House) -> None:
    for statement in tree.body:
        house.constants += _numeric(statement)
        if isinstance(statement, ast.ClassDef):
            house.classes[statement.name] += 1
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            house.functions.append(_length(node))
    house.documented += [ast.get_docstring(node) is not None for node in _public(tree)]


def _public(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Functions of the module and methods of its classes that have no underscore."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield node
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and not method.name.startswith("_"):
                    yield method


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its docstring and decorators."""
    whole = (node.end_lineno or node.lineno) - node.lineno + 1
    first = node.body[0]
    if ast.get_docstring(node) is not None:
        whole -= (first.end_lineno or first.lineno) - first.lineno + 1
    return whole


def _numeric(statement: ast.stmt) -> list[str]:
    """Names of the numeric constants that a statement makes."""
    if isinstance(statement, ast.Assign):
        targets, value = statement.targets, statement.value
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets, value = [statement.target], statement.value
    else:
        return []
    names = [
        name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)
    ]
    allowed = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.Tuple, ast.operator, ast.unaryop, ast.Load)
    nodes = list(ast.walk(value))
    numbers = [
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and type(node.value) in (int, float)
    ]
    plain = all(isinstance(node, allowed) for node in nodes)
    all_numbers = len(numbers) == sum(isinstance(node, ast.Constant) for node in nodes)
    return [name for name in names if name.isupper()] if plain and numbers and all_numbers else []


def repeated(names: Counter[str]) -> list[str]:
    """Names that occur more than once, with how often."""
    return [f"{name} {count}" for name, count in sorted(names.items()) if count > 1]


def rows(house: House) -> dict[str, str]:
    """The table's column for a house."""
    lines = sum(house.files)
    lengths = sorted(house.functions)
    return {
        "files / lines": f"{len(house.files)} / {lines:,}",
        "file median / max": f"{statistics.median(house.files):.0f} / {max(house.files)}",
        "function median / 99% / max": (
            f"{statistics.median(lengths):.0f} / {lengths[int(0.99 * len(lengths))]} / "
            f"{lengths[-1]}"
        ),
        f"functions above {SCREEN} lines": f"{sum(length > SCREEN for length in lengths)}",
        "tests per 1,000 lines": f"{1000 * house.tests / lines:.1f}" if house.tests else "",
        "public functions with docstring": (
            f"{100 * sum(house.documented) / len(house.documented):.0f}%"
        ),
        "comment share": f"{100 * house.comments / lines:.1f}%",
        f"lines above {WIDEST} characters": f"{100 * house.wide / lines:.1f}%",
        "numeric constants": f"{len(house.constants)}",
        "numeric constants per 1,000 lines": f"{1000 * len(house.constants) / lines:.1f}",
        "class names used twice or more": f"{len(repeated(house.classes))}",
        "file names used twice or more": f"{len(repeated(house.names))}",
    }


if __name__ == "__main__":
    main()
