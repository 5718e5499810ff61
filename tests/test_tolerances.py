"""Every number has one name, and every name one number."""

import ast
from collections import Counter
from pathlib import Path

import pytest

import closedform

FILES = sorted(Path(closedform.__file__).parent.rglob("tolerances.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_no_number_is_defined_twice(file: Path) -> None:
    """A second FLAT took the place of the first, and saturated neurons lost their gradients."""
    lines = ast.parse(file.read_text(encoding="utf-8")).body
    targets = [line.targets[0] for line in lines if isinstance(line, ast.Assign)]
    names = Counter(target.id for target in targets if isinstance(target, ast.Name))
    assert names
    assert [name for name, count in names.items() if count > 1] == []
