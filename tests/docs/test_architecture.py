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
