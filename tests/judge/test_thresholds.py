"""The numbers that decide about an answer stand in it."""

import ast
from pathlib import Path

import numpy as np
import pytest

import closedform as cf
from closedform.judge.thresholds import ROOMS, tolerances_in_force

PACKAGE = Path(cf.__file__).parent
ABOVE = {
    "report", "interpretation", "reading", "sweeping", "cli", "testing", "families", "laws"
}  # fmt: skip
"""Rooms whose numbers decide nothing about one answer, or that only put the others together."""


def test_every_room_with_tolerances_is_known():
    found = {file.parent.name for file in PACKAGE.glob("*/tolerances.py")}
    assert found - ABOVE <= set(ROOMS)
    assert {"field", "networks"} <= found


@pytest.mark.parametrize(
    "file", sorted(PACKAGE.glob("*/tolerances.py")), ids=lambda f: f.parent.name
)
def test_every_tolerance_says_why(file: Path):
    lines = file.read_text().splitlines()
    body = ast.parse(file.read_text()).body
    for statement, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(statement, ast.Assign):
            below = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            beside = "#" in lines[statement.lineno - 1]
            above = lines[statement.lineno - 2].startswith("#")
            assert below or beside or above, ast.unparse(statement)


def test_an_answer_keeps_them(tmp_path: Path):
    points = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    field = cf.GradientField.from_arrays(points, 2 * points, names=["x", "v"], tangent="none")
    answer = cf.verify("x**2 + v**2", field, rivals=None, rng=0)
    assert answer.provenance.tolerances == tolerances_in_force()
    assert answer.provenance.tolerances["field.AMBIGUOUS_GAP[1]"] == 6.0
    assert not any("TYPE_CHECKING" in name for name in answer.provenance.tolerances)
    answer.save(tmp_path / "answer.json")
    kept = cf.load_interpretation(tmp_path / "answer.json").provenance
    assert kept.tolerances == answer.provenance.tolerances
