"""The speed page, and its inner parts for developers, from the stored results."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill

from closedform_bench.speed.evolution_part import EVOLUTION
from closedform_bench.speed.growth_part import EVERY_SIZE, GROWTH
from closedform_bench.speed.kernel_part import KERNEL
from closedform_bench.speed.others_part import OTHERS
from closedform_bench.speed.part import Part, Record, read_record
from closedform_bench.speed.reading_part import READING
from closedform_bench.speed.terms_part import TERMS

PARTS: tuple[Part, ...] = (KERNEL, EVOLUTION, TERMS, READING, OTHERS, GROWTH)
"""In the order in which they are measured."""

OUTER: tuple[Part, ...] = (READING, OTHERS, GROWTH)
"""What users ask for."""

INNER: tuple[Part, ...] = (KERNEL, EVOLUTION, TERMS, EVERY_SIZE)
"""What developers ask for."""

WIDTH = 100
HEAD = """# Speed

For those who ask how long a reading takes, and why. Figures are processor seconds of one core, or
ratios of two measurements that took turns in one run, since other programs ran on the machine.

    python bench/scripts/speed_page.py --store runs --page docs/speed.md --inner bench/speed.md

measures what is not in the store yet and writes this page, and `bench/speed.md` with the kernel,
the engines and the memory.

"""

INNER_HEAD = """# Speed of the parts

For developers: how far the parts are from what they could reach, and every size of
[speed](../docs/speed.md), whose command writes this page too.

"""


def write_page(store: Path, folder: Path, parts: Sequence[Part] = OUTER, head: str = HEAD) -> str:
    """The page, from the records in a folder.

    Parameters
    ----------
    store : Path
    folder : Path
        Where the page will stand; pictures are written below it.
    parts : sequence of Part
    head : str
    """
    records = {part.name: read_record(store, part.name) for part in parts}
    known = {name: record for name, record in records.items() if record is not None}
    sections = [_section(part, known[part.name], folder) for part in parts if part.name in known]
    return head + _measured(known) + "".join(sections)


def _section(part: Part, record: Record, folder: Path) -> str:
    note = "*A short run: its figures mean little.*\n\n" if record.is_short else ""
    return f"\n## {part.title}\n\n{note}{wrapped(part.show(record.numbers, folder))}"


def wrapped(text: str) -> str:
    """Paragraphs in lines of at most 100 characters; tables and what is fenced stay as they are.

    Examples
    --------
    >>> wrapped("word " * 25 + "\\n\\n| a | b |\\n").count("\\n")
    4
    """
    return (
        "\n\n".join(
            block
            if block.startswith(("|", "```", "- "))
            else fill(block, WIDTH, break_long_words=False, break_on_hyphens=False)
            for block in text.rstrip("\n").split("\n\n")
        )
        + "\n"
    )


def _measured(records: Mapping[str, Record]) -> str:
    """When, where and with what: one line for all parts that agree."""
    groups: dict[str, list[str]] = {}
    for part, record in records.items():
        facts = dict(record.surroundings)
        date, processor = facts.pop("date"), facts.pop("processor")
        versions = ", ".join(
            f"{'Python' if name == 'python' else name} {version}" for name, version in facts.items()
        )
        groups.setdefault(f"{date} on one core of {processor}, with {versions}", []).append(part)
    if len(groups) == 1:
        return wrapped(f"Measured on {next(iter(groups))}.")
    return "".join(f"- {', '.join(names)}: {words}\n" for words, names in groups.items())
