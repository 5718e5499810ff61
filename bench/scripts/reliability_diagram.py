"""Draw how often answers are right, by their confidence, from rows of the suite `verdict`:

python bench/scripts/reliability_diagram.py ROWS.json docs/images/reliability.svg
"""

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from closedform.report.plots import BLUE, GREY, finish
from closedform_bench.verdicts.suite import calibration

STYLE: Any = {"svg.fonttype": "path", "svg.hashsalt": "closedform", "font.size": 9}


def main() -> None:
    """One panel for networks and controls with values, one for fields without."""
    rows = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(1, 2, figsize=(7.2, 3.7), layout="constrained", sharey=True)
        for panel, has_values, title in zip(
            panels, (True, False), ("with values", "gradients alone"), strict=True
        ):
            draw(panel, [row for row in rows if row["has_values"] is has_values], title)
        figure.savefig(
            Path(sys.argv[2]), metadata={"Date": None}, bbox_inches="tight", pad_inches=0.1
        )


def draw(ax: Axes, rows: list[dict[str, Any]], title: str) -> None:
    """Bins of equal counts."""
    found = calibration(rows)
    sure, right, _ = zip(*found["bins"], strict=True)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1)
    ax.plot(sure, right, "o-", color=BLUE, markersize=5)
    ax.set_title(f"{title}: {len(rows)} cases, calibration error {found['error']:.3f}", fontsize=9)
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal")
    finish(ax, "confidence", "share that is right")


if __name__ == "__main__":
    main()
