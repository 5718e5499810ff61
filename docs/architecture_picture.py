"""Draw the rooms of the package and who uses whom, from the code's own imports: ``python
docs/architecture_picture.py``.

A room stands above all that it uses. An arrow is drawn from a room to what it uses, unless the same
is said by a longer way through other rooms. That nothing reaches up is written in pyproject.toml
and enforced by import-linter.
"""

import re
import tomllib
from pathlib import Path

import grimp

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "images" / "architecture.svg"
SMALL = "small files"
FLOW = ("networks", "field", "searching", "judge", "interpretation", "report")
"""The way of the data, drawn as such."""

COLUMNS = {
    "networks": -2, "canonical": -1, "sweeping": 1, "report": 2, "testing": 1, "example": -3,
    "cli": 0, "reading": 0, "interpretation": 2, "judge": 0, "searching": 0,
    "field": 0, "expressions": 0, SMALL: 0,
}  # fmt: skip

BENDS = {("reading", "networks"): 0.42}
"""Of arrows that would run behind a room that has nothing to do with them."""

WHAT = {
    "cli": "commands", "testing": "contracts for plug-ins", "example": "a network to try",
    "reading": "search, select, verify", "interpretation": "the answer",
    "report": "pages, pictures", "judge": "choice and verdict",
    "searching": "engines, the front",
    "canonical": "one formula per concept", "networks": "models to gradients",
    "field": "points and directions", "expressions": "trees, operators, units",
    "sweeping": "whole layers", SMALL: "files, errors, progress, ...",
}  # fmt: skip


def layers() -> list[list[str]]:
    """The modules of each layer, from the top."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
        "contracts"
    ]
    rows = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [
        [name.strip().removeprefix("closedform.") for name in re.split(r"[|:]", row)]
        for row in rows
    ]


def rooms() -> set[str]:
    """The folders, and the files that are no small ones."""
    own = layers()
    small = {module for row in own[-3:] for module in row}
    return {SMALL if module in small else module for row in own for module in row}


def uses() -> dict[str, set[str]]:
    """Which rooms each room imports from."""
    graph = grimp.build_graph("closedform")
    known = rooms()
    found: dict[str, set[str]] = {room: set() for room in known}
    for module in graph.modules:
        for other in graph.find_modules_directly_imported_by(module):
            first, second = _room(module, known), _room(other, known)
            if first in known and second in known and first != second:
                found[first].add(second)
    return found


def _room(module: str, known: set[str]) -> str:
    if module == "closedform.__main__":  # where the command line starts
        return "cli"
    name = module.split(".")[1] if "." in module else ""
    return name if name in known or not name else SMALL


def direct(found: dict[str, set[str]]) -> list[tuple[str, str]]:
    """The uses that no longer way says already."""

    def reach(room: str) -> set[str]:
        return {room}.union(*(reach(other) for other in found[room]))

    return sorted(
        (room, other)
        for room, others in found.items()
        for other in others
        if not any(other in reach(between) for between in others - {other})
    )


def heights(found: dict[str, set[str]]) -> dict[str, int]:
    """How many rooms deep each stands."""

    def height(room: str) -> int:
        return max((1 + height(other) for other in found[room]), default=0)

    return {room: height(room) for room in found}


def places(found: dict[str, set[str]]) -> dict[str, tuple[float, float]]:
    """The centre of each room's box."""
    level = heights(found)
    return {room: (COLUMNS.get(room, 1) * 2.25, 1.12 * level[room]) for room in found}


def description() -> str:
    """All arrows as text; the picture carries it for those who cannot see it."""
    return "; ".join(f"{first} uses {second}" for first, second in direct(uses()))


def draw(target: Path = PICTURE) -> None:
    """Write the picture."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.patches import FancyBboxPatch

    from closedform.report.plots import BLACK, BLUE, GREY, LIGHT

    width, height = 1.9, 0.62
    found = uses()
    level = heights(found)
    place = places(found)
    with plt.rc_context({"svg.fonttype": "path", "svg.hashsalt": "closedform"}):
        figure, ax = plt.subplots(
            figsize=(9.0, 0.82 * (max(level.values()) + 1)), layout="constrained"
        )
        for first, second in direct(found):
            (x, y), (other_x, other_y) = place[first], place[second]
            past = x == other_x and abs(other_y - y) > 1.3
            bend = BENDS.get((first, second), 0.42 if past else 0.0)
            style = {
                "arrowstyle": "-|>",
                "color": GREY,
                "linewidth": 0.9,
                "connectionstyle": f"arc3,rad={bend}",
            }
            ax.annotate("", (other_x, other_y + height / 2), (x, y - height / 2), arrowprops=style)
        for room, (x, y) in place.items():
            flows = room in FLOW
            box = FancyBboxPatch(
                (x - width / 2, y - height / 2), width, height,
                boxstyle="round,pad=0.02,rounding_size=0.1",
                facecolor="#E8F2F9" if flows else "white", edgecolor=BLUE if flows else LIGHT,
                linewidth=1.2, zorder=3,
            )  # fmt: skip
            ax.add_patch(box)
            ax.text(
                x,
                y + 0.1,
                room,
                ha="center",
                va="center",
                fontsize=9.5,
                weight="bold",
                color=BLACK,
                zorder=4,
            )
            ax.text(
                x,
                y - 0.15,
                WHAT.get(room, ""),
                ha="center",
                va="center",
                fontsize=7,
                color="#4A5560",
                zorder=4,
            )
        across = [x for x, _ in place.values()]
        ax.set_xlim(min(across) - width, max(across) + width)
        ax.set_ylim(-0.5, 1.12 * max(level.values()) + 0.5)
        ax.axis("off")
        figure.savefig(target, metadata={"Date": None, "Description": description()})
        plt.close(figure)


if __name__ == "__main__":
    draw()
    print(PICTURE.name, PICTURE.stat().st_size)
