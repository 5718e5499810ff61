"""A disk without room, as a save meets it; on systems that limit the size of files."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """Writes beyond this size fail; Python ignores the signal that comes with it.

    Parameters
    ----------
    size : int
        Bytes of one file.
    """
    import resource  # Windows has none

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
