"""What is imported is declared: a package that only another one brings may go with it."""

import ast
import re
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CALLED = {"sklearn": "scikit-learn"}


def imported(folder: Path) -> set[str]:
    """First names of all modules that files below a folder import, wherever in the file."""
    found: set[str] = set()
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return {CALLED.get(name, name) for name in found - set(sys.stdlib_module_names)}


def declared(file: Path) -> set[str]:
    project = tomllib.loads(file.read_text())["project"]
    extras = project.get("optional-dependencies", {}).values()
    lines = chain(project["dependencies"], *extras)
    return {re.split(r"[\s\[<>=;]", line)[0] for line in lines}


@pytest.mark.parametrize(
    ("source", "project"),
    [("src/closedform", "pyproject.toml"), ("bench/src/closedform_bench", "bench/pyproject.toml")],
)
def test_every_import_is_declared(source: str, project: str):
    known = declared(ROOT / project) | {"closedform", "closedform_bench"}
    if project.startswith("bench"):
        known |= declared(ROOT / "pyproject.toml")
    assert imported(ROOT / source) - known == set()


def test_every_dependency_has_its_line():
    text = (ROOT / "docs/dependencies.md").read_text()
    listed = set(re.findall(r"[\w-]+", " ".join(re.findall(r"^\| ([^|]+)\|", text, re.MULTILINE))))
    assert declared(ROOT / "pyproject.toml") - listed - {"closedform"} == set()
