import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_diagram_shows_the_imports_of_today():
    """`python docs/architecture_picture.py` draws it anew."""
    code = "import sys; sys.path.insert(0, 'docs'); from architecture_picture import description; print(description())"
    text = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip()
    assert "pipeline uses networks" in text
    assert text in (ROOT / "docs" / "images" / "architecture.svg").read_text()
