"""The summary: a table of what records say at their top, with filters, without reading the records
themselves.
"""

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.basics.optional import require
from closedform.errors import StorageError
from closedform.sweeping.execution.parts import KEY, RECORD, columns_of, table_of
from closedform.sweeping.execution.store import ResultStore

if TYPE_CHECKING:
    import pandas
    import pyarrow

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le, ">=": operator.ge, "!=": operator.ne, "==": operator.eq, "=": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}  # fmt: skip
_PIECE, _ROW = "_piece", "_row"
_CONDITION = re.compile(r"\s*(\w+)\s*(<=|>=|!=|==|=|<|>)\s*(.*?)\s*")


def read_table(
    store: ResultStore, where: str = "", *, columns: Sequence[str] | None = None
) -> "pandas.DataFrame":
    """A table with a row for each result.

    Parameters
    ----------
    store : ResultStore
    where : str
        Conditions on columns, such as ``"verdict = verified, complexity < 10"``; all must hold. A
        missing value meets none.
    columns : sequence of str, optional
        Which to read; all by default.

    Examples
    --------
    >>> store = ResultStore("memory://table-example")
    >>> for complexity in (5, 12):
    ...     store.put(f"n{complexity}", {"verdict": "verified", "complexity": complexity})
    >>> read_table(store, "verdict = verified, complexity < 10")["key"].tolist()
    ['n5']
    """
    import pandas

    conditions = parse_conditions(where)
    # Loose files first: what is gathered in between is then seen twice, and counted once.
    loose = list(store.loose_entries())
    names = store.parts.names()
    table = (
        _from_parts(store, names, loose, conditions, columns)
        if names
        else _met(pandas.DataFrame(columns_of(loose)), conditions)
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
            columns = sorted(set(table.columns) - {_PIECE, _ROW})
            known = ", ".join(columns) or "none: the store is empty"
            raise StorageError(f"There is no column {name!r} in the store; known: {known}.")
        values = table[name]
        kept = values.notna() & _OPERATORS[symbol](values, _comparable(text, values, name))
        table = table.loc[kept.astype(bool)]
    return table


def parse_conditions(text: str) -> list[tuple[str, str, str]]:
    """Column, operator and value of each condition."""
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
    arrow = require("pyarrow", extra="cluster")
    fresh = table_of(loose) if loose else None

    def pieces(wanted: Sequence[str] | None) -> "Iterator[tuple[int, pyarrow.Table]]":
        """The files, oldest first, then the loose records; damaged ones are left out."""
        kept = None if wanted is None else list(dict.fromkeys([KEY, *wanted]))
        for number, name in enumerate([*names, None]):
            table = fresh if name is None else store.parts.read(name, kept)
            if table is not None:
                own = set(table.column_names if kept is None else kept) - {RECORD}
                yield number, table.select([name for name in table.column_names if name in own])

    def places(wanted: Sequence[str] | None) -> "pyarrow.Table":
        """Every row, with its piece and its place there."""
        return _stacked(
            [
                table.append_column(_PIECE, arrow.array(np.full(len(table), number))).append_column(
                    _ROW, arrow.array(np.arange(len(table)))
                )
                for number, table in pieces(wanted)
            ]
        )

    decisive = [name for name, _, _ in conditions]
    found = places(decisive)
    if not set(decisive) <= set(found.column_names):
        found = places(None)  # the error lists what is known
    chosen = _met(found.to_pandas().drop_duplicates(KEY, keep="last"), conditions)
    rows = dict(iter(chosen.groupby(_PIECE)[_ROW])) if len(chosen) else {}
    none = np.zeros(0, np.int64)
    return _stacked(
        [table.take(arrow.array(rows.get(number, none))) for number, table in pieces(columns)]
    ).to_pandas()


def _stacked(tables: "list[pyarrow.Table]") -> "pyarrow.Table":
    """One table; a column of different types becomes one of numbers if it can, else one of text."""
    arrow = require("pyarrow", extra="cluster")
    if not tables:
        return arrow.table({KEY: arrow.array([], arrow.string())})
    kinds: dict[str, set[Any]] = {}
    for table in tables:
        for field in table.schema:
            kinds.setdefault(field.name, set()).add(field.type)
    numbers = {arrow.int64(), arrow.float64()}
    mixed = {
        name: arrow.float64() if own <= numbers else arrow.string()
        for name, found in kinds.items()
        if len(own := found - {arrow.null()}) > 1
    }
    schemas = [
        arrow.schema([(field.name, mixed.get(field.name, field.type)) for field in table.schema])
        for table in tables
    ]
    cast = [table.cast(schema) for table, schema in zip(tables, schemas, strict=True)]
    return arrow.concat_tables(cast, promote_options="default")
