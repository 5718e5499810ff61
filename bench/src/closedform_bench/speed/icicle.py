"""A picture of who called whom, and for how long."""

from pathlib import Path
from typing import Any

NARROWEST = 0.035
"""Share below which a box has no label."""

PASSED_ON = 0.95
"""A function that spends this share in one function that it calls shares a box with it."""

DEEPEST = 9
_STYLE: Any = {"svg.fonttype": "path", "svg.hashsalt": "closedform", "font.size": 6.5}
_ROW, _WIDTH = 0.26, 9.6


def boxes(tree: dict[str, Any]) -> list[tuple[float, int, float, str]]:
    """Left edge, depth, width and label of every box below the root; widths are shares.

    Examples
    --------
    >>> leaf = {"name": "b", "seconds": 1.0, "children": []}
    >>> boxes({"name": "all", "seconds": 4.0, "children": [leaf | {"seconds": 3.0}, leaf]})
    [(0.0, 0, 0.75, 'b'), (0.75, 0, 0.25, 'b')]
    """
    total = tree["seconds"]
    found: list[tuple[float, int, float, str]] = []

    def place(node: dict[str, Any], left: float, depth: int) -> None:
        for child in node["children"]:
            width = child["seconds"] / total
            last = _end_of_chain(child)
            chain = "" if last is child else f" … {_short(last['name'])}"
            found.append((left, depth, width, _short(child["name"]) + chain))
            place(last, left, depth + 1)
            left += width

    if total > 0:
        place(tree, 0.0, 0)
    return [box for box in found if box[1] < DEEPEST]


def _end_of_chain(node: dict[str, Any]) -> dict[str, Any]:
    """Where a call that does little but pass on ends."""
    while node["children"] and node["children"][0]["seconds"] >= PASSED_ON * node["seconds"]:
        node = node["children"][0]
    return node


def _short(name: str) -> str:
    return name.rpartition("/")[2]


def draw_icicle(tree: dict[str, Any], file: Path) -> None:
    """Write the picture as SVG."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    found = boxes(tree)
    depth = max((box[1] for box in found), default=0) + 1
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(_WIDTH, _ROW * depth), layout="constrained")
        ax = figure.add_subplot()
        ax.set_axis_off()
        ax.set(xlim=(0, 1), ylim=(depth, 0))
        colours = mpl.colormaps["YlOrBr"]
        for left, level, width, name in found:
            colour = colours(0.12 + 0.35 * min(width, 1.0))
            ax.broken_barh(
                [(left, width)], (level + 0.04, 0.92), facecolor=colour, edgecolor="white", lw=0.5
            )
            if width >= NARROWEST:
                room = int(width * 165)
                label = f"{width:.0%} {name}"
                ax.text(
                    left + 0.003, level + 0.5, label[:room], va="center", color="black",
                    clip_on=True,
                )  # fmt: skip
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, metadata={"Date": None})
