"""The picture of what becomes of conserved quantities in a roll-out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from closedform.arrays import FloatArray
from closedform.report.errors import ReportError
from closedform.report.plots import finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST_LABEL = 40


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One quantity.

    Attributes
    ----------
    label : str
    times, mean : ndarray, shape (n_times,)
    band : ndarray, shape (2, n_times)
    """

    label: str
    times: FloatArray
    mean: FloatArray
    band: FloatArray


def plot_drift(lines: Sequence[Line], *, ax: "Axes | None" = None) -> "Axes":
    """Mean change of each quantity over time, with the band of nine of ten trajectories.

    Raises
    ------
    ReportError
        If there is nothing to draw.
    """
    if not lines:
        raise ReportError(
            "There is no drift to draw: no law was found, or there are neither trajectories nor a "
            "flow or simulator to follow."
        )
    ax = new_axes(ax)
    for line in lines:
        label = line.label if len(line.label) <= LONGEST_LABEL else f"{line.label[:37]}..."
        (drawn,) = ax.plot(line.times, line.mean, linewidth=1.2, label=label)
        ax.fill_between(line.times, *line.band, color=drawn.get_color(), alpha=0.2, linewidth=0)
    ax.axhline(0.0, color="black", linewidth=0.6)
    finish(ax, "time", "change (%)")
    ax.legend(frameon=False, fontsize=6.5, loc="best")
    return ax
