import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_diagram_is_drawn_from_the_imports(tmp_path):
    code = (
        f"import sys; sys.path.insert(0, 'docs'); import architecture_picture as a; "
        f"a.draw(a.Path({str(tmp_path / 'a.svg')!r})); "
        f"print(len(a.rooms()), len(set(a.places(a.uses()).values())))"
    )
    drawn = subprocess.run(
        [sys.executable, "-c", code], check=True, cwd=ROOT, capture_output=True, text=True
    )
    # The report once stood on the answer: one box hid the other.
    n_rooms, n_places = map(int, drawn.stdout.split())
    assert n_places == n_rooms
    text = (tmp_path / "a.svg").read_text()
    assert "reading uses networks" in text
    assert "networks uses field" in text
    assert "field uses networks" not in text


def test_the_files_on_the_way_to_the_verdict_are_those_that_run():
    code = (
        "import sys; sys.path.insert(0, 'docs'); import files_that_run as f; "
        "paths = f.files_that_run(); print(*paths); print(f.by_room(paths), end='')"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], check=True, cwd=ROOT, capture_output=True, text=True
    )
    first, _, listed = ran.stdout.partition("\n")
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| `([a-z_/]+\.py)`", page, re.MULTILINE)
    assert len(told) > 10
    assert set(told) <= set(first.split())
    kept = (ROOT / "docs" / "files_that_run.txt").read_text(encoding="utf-8")
    assert kept == listed, "run: python docs/files_that_run.py --write"
