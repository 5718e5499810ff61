"""A folder on a disk or in a bucket, whose files appear at once or not at all."""

import os
import stat
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from closedform.basics.files import check_folder, path_fault, write_bytes
from closedform.errors import SaveError, StorageError

READ_AT_ONCE = 512
"""Files that are asked for together: buckets answer them side by side."""

PARTIAL = "partial"
"""Where files are written before they get their name, on the same disk."""


def checksum(content: bytes) -> str:
    """What is in the names of files that never change."""
    return blake2b(content, digest_size=16).hexdigest()


class SharedFolder:
    """Files by relative name under a path of fsspec: ``results``, ``/data/run``,
    ``s3://bucket/run``, ``memory://run``; storage options are what the file system needs.

    Examples
    --------
    >>> folder = SharedFolder("memory://example")
    >>> folder.write("a/b.txt", b"text")
    >>> folder.read("a/b.txt"), folder.names("a"), folder.read("missing")
    (b'text', ['b.txt'], None)
    """

    def __init__(self, path: str | Path, **storage_options: Any) -> None:
        from fsspec.core import url_to_fs

        fault = path_fault(path)
        if fault is not None:
            raise StorageError(f"The path {path!r:.200} cannot be a store: {fault}.")
        try:
            files, root = url_to_fs(str(path), **storage_options)
        except Exception as error:  # file systems of other packages raise what they like
            raise StorageError(f"The path {str(path)!r} cannot be opened: {error}") from error
        self._files: Any = files
        self._root = root.rstrip("/")
        self._is_local = "file" in (
            files.protocol if isinstance(files.protocol, tuple) else (files.protocol,)
        )
        self._made: set[str] = set()
        self.path = str(path)

    def locate(self, name: str) -> str:
        """The full path of a file on its file system."""
        return f"{self._root}/{name}"

    def names(self, folder: str = "") -> list[str]:
        """What is in a folder, without reading anything; nothing where there is no such folder."""
        place = self.locate(folder).rstrip("/")
        try:
            if self._is_local:
                return os.listdir(place)
            self._files.invalidate_cache(place)
            return [
                str(found).rstrip("/").rsplit("/", 1)[-1]
                for found in self._files.ls(place, detail=False)
            ]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except Exception as error:  # file systems of other packages raise what they like
            said = str(error) or type(error).__name__
            raise StorageError(f"The path {self.path!r} cannot be listed: {said}") from error

    def exists(self, name: str) -> bool:
        """Whether there is such a file."""
        place = self.locate(name)
        return os.path.exists(place) if self._is_local else bool(self._files.exists(place))

    def read(self, name: str, most: int | None = None) -> bytes | None:
        """The content of a file, or None where there is none; at most so many bytes and one, which
        tells that it is too long.
        """
        place, end = self.locate(name), None if most is None else most + 1
        try:
            if not self._is_local:
                return bytes(self._files.cat_file(place, end=end))
            # Of a pipe nobody writes to, reading would never end; it holds nothing of ours.
            if not stat.S_ISREG(os.stat(place).st_mode):
                return b""
            with open(place, "rb") as file:
                return file.read(end)
        except FileNotFoundError:
            return None

    def read_range(self, name: str, start: int, stop: int) -> bytes | None:
        """A part of a file, or None where there is none."""
        if self._is_local and not os.path.isfile(self.locate(name)):
            return None
        try:
            return bytes(self._files.cat_file(self.locate(name), start=start, end=stop))
        except FileNotFoundError:
            return None

    def read_many(self, names: Sequence[str], most: int) -> Iterator[tuple[str, bytes | None]]:
        """Names with contents as of `read`, side by side where the file system can."""
        if self._is_local:
            yield from ((name, self.read(name, most)) for name in names)
            return
        for start in range(0, len(names), READ_AT_ONCE):
            places = {self.locate(name): name for name in names[start : start + READ_AT_ONCE]}
            found = self._files.cat(list(places), on_error="return")
            for place, name in places.items():
                content = found.get(place, FileNotFoundError())
                if isinstance(content, Exception) and not isinstance(content, FileNotFoundError):
                    raise content
                yield name, None if isinstance(content, Exception) else bytes(content)

    def write(self, name: str, content: bytes) -> None:
        """Put a file in its place; whoever looks sees the old one or the new one, also after a
        crash.

        Buckets do that by themselves; on a disk the file is written elsewhere and renamed. Nothing
        is flushed to the platter: what a power cut tears is found by its checksum.
        """
        if not self._is_local:
            try:
                self._files.pipe_file(self.locate(name), content)
            except Exception as error:
                said = str(error) or type(error).__name__
                raise SaveError(f"{self.path!r} cannot be written: {said}") from error
            return
        try:
            self._place(name, content)
        except (SaveError, FileNotFoundError):
            folders = (PARTIAL, name.rpartition("/")[0])
            if all(os.path.isdir(self.locate(folder)) for folder in folders):
                raise
            # Somebody removed a folder that was there.
            self._made.clear()
            self._place(name, content)

    def check(self) -> None:
        """Raise a SaveError if files cannot be written here, before the work whose results they
        are to hold. A bucket is not asked: it would cost a request, and the first write tells.
        """
        if self._is_local:
            check_folder(self._root)

    def remove(self, name: str) -> None:
        """Remove a file, if it is still there."""
        try:
            if self._is_local:
                os.unlink(self.locate(name))
            else:
                self._files.rm_file(self.locate(name))
        except FileNotFoundError:
            pass

    def _place(self, name: str, content: bytes) -> None:
        for folder in (PARTIAL, name.rpartition("/")[0]):
            if folder not in self._made:
                os.makedirs(self.locate(folder), exist_ok=True)
                self._made.add(folder)
        write_bytes(self.locate(name), content, workshop=self.locate(PARTIAL), is_durable=False)
