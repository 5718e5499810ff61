"""The docs extra brings what the docs import: it brought no grimp, and the site did not build."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {"sklearn": "scikit-learn", "docutils": "sphinx"}
"""Distributions that are not named like their module, or come with another."""

AT_BUILD = ["conf.py", "architecture_picture.py", "thumbnails.py", "_extensions/*.py"]
"""What runs when the site is built; pictures and pages for machines are made by hand."""


def imported() -> set[str]:
    """Modules from outside that the build imports."""
    files = [file for pattern in AT_BUILD for file in (ROOT / "docs").glob(pattern)]
    assert len(files) >= 5
    own = {file.stem for file in (ROOT / "docs").rglob("*.py")} | {"closedform"}
    found: set[str] = set()
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found |= {name.split(".")[0] for name in names}
    return {name for name in found if name not in own | set(sys.stdlib_module_names)}


def brought() -> set[str]:
    """Distributions that ``closedform[docs]`` asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    waiting, found = [*project["dependencies"], *project["optional-dependencies"]["docs"]], set()
    while waiting:
        item = waiting.pop()
        extras = re.match(r"closedform\[(.*)\]", item)
        if extras:
            for extra in extras[1].split(","):
                waiting += project["optional-dependencies"][extra]
        else:
            found.add(re.split(r"[<>=!~;\[ ]", item)[0])
    return found


def test_the_extra_names_every_package_that_the_build_imports() -> None:
    needed = {PACKAGES.get(name, name) for name in imported()}
    assert {"grimp", "matplotlib", "sphinx", "latex2mathml"} <= needed
    assert needed <= brought()


@pytest.mark.slow
def test_the_extra_alone_builds_the_site(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True)
    python = str(tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python")
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([python, "-m", "pip", "install", "-q", f"{ROOT}[docs]"], check=True, env=plain)
    build = [python, "-m", "sphinx", "-W", "-q", "-b", "html", "docs", str(tmp_path / "site")]
    subprocess.run(build, check=True, cwd=ROOT, env=plain)
    assert (tmp_path / "site" / "llms.txt").exists()


def test_every_notebook_has_a_thumbnail_in_the_gallery() -> None:
    sys.path.insert(0, str(ROOT / "docs"))
    from thumbnails import thumbnail  # pyright: ignore[reportMissingImports]

    index = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    notebooks = sorted((ROOT / "examples").glob("*.ipynb"))
    assert len(notebooks) >= 8
    for notebook in notebooks:
        assert f":img-top: gallery/{notebook.stem}.svg" in index
        svg = thumbnail(notebook)
        assert svg.startswith("<svg")
        assert ("data:image/png" in svg) or ("<text" in svg)
