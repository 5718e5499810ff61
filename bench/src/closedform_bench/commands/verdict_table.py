"""How the suite of verdicts is shown."""

from dataclasses import dataclass
from typing import Any

from closedform_bench.verdicts.suite import VerdictPlan, verdict_summary

TITLES = {
    "right_among_verified": "right among verified",
    "right_among_verified_networks": "right among verified, networks alone",
    "carried_verified_right": "right and verified, of networks that carry the truth",
    "carried_in_set": "right and in the set, of these",
    "ambiguous_in_set": "true form in the set of ambiguous answers",
    "controls_verified": "controls verified",
}


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
        for key, title in TITLES.items():
            share = result[key]
            low, high = (f"{100 * end:.0f}" for end in share["interval"])
            lines.append(f"{title}: {share['count']} of {share['of']} (95%: {low} to {high}%)")
        return "\n".join([*lines, f"median {result['median_seconds']} s"])
