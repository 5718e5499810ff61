"""The page on canonical forms says what the code does."""

import re
from pathlib import Path

import numpy as np
import pytest

from closedform import parse
from closedform.canonical.form import canonical_form

PAGE = Path(__file__).parents[2] / "docs" / "canonical.md"
ROW = re.compile(r"\| `([^`]+)` \| `([^`]+)` \| (-?[\d.]+) to ([\d.]+) \|")
ROWS = ROW.findall(PAGE.read_text(encoding="utf-8"))


def test_the_page_has_its_tables() -> None:
    assert len(ROWS) == 21


@pytest.mark.parametrize(("text", "form", "low", "high"), ROWS)
def test_rows(text: str, form: str, low: str, high: str) -> None:
    expression = parse(text)
    points = np.random.default_rng(0).uniform(float(low), float(high), (400, len(expression.names)))
    assert str(canonical_form(expression, points)) == form
