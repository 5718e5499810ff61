"""The store of results: one file per finished task, Parquet files into which these are gathered,
and the table of what records say at their top.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from closedform.basics import limits
from closedform.errors import StorageError
from closedform.sweeping.execution.parts import KEY, RECORD, Parts, columns_of, one_type
from closedform.sweeping.execution.shared_folder import SharedFolder

if TYPE_CHECKING:
    import pandas


RESULTS = "results"
SHARDS = 256
"""Folders over which files are spread: no folder holds more than a few thousand."""

ROWS_PER_PART, BYTES_PER_PART = 20_000, 2**27
"""A part is closed at whichever comes first; it is made in memory."""

MOST_NAMED = 5
"""Files that a sentence names; `Inventory` has all."""

_SHARD = re.compile(r"[0-9a-f]{2}")
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")


_FORMAT, SCHEMA = "closedform result", 1


@dataclass(frozen=True, slots=True)
class Inventory:
    """What a check of the whole store found."""

    sound: frozenset[str]  # keys whose results are whole
    damaged: tuple[str, ...]  # keys whose files are torn or overwritten, and have no other copy
    damaged_parts: tuple[str, ...]
    """Parquet files whose checksum is wrong; their keys are not known, so they count as missing."""
    strays: tuple[str, ...] = ()
    """Names of what no store writes, such as ``.DS_Store``; it is skipped."""

    def __str__(self) -> str:
        """What is not sound, in a sentence; empty if all is."""
        kinds = (
            ("damaged", self.damaged),
            ("damaged part", self.damaged_parts),
            ("stray", self.strays),
        )
        told = []
        for kind, names in kinds:
            few = ", ".join(names[:MOST_NAMED]) + (", ..." if len(names) > MOST_NAMED else "")
            told += [f"{len(names)} {kind} ({few})"] if names else []
        return f"Skipped in the store: {'; '.join(told)}." if told else ""


class ResultStore:
    """Results by key, on a disk or in a bucket; any number of processes on any machines may write
    and read at once.

    A result is one file that appears at once or not at all. A file that is truncated or overwritten
    is recognised by its checksum and counts as missing. There is no lock, so nothing has to be
    cleaned up after a crash.

    Parameters
    ----------
    path : str or Path
        A path of fsspec, such as ``results`` or ``s3://bucket/run``. A store that does not exist is
        started by the first `put`.
    **storage_options
        What the file system needs, such as credentials.

    Examples
    --------
    >>> store = ResultStore("memory://store-example")
    >>> store.put("a1", {"verdict": "verified", "complexity": 7})
    >>> store.get("a1"), store.get("b2"), "a1" in store
    ({'verdict': 'verified', 'complexity': 7}, None, True)
    """

    def __init__(self, path: str | Path, **storage_options: Any) -> None:
        self.folder = SharedFolder(path, **storage_options)
        self.path, self.options = str(path), storage_options
        self.parts = Parts(self.folder)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(ResultStore, self.path, **self.options), ()

    def __repr__(self) -> str:
        return f"ResultStore({self.path!r})"

    def check_exists(self) -> None:
        """Raise a StorageError if there is no store; its path is probably mistyped."""
        if not self.folder.names():
            raise StorageError(
                f"There is no store {self.path!r}; pass the path that `closedform sweep --store` "
                "had."
            )

    def put(self, key: str, record: dict[str, Any]) -> None:
        """Keep a record, which JSON can hold, under a key, which can be a file's name; an earlier
        one is replaced. Numbers and words at its top become columns of the summary.
        """
        self.folder.write(_file(key), encode(key, record))

    def get(self, key: str) -> dict[str, Any] | None:
        """The record of a key, or None where it is missing or damaged."""
        content = self.folder.read(_file(key), limits.TEXT)
        text = None if content is None else decode(key, content)
        if text is None:
            # It may have been gathered a moment ago.
            text = self.parts.find(key)
        return None if text is None else as_record(text)

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str):
            return False
        return self.folder.exists(_file(key)) or any(
            key in keys for keys in self.parts.keys().values()
        )

    def loose(self) -> list[str]:
        """Keys that have a file of their own, in order; no file is read."""
        return sorted(name[3:-5] for name in self._listed() if _is_result(name))

    def _listed(self) -> Iterator[str]:
        """Files of results, and what else is there, by folder and name."""
        for shard in self.folder.names(RESULTS):
            if not _SHARD.fullmatch(shard):
                yield shard
                continue
            yield from (f"{shard}/{name}" for name in self.folder.names(f"{RESULTS}/{shard}"))

    def keys(self) -> set[str]:
        """All keys, from names of files and columns of keys; no result is read, so damaged files
        count too.
        """
        # Loose ones first: what is gathered in between is then seen twice, never not at all.
        return set(self.loose()).union(*self.parts.keys().values())

    def records(self, columns: Sequence[str] | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
        """Keys and records, each key once, what is damaged left out; of gathered ones only the
        named numbers and words at their top, if some are named: nothing else is parsed then.
        """
        seen: set[str] = set()
        for key, record in self._latest_first(columns):
            if key not in seen:
                seen.add(key)
                yield key, record

    def _latest_first(self, columns: Sequence[str] | None) -> Iterator[tuple[str, dict[str, Any]]]:
        """Parts are listed when loose files have been read, as in `keys`."""
        for key, text in self.loose_entries():
            if (record := as_record(text)) is not None:
                yield key, record
        for name in reversed(self.parts.names()):
            if columns is not None:
                yield from self.parts.rows(name, columns)
                continue
            for key, text in self.parts.records(name):
                if (record := as_record(text)) is not None:
                    yield key, record

    def check(self) -> Inventory:
        """Read every loose file and the checksum of every Parquet file, and say what is sound."""
        loose = {key: text is not None for key, text in self._loose_entries(self.loose())}
        sound = {key for key, is_whole in loose.items() if is_whole}
        sound.update(*self.parts.keys().values())
        return Inventory(
            frozenset(sound),
            tuple(key for key in loose if key not in sound),
            tuple(self.parts.damaged()),
            tuple(sorted(name for name in self._listed() if not _is_result(name))),
        )

    def compact(self, *, minimum: int = 1) -> int:
        """Gather loose files into Parquet files, if there are at least so many; how many were
        gathered.

        Several processes may do so at once: what two of them gather is there twice and counts once.
        Damaged files stay. Needs pyarrow.
        """
        loose = self.loose()
        if len(loose) < minimum:
            return 0
        gathered, waiting, size = 0, [], 0
        for key, text in self._loose_entries(loose):
            if text is None:
                continue
            waiting.append((key, text))
            size += len(text)
            if len(waiting) >= ROWS_PER_PART or size >= BYTES_PER_PART:
                gathered += self._gather(waiting)
                waiting, size = [], 0
        return gathered + (self._gather(waiting) if waiting else 0)

    def compact_if_possible(self, *, minimum: int) -> int:
        """The same, where pyarrow is installed; otherwise every result keeps its file."""
        return self.compact(minimum=minimum) if find_spec("pyarrow") is not None else 0

    def loose_entries(self) -> Iterator[tuple[str, str]]:
        """Keys and records as JSON of the files that are not gathered."""
        return ((key, text) for key, text in self._loose_entries(self.loose()) if text is not None)

    def _loose_entries(self, keys: list[str]) -> Iterator[tuple[str, str | None]]:
        """Keys with records, None where a file is damaged; one that was gathered a moment ago is
        left to the parts.
        """
        names = {_file(key): key for key in keys}
        for name, content in self.folder.read_many(list(names), limits.TEXT):
            if content is not None:
                yield names[name], decode(names[name], content)

    def _gather(self, entries: list[tuple[str, str]]) -> int:
        self.parts.add(entries)
        # Whoever replaces a record just now writes the same one: a key stands for what the task is
        # made of.
        for key, _ in entries:
            self.folder.remove(_file(key))
        return len(entries)


def _is_result(name: str) -> bool:
    """Whether a folder and a name are those of a key."""
    key = name[3:-5]
    return _SAFE.fullmatch(key) is not None and _file(key) == f"{RESULTS}/{name}"


def _file(key: str) -> str:
    if not _SAFE.fullmatch(key):
        raise StorageError(
            f"The key {key!r} cannot be a file's name; use letters, digits, '-', '_' and "
            f"'.', at most 128."
        )
    return f"{RESULTS}/{crc32(key.encode()) % SHARDS:02x}/{key}.json"


def encode(key: str, record: dict[str, Any]) -> bytes:
    """The bytes of a file; what JSON does not know, or more than is read again, is refused."""
    try:
        text = json.dumps(record)
    except (TypeError, ValueError) as error:
        raise StorageError(
            f"The record of {key!r} cannot be written as JSON ({error}); use numbers, text "
            f"and lists."
        ) from error
    content = text.encode()
    # A line of a kilobyte stands in front.
    if len(content) > limits.TEXT - 1024:
        raise StorageError(
            f"The record of {key!r} has {len(content):,} bytes, and at most {limits.TEXT:,} are "
            "read; keep large data in a file of its own."
        )
    header = {
        "format": _FORMAT,
        "schema": SCHEMA,
        "key": key,
        "checksum": _checksum(key, SCHEMA, content),
    }
    return json.dumps(header).encode() + b"\n" + content + b"\n"


def decode(key: str, data: bytes) -> str | None:
    """The record's JSON, or None where the file is damaged: torn, overwritten, another's, too
    long, or not a record. What a later version wrote is refused.
    """
    if len(data) > limits.TEXT:
        return None
    first, _, rest = data.partition(b"\n")
    try:
        header = json.loads(first)
    except (ValueError, RecursionError):
        return None
    if not isinstance(header, dict) or header.get("format") != _FORMAT or not rest.endswith(b"\n"):
        return None
    content, schema = rest[:-1], header.get("schema")
    if header.get("key") != key or header.get("checksum") != _checksum(key, schema, content):
        return None
    if not isinstance(schema, int) or schema > SCHEMA:
        raise StorageError(
            f"The result {key!r} has schema {schema}, and this version reads up to {SCHEMA}; "
            f"upgrade closedform."
        )
    text = content.decode(errors="replace")
    return None if as_record(text) is None else text


def as_record(text: str) -> dict[str, Any] | None:
    """What a text holds, or None where that is not a record."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _checksum(key: str, schema: Any, content: bytes) -> str:
    return blake2b(f"{schema} {key}\n".encode() + content, digest_size=16).hexdigest()


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
