"""Thumbnails of the gallery: the first picture that a notebook holds, or its title where it has
none.
"""

import json
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import Any

WIDTH, HEIGHT = 320, 200
"""Pixels of a thumbnail."""


def thumbnail(notebook: Path) -> str:
    """A thumbnail as SVG, which needs no other file."""
    content = json.loads(notebook.read_text(encoding="utf-8"))
    picture = next(_pictures(content), None)
    if picture is not None:
        data = "".join(picture).replace("\n", "")
        inner = (
            f'<image width="{WIDTH}" height="{HEIGHT}" preserveAspectRatio="xMidYMid meet" '
            f'href="data:image/png;base64,{data}"/>'
        )
    else:
        lines = wrap(_title(content), 24)
        inner = "".join(
            f'<text x="{WIDTH / 2}" y="{HEIGHT / 2 + 26 * (place - (len(lines) - 1) / 2)}" '
            f'font-family="sans-serif" font-size="20" fill="#0067A0" text-anchor="middle">'
            f"{escape(line)}</text>"
            for place, line in enumerate(lines)
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}"><rect width="100%" height="100%" fill="#fff"/>'
        f"{inner}</svg>"
    )


def _pictures(content: dict[str, Any]) -> Any:
    """Every picture among the outputs, as base64."""
    for cell in content["cells"]:
        for output in cell.get("outputs", ()):
            data = output.get("data", {}).get("image/png")
            if data:
                yield data


def _title(content: dict[str, Any]) -> str:
    """The first heading."""
    for cell in content["cells"]:
        for line in "".join(cell["source"]).splitlines():
            if cell["cell_type"] == "markdown" and line.startswith("# "):
                return line.removeprefix("# ")
    return "Notebook"
