"""The summary: a table of what records say at their top, with filters, without reading the records themselves."""

import json
import operator
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.errors import StorageError
from closedform.execution.parts import KEY, RECORD, one_type, table_of, top
from closedform.execution.store import ResultStore
from closedform.optional import require

if TYPE_CHECKING:
    import pandas
    import pyarrow

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le, ">=": operator.ge, "!=": operator.ne, "==": operator.eq, "=": operator.eq, "<": operator.lt,
    ">": operator.gt,
}  # fmt: skip
_CONDITION = re.compile(r"\s*(\w+)\s*(<=|>=|!=|==|=|<|>)\s*(.*?)\s*")


def read_table(store: ResultStore, where: str = "", *, columns: Sequence[str] | None = None) -> "pandas.DataFrame":
    """A table with a row for each result.

    Parameters
    ----------
    store : ResultStore
    where : str
        Conditions, such as ``"verdict = verified, complexity < 10"``; all must hold. A missing value meets none.
    columns : sequence of str, optional
        Which to read; all by default.

    Raises
    ------
    StorageError
        If a condition cannot be read, or speaks of a column that no record has.

    Examples
    --------
    >>> store = ResultStore("memory://table-example")
    >>> for complexity in (5, 12):
    ...     store.put(f"n{complexity}", {"verdict": "verified", "complexity": complexity})
    >>> read_table(store, "verdict = verified, complexity < 10")["key"].tolist()
    ['n5']
    """
    conditions = parse_conditions(where)
    needed = None if columns is None else list(dict.fromkeys([KEY, *columns, *(name for name, _, _ in conditions)]))
    table = _whole(store, needed)
    for name, symbol, text in conditions:
        if name not in table.columns:
            known = ", ".join(sorted(set(table.columns))) or "none: the store is empty"
            raise StorageError(f"There is no column {name!r} in the store; known: {known}.")
        values = table[name]
        kept = values.notna() & _OPERATORS[symbol](values, _comparable(text, values, name))
        table = table.loc[kept.astype(bool)]
    shown = [name for name in (KEY, *(table.columns if columns is None else columns)) if name in table.columns]
    return table.loc[:, list(dict.fromkeys(shown))].reset_index(drop=True)


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
            raise StorageError(f"{part.strip()!r} is no condition; write a column, one of <, <=, =, !=, >, >=, and a value.")
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
        raise StorageError(f"{name!r} holds numbers, and {text!r} is none; compare it with a number.") from error


def _whole(store: ResultStore, columns: Sequence[str] | None) -> "pandas.DataFrame":
    import pandas

    # Loose files first: what is gathered in between is then seen twice, and counted once.
    loose = list(store.loose_entries())
    names = store.parts.names()
    if not names:
        rows = {key: top(json.loads(text)) for key, text in loose}
        kept = sorted({name for row in rows.values() for name in row if columns is None or name in columns})
        # Lists of one type each, as in the Parquet files.
        filled = {name: one_type([row.get(name) for row in rows.values()]) for name in kept}
        return pandas.DataFrame({KEY: list(rows), **filled})
    tables = [table for name in names if (table := store.parts.read(name, columns)) is not None]
    if loose:
        table = table_of(loose)
        tables.append(table if columns is None else table.select([name for name in columns if name in table.column_names]))
    joined = _joined([table.drop_columns([RECORD]) if RECORD in table.column_names else table for table in tables])
    return joined.to_pandas().drop_duplicates(KEY, keep="last", ignore_index=True)


def _joined(tables: "list[pyarrow.Table]") -> "pyarrow.Table":
    """One table; a column of different types becomes one of numbers if it can, else one of text."""
    arrow = require("pyarrow", extra="cluster")
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
