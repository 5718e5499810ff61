"""Draw how often answers are right, by their confidence, from the stored figures of the suite
`verdict`:

    python bench/scripts/reliability_diagram.py docs/images/reliability.svg
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from closedform.report.plots import BLUE, GREY, finish
from closedform_bench.figures.figure_catalogue import FIGURE_PARTS, FIGURE_TABLES
from closedform_bench.figures.measurement_store import MeasurementStore
from closedform_bench.figures.runner import CHECKOUT
from closedform_bench.verdicts.suite import calibration

STYLE = {"svg.fonttype": "path", "svg.hashsalt": "closedform", "font.size": 9}


def main() -> None:
    """One panel for networks and their controls, one for fields without values."""
    store = MeasurementStore(CHECKOUT / "bench" / "measurements")
    parts = [FIGURE_PARTS[name] for name in FIGURE_TABLES["verdict"].parts]
    rows = [
        row
        for part in parts
        for measurement in store.latest_of(part)
        for row in measurement.result["problems"]
    ]
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(1, 2, figsize=(7.2, 3.5), layout="constrained", sharey=True)
        for panel, has_values, title in (
            (panels[0], True, "networks, with their values"),
            (panels[1], False, "fields of gradients alone"),
        ):
            draw(panel, [row for row in rows if row["has_values"] is has_values], title)
        figure.savefig(Path(sys.argv[1]), metadata={"Date": None})


def draw(ax: Axes, rows: list[dict[str, object]], title: str) -> None:
    """Ten bins of equal counts."""
    found = calibration(rows)
    sure, right, _ = zip(*found["bins"], strict=True)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1)
    ax.plot(sure, right, "o-", color=BLUE, markersize=5)
    ax.set(
        xlim=(-0.03, 1.03), ylim=(-0.03, 1.03),
        title=f"{title}\n{len(rows)} cases, calibration error {found['error']:.3f}",
    )  # fmt: skip
    ax.set_aspect("equal")
    finish(ax, "confidence", "share that is right")


if __name__ == "__main__":
    main()
