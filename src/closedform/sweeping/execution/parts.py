"""Many results in one Parquet file: read by column, checked as a whole, never changed once
written.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from closedform.basics import limits
from closedform.basics.optional import require
from closedform.sweeping.execution.shared_folder import SharedFolder, checksum

if TYPE_CHECKING:
    import pyarrow

FOLDER = "parts"
KEY, RECORD = "key", "record"
ROWS_PER_GROUP = 2000
"""Records that a reader of a few columns holds in memory at a time."""

_NAME = re.compile(r"\d{20}-[0-9a-f]{32}\.parquet")

_KINDS = {"string", "int64", "double", "bool", "null"}
"""Of columns: those that `table_of` makes."""

Entry = tuple[str, str]
"""A key and its record as JSON."""


class Parts:
    """The Parquet files of a store. The name of each holds a number that counts up, so that later
    ones win whatever the clock says, and a checksum.
    """

    def __init__(self, folder: SharedFolder) -> None:
        self._folder = folder
        self._keys: dict[str, frozenset[str] | None] = {}

    def names(self) -> list[str]:
        """The files, oldest first."""
        return sorted(name for name in self._folder.names(FOLDER) if _NAME.fullmatch(name))

    def add(self, entries: Sequence[Entry]) -> str:
        """Write a file of entries."""
        arrow, parquet = _pyarrow()
        buffer = arrow.BufferOutputStream()
        # Sorted keys let a reader skip the groups that cannot hold one.
        parquet.write_table(
            table_of(sorted(entries)), buffer, compression="zstd", row_group_size=ROWS_PER_GROUP
        )
        content = buffer.getvalue().to_pybytes()
        last = max((int(name[:20]) for name in self.names()), default=0)
        name = f"{last + 1:020d}-{checksum(content)}.parquet"
        self._folder.write(f"{FOLDER}/{name}", content)
        return name

    def keys(self) -> dict[str, frozenset[str]]:
        """The keys of each sound file; only files that are new since the last call are read."""
        names = self.names()
        for name in names:
            if name not in self._keys:
                table = self.read(name, [KEY])
                self._keys[name] = (
                    None if table is None else frozenset(table.column(KEY).to_pylist())
                )
        return {name: keys for name in names if (keys := self._keys[name]) is not None}

    def damaged(self) -> list[str]:
        """Files whose checksum is wrong."""
        sound = self.keys()
        return [name for name in self.names() if name not in sound]

    def read(
        self, name: str, columns: Sequence[str] | None = None, key: str | None = None
    ) -> "pyarrow.Table | None":
        """Columns of a file, of all rows or of one key, or None where the file is damaged or
        gone.
        """
        arrow, parquet = _pyarrow()
        content = self._folder.read(f"{FOLDER}/{name}", limits.ARRAYS)
        if content is None or not name.endswith(f"-{checksum(content)}.parquet"):
            return None
        source = arrow.BufferReader(content)
        try:
            facts = parquet.read_metadata(source)
            # What a part claims to hold; one of ours holds half of it.
            groups = map(facts.row_group, range(facts.num_row_groups))
            if sum(group.total_byte_size for group in groups) > limits.ARRAYS:
                return None
            kinds = {field.name: str(field.type) for field in facts.schema.to_arrow_schema()}
            are_texts = kinds.get(KEY) == kinds.get(RECORD) == "string"
            if not are_texts or not set(kinds.values()) <= _KINDS:
                return None
            kept = None if columns is None else [column for column in columns if column in kinds]
            table = parquet.read_table(
                source, columns=kept, filters=None if key is None else [(KEY, "==", key)]
            )
            # Texts may not be UTF-8, which would show only later.
            table.validate(full=True)
        except Exception:  # it was never a part, and pyarrow has many ways to say so
            return None
        own = [table.column(column) for column in (KEY, RECORD) if column in table.column_names]
        return None if any(column.null_count for column in own) else table

    def records(self, name: str) -> Iterator[Entry]:
        """Keys and records of a file."""
        table = self.read(name, [KEY, RECORD])
        for batch in [] if table is None else table.to_batches(max_chunksize=ROWS_PER_GROUP):
            yield from zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True)

    def rows(self, name: str, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Keys, and some columns of a file as far as it has them."""
        table = self.read(name, [KEY, *columns])
        for batch in [] if table is None else table.to_batches(max_chunksize=ROWS_PER_GROUP):
            yield from ((row.pop(KEY), row) for row in batch.to_pylist())

    def find(self, key: str) -> str | None:
        """The latest record with a key."""
        for name, keys in reversed(self.keys().items()):
            table = self.read(name, [RECORD], key) if key in keys else None
            if table is not None and len(table):
                return table.column(RECORD)[0].as_py()
        return None


def table_of(entries: Sequence[Entry]) -> "pyarrow.Table":
    """A table with the records' own texts, and a column for each number or word at
    their top.
    """
    arrow = require("pyarrow", extra="cluster")
    columns = columns_of(entries)
    own = {KEY: columns.pop(KEY), RECORD: [text for _, text in entries]}
    return arrow.table(own | columns)


def columns_of(entries: Sequence[Entry]) -> dict[str, list[Any]]:
    """The keys, and what records hold at their top that can be columns, each of one type: numbers,
    words, and nothing.
    """
    columns: defaultdict[str, list[Any]] = defaultdict(lambda: [None] * len(entries))
    for row, (_, text) in enumerate(entries):
        for name, value in json.loads(text).items():
            if name not in (KEY, RECORD) and not isinstance(value, list | dict):
                columns[_cell(name)][row] = _cell(value)
    named = {name: one_type(columns[name]) for name in sorted(columns)}
    return {KEY: [key for key, _ in entries], **named}


def _cell(value: Any) -> Any:
    """What columns can hold: half a character as its code, and whole numbers of 64 bits; longer
    ones are text.
    """
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    is_long = isinstance(value, int) and not -(2**63) <= value < 2**63
    return str(value) if is_long else value


def one_type(values: list[Any]) -> list[Any]:
    """Values of one type: numbers of both kinds become floats, anything else that is mixed becomes
    text.
    """
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in values]
    if len(kinds) > 1:
        return [None if value is None else str(value) for value in values]
    return values


def _pyarrow() -> tuple[Any, Any]:
    return require("pyarrow", extra="cluster"), require("pyarrow.parquet", extra="cluster")
