"""How the suites of formulas are shown."""

from dataclasses import dataclass
from typing import Any

from closedform_bench.formulas.suite import FormulaPlan, formula_summary


@dataclass(frozen=True, slots=True)
class FormulaTable:
    """Formulas that were to be found."""

    plan: FormulaPlan

    def header(self) -> str:
        """Titles of the columns."""
        return f"{'problem':<16}  inputs  right  verdict      seconds  found | truth"

    def line(self, row: dict[str, Any]) -> str:
        """A row."""
        right = "yes" if row["right"] else "no"
        text = (
            f"{row['name']:<16}  {row['inputs']:>6}  {right:<5}  {row['status']:<11}  "
            f"{row['seconds']:>7.2f}"
        )
        return f"{text}  {row['found']} | {row['truth']}"

    def summary(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
        """What ``--json`` prints."""
        return formula_summary(self.plan, rows)

    def last_line(self, result: dict[str, Any]) -> str:
        """The totals."""
        text = (
            f"right {result['right']} of {result['of']}; verified {result['verified']}, of "
            f"these right "
            f"{result['verified_right']}; median {result['median_seconds']} s"
        )
        if "learned" in result:
            text += (
                f"; of {result['learned']} networks that carry the truth "
                f"{result['learned_right']} are read right"
            )
        for kind, counts in result.get("kinds", {}).items():
            text += (
                f"\n  {kind}: right {counts['right']} of {counts['of']}; verified "
                f"{counts['verified']}, of these right {counts['verified_right']}"
            )
        return text
