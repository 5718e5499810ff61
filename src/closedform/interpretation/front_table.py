"""The front as a tuple that can be looked at: a table as text, and one as HTML."""

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from closedform.interpretation.digits import formula_text
from closedform.shown import shown
from closedform.units.sentences import unit_of

if TYPE_CHECKING:
    from closedform.interpretation.answer import FrontEntry
    from closedform.units.units import Units

_HEADS = ("complexity", "misalignment", "formula")


class FrontTable(tuple["FrontEntry", ...]):
    """Entries of a front, simplest first; a tuple in everything but how it shows itself."""

    units: "Units | None" = None

    @classmethod
    def of(cls, entries: Iterable["FrontEntry"], units: "Units | None") -> "FrontTable":
        """Entries whose units are shown where those of the inputs are known."""
        table = cls(entries)
        table.units = units
        return table

    def __repr__(self) -> str:
        """A line for each formula."""
        if not self:
            return "(no candidates)"
        lines = [f"{_HEADS[0]}  {_HEADS[1]}  {_HEADS[2]}"]
        lines += [f"{size:>10}  {value:>12}  {formula}" for size, value, formula in self._rows()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>"
            + "".join(
                f'<td style="text-align:left;white-space:nowrap">{escape(cell)}</td>'
                for cell in row
            )
            + "</tr>"
            for row in self._rows()
        )
        heads = "".join(f'<th style="text-align:left">{head}</th>' for head in _HEADS)
        table = f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        # A formula that is wider than a phone scrolls by itself, and the page does not.
        return f'<div style="overflow-x:auto">{table}</div>'

    def _rows(self) -> list[tuple[str, str, str]]:
        return [
            (
                str(entry.complexity),
                f"{entry.misalignment:.2e}",
                shown(formula_text(entry.expression, entry.errors)) + self._unit(entry),
            )
            for entry in self
        ]

    def _unit(self, entry: "FrontEntry") -> str:
        unit = None if self.units is None else unit_of(entry.expression, self.units)
        return "" if unit is None else f"  [{unit}]"
