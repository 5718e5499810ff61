"""The pages on real networks show what their scripts printed; CI has none of their packages."""

import ast
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "real_networks"
PAGES = sorted(path.stem for path in FOLDER.glob("*.md"))
TWO_SCREENS = 80
"""Lines of a page, at about forty a screen."""


def test_there_is_a_page_for_each_script():
    scripts = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "run")
    assert scripts == PAGES
    tree = ast.parse((FOLDER / "run.py").read_text(encoding="utf-8"))
    known = next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "PACKAGES"
    )
    assert sorted(known) == PAGES


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_output_with_date_and_versions(page):
    text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
    output = text.partition("<!-- output -->")[2].partition("<!-- end -->")[0]
    assert "Run on 20" in output
    assert "with closedform " in output
    assert " -- " in output.partition("```text")[2]
    assert "**What theory says.**" in text
    assert len(text.splitlines()) <= TWO_SCREENS
