"""What programs read is what the docs and the interface say now."""

import inspect
import re
import sys
from pathlib import Path

import pytest

import closedform as cf

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))
machine_pages = pytest.importorskip("machine_pages")


@pytest.mark.parametrize("name", ["llms.txt", "SKILL.md"])
def test_the_files_are_up_to_date(name: str) -> None:
    kept = (ROOT / "docs" / "_machines" / name).read_text(encoding="utf-8")
    assert kept == machine_pages.FILES[name](), "run: python docs/machine_pages.py"


@pytest.mark.parametrize("name", ["llms.txt", "SKILL.md"])
def test_every_name_exists(name: str) -> None:
    text = (ROOT / "docs" / "_machines" / name).read_text(encoding="utf-8")
    used = set(re.findall(r"\bcf\.(\w+)", text))
    assert {"interpret", "same_concept"} <= used <= set(cf.__all__)
    of_answers = set(re.findall(r"\banswer\.(\w+)", text)) - {"json", "html"}
    assert all(hasattr(cf.Interpretation, word) for word in of_answers)


def test_every_keyword_of_the_advice_is_one_of_interpret() -> None:
    taken = set(inspect.signature(cf.interpret).parameters) | {"transform", "wrt"}
    advice = " ".join(machine_pages.MISTAKES)
    assert set(re.findall(r"`(\w+)=", advice)) <= taken


def test_every_page_of_the_map_exists_and_every_status_has_a_meaning() -> None:
    text = machine_pages.llms_text()
    pages = re.findall(r"\]\((\S+)\.html\)", text)
    assert len(pages) > 25
    assert all((ROOT / "docs" / f"{page}.md").exists() for page in pages)
    assert all(f"- `{status}`:" in text for status in machine_pages.STATUSES)
