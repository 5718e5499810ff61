"""Sheets of pictures for a row of experiments, and what a latent is worth against a known
concept.
"""

from collections.abc import Callable, Sequence
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from closedform.arrays import FloatArray
from closedform.basics.files import replacing
from closedform.basics.optional import require
from closedform.errors import ReportError
from closedform.report.plots import BLUE, ORANGE, finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANEL = (2.5, 2.1)
"""Inches."""

DOTS = 110
"""Per inch, of bitmaps."""

MOST_POINTS = 1500
"""More would hide each other in a panel of that size."""

Panel = tuple[str, Callable[["Axes"], object]]
"""A title, and what draws below it."""


def plot_correlation(
    concept: FloatArray,
    latent: FloatArray,
    *,
    other: FloatArray | None = None,
    label: str = "direct regression",
    ax: "Axes | None" = None,
) -> "Axes":
    """A latent against a known concept, and another prediction of the latent over it.

    Parameters
    ----------
    concept, latent : ndarray, shape (n_points,)
    other : ndarray, shape (n_points,), optional
        A prediction of the latent at the same points.
    label : str
        Of that prediction.
    ax : Axes, optional

    Raises
    ------
    ReportError
        If fewer than two points are finite.
    """
    good = np.isfinite(concept) & np.isfinite(latent)
    if good.sum() < 2:
        raise ReportError(
            f"{good.sum()} points have finite values of concept and latent; at least 2 are needed."
        )
    chosen = np.flatnonzero(good)[:: ceil(good.sum() / MOST_POINTS)]
    ax = new_axes(ax)
    x, y = concept[chosen], latent[chosen]
    ax.scatter(x, y, s=5, color=BLUE, alpha=0.35, linewidths=0, rasterized=True, label="latent")
    low, high = float(y.min()), float(y.max())
    if other is not None:
        # Points, no line: what is predicted need not be a function of the concept.
        ax.scatter(
            x,
            other[chosen],
            s=3,
            color=ORANGE,
            alpha=0.6,
            linewidths=0,
            rasterized=True,
            label=label,
        )
        ax.legend(
            frameon=False,
            fontsize=6.5,
            loc="best",
            handletextpad=0.1,
            borderpad=0.1,
            markerscale=2.5,
        )
    margin = 0.05 * (high - low)
    ax.set_ylim(low - margin, high + margin)
    finish(ax, "true concept $g$", "latent $f$")
    return ax


def write_sheet(panels: Sequence[Panel], path: Path, *, columns: int = 4) -> None:
    """Draw panels side by side and row by row, and write them to a file.

    Raises
    ------
    ReportError
        If there are none.
    """
    if not panels:
        raise ReportError("There is no panel to draw; pass at least one.")
    pyplot = require("matplotlib.pyplot", extra="report")
    width = min(columns, len(panels))
    height = ceil(len(panels) / width)
    figure, grid = pyplot.subplots(
        height,
        width,
        figsize=(PANEL[0] * width, PANEL[1] * height),
        layout="constrained",
        squeeze=False,
    )
    try:
        for ax in grid.flat[len(panels) :]:
            ax.set_visible(False)
        for ax, (title, draw) in zip(grid.flat, panels, strict=False):
            draw(ax)
            ax.set_title(title, fontsize=7.5, loc="left")
            ax.tick_params(axis="x", labelsize=6.5)
        with replacing(path) as file:
            figure.savefig(file, dpi=DOTS, format=path.suffix.lstrip("."))
    finally:
        pyplot.close(figure)
