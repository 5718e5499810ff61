"""Flows of vector fields as little pictures, for two inputs, and as formulas for more."""

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.errors import ReportError
from closedform.report.plots import BLUE, finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GRID = 25  # points to a side at which the field is known
_SIZE, _ARROWS = 180, 9  # of the page's picture: its side, and arrows to a side


def plot_flow(found: Any, generator: int, *, ax: "Axes | None" = None) -> "Axes":
    """Stream lines of one of the generators that `closedform.symmetries` found."""
    names, box, one = found.names, found.box, found.generators[generator]
    if len(names) != 2:
        raise ReportError(
            f"A flow of {len(names)} inputs cannot be drawn in a plane; print the generators, or "
            "pass a field of two inputs."
        )
    ax = new_axes(ax)
    x, y = (np.linspace(low, high, _GRID) for low, high in box.T)
    places = np.stack(np.meshgrid(x, y), axis=-1)
    moves = places @ one.matrix[:, :-1].T + one.matrix[:, -1]
    look = {"color": BLUE, "linewidth": 0.8, "arrowsize": 0.7, "density": 0.6}
    ax.streamplot(x, y, moves[..., 0], moves[..., 1], **look)
    ax.set_xlim(*box[:, 0])
    ax.set_ylim(*box[:, 1])
    ax.set_title(str(one), fontsize=8)
    finish(ax, names[0], names[1])
    return ax


def symmetries_html(found: Any) -> str:
    """What a notebook shows: each generator as a formula, and for two inputs its flow."""
    parts = [f"<p>{escape(found.headline)}</p>"]
    for one in found.generators:
        picture = flow_svg(one.matrix, found.box) if len(found.names) == 2 else ""
        said = f"<code>{escape(str(one))}</code> {escape(str(one.broken))}"
        parts.append(f"<div>{picture}<div>{said}</div></div>")
    return "".join([*parts, *(f"<p>{escape(note)}</p>" for note in found.notes)])


def flow_svg(matrix: FloatArray, box: FloatArray) -> str:
    """A field of two inputs as arrows of one length, in the colours of the page."""
    shares = (np.arange(_ARROWS) + 0.5) / _ARROWS
    places = np.stack(np.meshgrid(shares, shares), axis=-1).reshape(-1, 2)
    span = np.where(box[1] > box[0], box[1] - box[0], 1.0)
    moves = ((box[0] + places * span) @ matrix[:, :-1].T + matrix[:, -1]) / span
    lengths = np.linalg.norm(moves, axis=1, keepdims=True)
    steps = moves / np.where(lengths > 0, lengths, 1.0) * (0.35 / _ARROWS)
    lines = []
    for (x, y), (right, up) in zip(places * _SIZE, steps * _SIZE, strict=True):
        top = _SIZE - y
        lines.append(
            f'<line x1="{x - right:.1f}" y1="{top + up:.1f}" x2="{x + right:.1f}" '
            f'y2="{top - up:.1f}"/><circle cx="{x + right:.1f}" cy="{top - up:.1f}" r="1.6"/>'
        )
    return (
        f'<svg viewBox="0 0 {_SIZE} {_SIZE}" width="{_SIZE}" height="{_SIZE}" role="img" '
        f'aria-label="flow" stroke="currentColor" fill="currentColor">{"".join(lines)}</svg>'
    )
