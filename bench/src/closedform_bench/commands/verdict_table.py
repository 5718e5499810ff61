"""How the suite of verdicts is shown."""

from dataclasses import dataclass
from typing import Any

from closedform_bench.verdicts.suite import SHARES, VerdictPlan, interval_text, verdict_summary


@dataclass(frozen=True, slots=True)
class VerdictTable:
    """Fields, networks and controls with what was said of them."""

    plan: VerdictPlan

    def header(self) -> str:
        """Titles of the columns."""
        return f"{'case':<20}  {'kind':<29}  right  verdict      seconds  found | truth"

    def line(self, row: dict[str, Any]) -> str:
        """A row."""
        right = {True: "yes", False: "no", None: "-"}[row["right"]]
        text = f"{row['name']:<20}  {row['kind']:<29}  {right:<5}  {row['status']:<11}"
        return f"{text}  {row['seconds']:>7.2f}  {row['found']} | {row['truth']}"

    def summary(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
        """What ``--json`` prints."""
        return verdict_summary(self.plan, rows)

    def last_line(self, result: dict[str, Any]) -> str:
        """The totals."""
        lines = []
        for key, title in SHARES.items():
            share = result[key]
            counted = f"{share['count']} of {share['of']}"
            lines.append(f"{title}: {counted} (95%: {interval_text(share)})")
        return "\n".join([*lines, f"median {result['median_seconds']} s"])
