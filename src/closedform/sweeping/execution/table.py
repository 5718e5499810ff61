"""The summary: a table of what records say at their top, with filters, without reading the records
themselves.
"""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from closedform.errors import StorageError
from closedform.sweeping.execution.parts import KEY, RECORD, columns_of, one_type
from closedform.sweeping.execution.store import ResultStore

if TYPE_CHECKING:
    import pandas


def read_table(
    store: ResultStore, where: str = "", *, columns: Sequence[str] | None = None
) -> "pandas.DataFrame":
    """A table with a row for each result.

    Parameters
    ----------
    store : ResultStore
    where : str
        A condition on columns as `pandas.DataFrame.query` takes it, such as
        ``"verdict == 'verified' and complexity < 10"``.
    columns : sequence of str, optional
        Which to read; all by default.

    Examples
    --------
    >>> store = ResultStore("memory://table-example")
    >>> for complexity in (5, 12):
    ...     store.put(f"n{complexity}", {"verdict": "verified", "complexity": complexity})
    >>> read_table(store, "verdict == 'verified' and complexity < 10")["key"].tolist()
    ['n5']
    """
    import pandas
    from pandas.errors import UndefinedVariableError

    known = {KEY: None}
    seen: set[str] = set()
    kept, unknown = [], None
    # File by file, so that memory is for the answer and not for the store.
    for frame in _newest_first(store, where, columns):
        known |= dict.fromkeys(frame.columns)
        fresh = frame.loc[[key not in seen for key in frame[KEY]]]
        seen.update(fresh[KEY])
        try:
            kept.append(fresh.query(where, engine="python") if where.strip() else fresh)
        except UndefinedVariableError as error:  # another file may have the column
            unknown = error
        except Exception as error:  # of the condition's syntax, or of types that do not compare
            raise _refused(where, error, list(known)) from error
    if unknown is not None and not kept:
        raise _refused(where, unknown, list(known))
    found = [frame.dropna(axis=1, how="all") for frame in kept if len(frame)]
    table = pandas.concat(found) if found else pandas.DataFrame(columns=[KEY])
    for name in [name for name, kind in table.dtypes.items() if kind.kind == "O"]:
        missing = table[name].isna()
        table[name] = one_type(
            [None if m else v for v, m in zip(table[name], missing, strict=True)]
        )
    wanted = known if columns is None else [KEY, *(name for name in columns if name in known)]
    # By key: the order of files and parts is that of a disk or of the clock.
    listed = table.reindex(columns=list(dict.fromkeys(wanted)))
    return listed.sort_values(KEY).reset_index(drop=True)


def _newest_first(
    store: ResultStore, where: str, columns: Sequence[str] | None
) -> "Iterator[pandas.DataFrame]":
    """The loose records, then the files, of which damaged ones are left out. What is gathered in
    between is seen twice, and counted once.
    """
    import pandas

    yield pandas.DataFrame(columns_of(list(store.loose_entries())))
    wanted = None if columns is None else [KEY, *columns, *re.findall(r"\w+", where)]
    for name in reversed(store.parts.names()):
        table = store.parts.read(name, wanted)
        if table is not None:
            yield table.to_pandas().drop(columns=RECORD, errors="ignore")


def _refused(where: str, error: Exception, known: Sequence[str]) -> StorageError:
    return StorageError(
        f"The condition {where!r} cannot be used ({error}); write it as for "
        f"pandas.DataFrame.query: verdict == 'verified' and complexity < 10. Columns: "
        f"{', '.join(known)}."
    )
