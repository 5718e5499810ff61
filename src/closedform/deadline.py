"""A time limit for pure Python code that offers none itself, such as SymPy's simplifications."""

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class DeadlineExceeded(BaseException):
    """Raised inside the block; not an `Exception`, so that no handler in between swallows it."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Interrupt the block with `DeadlineExceeded` after so many seconds; works in any thread.

    Examples
    --------
    >>> try:
    ...     with time_limit(0.05):
    ...         while True:
    ...             pass
    ... except DeadlineExceeded:
    ...     print("stopped")
    stopped
    """
    target = ctypes.c_ulong(threading.get_ident())
    lock = threading.Lock()
    finished = False

    def interrupt() -> None:
        with lock:
            if not finished:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    target, ctypes.py_object(DeadlineExceeded)
                )

    timer = threading.Timer(seconds, interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with lock:
            finished = True
            # Withdraw an interrupt that was sent but has not arrived: the block is over.
            ctypes.pythonapi.PyThreadState_SetAsyncExc(target, None)
        timer.cancel()
