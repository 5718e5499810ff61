"""Tables in Markdown."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column holds words and whose others hold numbers.

    Examples
    --------
    >>> print(table(("field", "seconds"), [("x", "1.0")]), end="")
    | field | seconds |
    | --- | ---: |
    | x | 1.0 |
    """
    ruler = ["---", *["---:"] * (len(head) - 1)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (head, ruler, *rows))
