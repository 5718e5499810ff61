"""The summary: a table of what records say at their top, with filters, without reading the records
themselves.
"""

import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.basics.optional import require
from closedform.errors import StorageError
from closedform.sweeping.execution.parts import KEY, RECORD, one_type, table_of, top
from closedform.sweeping.execution.store import ResultStore

if TYPE_CHECKING:
    import pandas
    import pyarrow

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le, ">=": operator.ge, "!=": operator.ne, "==": operator.eq, "=": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}  # fmt: skip
_CONDITION = re.compile(r"\s*(\w+)\s*(<=|>=|!=|==|=|<|>)\s*(.*?)\s*")


def read_table(
    store: ResultStore, where: str = "", *, columns: Sequence[str] | None = None
) -> "pandas.DataFrame":
    """A table with a row for each result.

    Parameters
    ----------
    store : ResultStore
    where : str
        Conditions, such as ``"verdict = verified, complexity < 10"``; all must hold. A missing
        value meets none.
    columns : sequence of str, optional
        Which to read; all by default.

    Raises
    ------
    StorageError
        If a condition cannot be read, or names a column that no record has.

    Examples
    --------
    >>> store = ResultStore("memory://table-example")
    >>> for complexity in (5, 12):
    ...     store.put(f"n{complexity}", {"verdict": "verified", "complexity": complexity})
    >>> read_table(store, "verdict = verified, complexity < 10")["key"].tolist()
    ['n5']
    """
    conditions = parse_conditions(where)
    # Loose files first: what is gathered in between is then seen twice, and counted once.
    loose = list(store.loose_entries())
    names = store.parts.names()
    table = (
        _from_parts(store, names, loose, conditions, columns)
        if names
        else _met(_from_texts(loose), conditions)
    )
    shown = [
        name
        for name in (KEY, *(table.columns if columns is None else columns))
        if name in table.columns
    ]
    # By key: the order of files and parts is that of a disk or of the clock.
    return table.loc[:, list(dict.fromkeys(shown))].sort_values(KEY).reset_index(drop=True)


def _met(
    table: "pandas.DataFrame", conditions: Sequence[tuple[str, str, str]]
) -> "pandas.DataFrame":
    """The rows that meet all conditions."""
    for name, symbol, text in conditions:
        if name not in table.columns:
            known = ", ".join(sorted(set(table.columns))) or "none: the store is empty"
            raise StorageError(f"There is no column {name!r} in the store; known: {known}.")
        values = table[name]
        kept = values.notna() & _OPERATORS[symbol](values, _comparable(text, values, name))
        table = table.loc[kept.astype(bool)]
    return table


def parse_conditions(text: str) -> list[tuple[str, str, str]]:
    """Column, operator and value of each condition.

    Examples
    --------
    >>> parse_conditions("verdict = verified, complexity < 10")
    [('verdict', '=', 'verified'), ('complexity', '<', '10')]
    """
    found = []
    for part in text.split(",") if text.strip() else []:
        match = _CONDITION.fullmatch(part)
        if match is None or not match[3]:
            raise StorageError(
                f"{part.strip()!r} is not a condition; write a column, one of <, <=, =, !=, >, "
                f">=, and a value."
            )
        found.append((match[1], match[2], match[3]))
    return found


def _comparable(text: str, values: Any, name: str) -> Any:
    """The value of a condition in the type of its column."""
    from pandas.api.types import is_numeric_dtype

    # A column of truth values with gaps is one of objects.
    if isinstance(next(iter(values.dropna()), None), bool | np.bool_):
        return text.lower() in ("true", "1", "yes")
    if not is_numeric_dtype(values):
        return text.strip("'\"")
    try:
        return float(text)
    except ValueError as error:
        raise StorageError(
            f"{name!r} holds numbers, and {text!r} is not a number; compare it with one."
        ) from error


def _from_texts(entries: Sequence[tuple[str, str]]) -> "pandas.DataFrame":
    """A table of records as JSON; columns are of one type each, as in Parquet files."""
    import pandas

    rows = {key: top(json.loads(text)) for key, text in entries}
    names = sorted({name for row in rows.values() for name in row})
    return pandas.DataFrame(
        {
            KEY: list(rows),
            **{name: one_type([row.get(name) for row in rows.values()]) for name in names},
        }
    )


def _from_parts(
    store: ResultStore,
    names: Sequence[str],
    loose: Sequence[tuple[str, str]],
    conditions: Sequence[tuple[str, str, str]],
    columns: Sequence[str] | None,
) -> "pandas.DataFrame":
    """Rows are chosen by the columns that decide, and only those are read whole: memory is for the
    answer, not the store.
    """
    pieces = _Pieces(store, names, loose)
    decisive = list(dict.fromkeys([KEY, *(name for name, _, _ in conditions)]))
    joined, places = _joined(pieces, decisive, None)
    unknown = [name for name in decisive if name not in joined.column_names]
    if unknown:
        # The error lists what is known.
        joined, places = _joined(pieces, None, None)
    table = joined.to_pandas()
    table["_piece"], table["_row"] = places
    chosen = _met(table.drop_duplicates(KEY, keep="last"), conditions)
    of_piece, row = chosen["_piece"].to_numpy(), chosen["_row"].to_numpy()
    rows = {int(piece): row[of_piece == piece] for piece in np.unique(of_piece)}
    wanted = None if columns is None else list(dict.fromkeys([KEY, *columns]))
    return _joined(pieces, wanted, rows)[0].to_pandas()


class _Pieces:
    """The Parquet files and the loose records of a store as tables, oldest first."""

    def __init__(
        self, store: ResultStore, names: Sequence[str], loose: Sequence[tuple[str, str]]
    ) -> None:
        self._store, self._names = store, names
        self._loose = table_of(loose) if loose else None

    def tables(self, columns: Sequence[str] | None) -> "Iterator[tuple[int, pyarrow.Table]]":
        """Each with its number; damaged ones are left out."""
        for number, name in enumerate(self._names):
            table = self._store.parts.read(name, columns)
            if table is not None:
                yield number, table
        if self._loose is not None:
            known = self._loose.column_names
            yield (
                len(self._names),
                self._loose.select(
                    known if columns is None else [n for n in columns if n in known]
                ),
            )


def _joined(
    pieces: _Pieces, columns: Sequence[str] | None, rows: "Mapping[int, np.ndarray] | None"
) -> "tuple[pyarrow.Table, tuple[np.ndarray, np.ndarray]]":
    """Chosen rows of all pieces as one table, with the piece and the row of each; without `rows`
    all of them.
    """
    arrow = require("pyarrow", extra="cluster")
    tables, numbers, places = [], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for number, table in pieces.tables(columns):
        kept = table.drop_columns([RECORD]) if RECORD in table.column_names else table
        chosen = np.arange(len(kept)) if rows is None else rows.get(number, np.zeros(0, np.int64))
        tables.append(kept if rows is None else kept.take(arrow.array(chosen)))
        numbers.append(np.full(len(chosen), number))
        places.append(chosen)
    return _stacked(tables), (np.concatenate(numbers), np.concatenate(places))


def _stacked(tables: "list[pyarrow.Table]") -> "pyarrow.Table":
    """One table; a column of different types becomes one of numbers if it can, else one of text."""
    arrow = require("pyarrow", extra="cluster")
    if not tables:
        return arrow.table({KEY: arrow.array([], arrow.string())})
    kinds: dict[str, set[Any]] = {}
    for table in tables:
        for field in table.schema:
            kinds.setdefault(field.name, set()).add(field.type)
    for name, found in kinds.items():
        own = found - {arrow.null()}
        if len(own) > 1:
            kind = arrow.float64() if own <= {arrow.int64(), arrow.float64()} else arrow.string()
            tables = [_cast(table, name, kind) for table in tables]
    return arrow.concat_tables(tables, promote_options="default")


def _cast(table: "pyarrow.Table", name: str, kind: Any) -> "pyarrow.Table":
    place = table.schema.get_field_index(name)
    return table if place < 0 else table.set_column(place, name, table.column(name).cast(kind))
