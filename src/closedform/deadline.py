"""A time limit for pure Python code that offers none itself, such as SymPy's simplifications."""

import ctypes
import threading
import time
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
    is_over = is_sent = has_arrived = False

    def interrupt() -> None:
        nonlocal is_sent
        with lock:
            if not is_over:
                is_sent = True
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    target, ctypes.py_object(DeadlineExceeded)
                )

    timer = threading.Timer(seconds, interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    except DeadlineExceeded:
        has_arrived = True
        raise
    finally:
        try:
            with lock:
                is_over = True
            timer.cancel()
            if is_sent and not has_arrived:
                _take_what_was_sent()
        except DeadlineExceeded:
            pass


def _take_what_was_sent() -> None:
    """Let an interrupt arrive that was sent when the block was just over.

    Withdrawing it would do as well, but Python 3.11 then hangs under a debugger or another tracer.
    """
    for _ in range(100):
        time.sleep(0)
