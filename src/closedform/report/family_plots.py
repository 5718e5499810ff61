"""The constants of a family over its index."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from closedform.optional import require

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


def plot_constants(
    table: "pandas.DataFrame",
    constants: Sequence[str],
    curves: Mapping[str, Any],
    name: str,
    *,
    ax: "Axes | None" = None,
) -> "Axes":
    """Constants with two standard errors to either side, each labelled by its formula."""
    if ax is None:
        ax = require("matplotlib.pyplot", extra="report").figure().add_subplot()
    assert ax is not None
    index = table["index"].to_numpy(dtype=float)
    for constant in constants:
        curve = curves.get(constant)
        label = f"{constant}: {curve}" if curve is not None else constant
        errors = 2 * table[f"error of {constant}"].to_numpy(dtype=float)
        ax.errorbar(index, table[constant], yerr=errors, fmt=".", markersize=3, label=label)
    if (index > 0).all() and index.max() > 100 * index.min() > 0:
        ax.set_xscale("log")
    ax.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    ax.set_xlabel(name)
    ax.set_ylabel("coefficient")
    ax.legend(frameon=False)
    ax.margins(x=0.02)
    return ax
