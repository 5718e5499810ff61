"""Tables in the pages of the docs, between markers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from closedform.basics.files import write_text
from closedform_bench.figures.measurement_store import MeasurementStore
from closedform_bench.figures.part import PROCESSOR, FigurePart, FigureTable, Measurement


@dataclass(frozen=True, slots=True)
class Pages:
    """What the pages are to say.

    Attributes
    ----------
    changed : dict of Path to str
        The new text of every page that is not as its measurements say.
    written : list of str
        Tables that are in their pages.
    remarks : list of str
        Which tables stay as they are, and why.
    """

    changed: dict[Path, str]
    written: list[str]
    remarks: list[str]

    def write(self) -> None:
        """Write the pages that change."""
        for page, text in self.changed.items():
            write_text(page, text)


def make_pages(
    tables: Sequence[FigureTable],
    parts: Mapping[str, FigurePart],
    store: MeasurementStore,
    docs: Path,
    *,
    partial: bool = False,
) -> Pages:
    """Put every table that is measured between the markers of its page.

    Parameters
    ----------
    tables : sequence of FigureTable
    parts : mapping of str to FigurePart
        By name.
    store : MeasurementStore
    docs : Path
        The folder of the pages.
    partial : bool
        Whether a table of which only some parts are measured is written, too; it says so.
    """
    old: dict[Path, str] = {}
    new: dict[Path, str] = {}
    pages = Pages({}, [], [])
    for table in tables:
        found = {name: store.latest_of(parts[name]) for name in table.parts}
        missing = [name for name, some in found.items() if not some]
        if len(missing) == len(found) or (missing and not partial):
            pages.remarks.append(f"{table.name} stays as it is: no results of {_list(missing)}")
            continue
        page = docs / table.page
        if page not in old:
            old[page] = new[page] = page.read_text(encoding="utf-8") if page.exists() else ""
        measurements = [one for some in found.values() for one in some]
        content = "\n\n".join(
            [table.tabulate(measurements).strip(), origin(table.name, measurements, missing)]
        )
        text = f"{content}\n" if table.is_whole_page else replace_marked(new[page], table, content)
        if text is None:
            pages.remarks.append(f"{table.name} has no markers in {table.page}")
            continue
        new[page] = text
        pages.written.append(table.name)
    pages.changed.update({page: text for page, text in new.items() if text != old[page]})
    return pages


def replace_marked(text: str, table: FigureTable, content: str) -> str | None:
    """The text with other content between a table's markers, or None if they are not there once,
    in order.

    Examples
    --------
    >>> table = FigureTable("a", "page.md", (), lambda _: "")
    >>> text = "before <!-- figures:a --> old <!-- /figures:a --> after"
    >>> replace_marked(text, table, "new")
    'before <!-- figures:a -->\\n\\nnew\\n\\n<!-- /figures:a --> after'
    """
    begin, end = f"<!-- figures:{table.name} -->", f"<!-- /figures:{table.name} -->"
    before, opened, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not opened or not closed or begin in rest or end in before + after:
        return None
    return f"{before}{begin}\n\n{content}\n\n{end}{after}"


def origin(name: str, measurements: Sequence[Measurement], missing: Sequence[str] = ()) -> str:
    """A line that says where a table comes from."""
    seeds = sorted({one.seed for one in measurements})
    words = ["closedform figures run", name, "--seed", str(seeds[0]) if len(seeds) == 1 else "SEED"]
    if any(PROCESSOR in one.command for one in measurements):
        words.append(PROCESSOR)
    codes = dict.fromkeys(
        f"{one.versions.get('closedform', 'unknown')} ({one.code or 'no commit'})"
        for one in measurements
    )
    days = sorted({one.date[:10] for one in measurements})
    line = (
        f"Measured by `{' '.join(words)}`: version {_list([*codes])}, "
        f"{'seed' if len(seeds) == 1 else 'seeds'} {_list([*map(str, seeds)])}, "
        f"{' to '.join(dict.fromkeys((days[0], days[-1])))}."
    )
    return line + (f" Not measured: {_list(missing)}." if missing else "")


def _list(words: Sequence[str]) -> str:
    """Words with commas.

    Examples
    --------
    >>> _list(["a", "b", "c"]), _list(["a"])
    ('a, b and c', 'a')
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
