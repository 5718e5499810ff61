"""No worker outlives a killed parent: pools of processes leave theirs waiting forever otherwise."""

import multiprocessing
import multiprocessing.connection
import os
import threading
import time
from functools import cache

WATCH_SECONDS = 0.5
"""How often a process asks whether its parent lives: it may outlive it by so much."""


@cache
def end_with_parent() -> bool:
    """In a process that multiprocessing started, end it when its parent ends; whether it is one.

    Examples
    --------
    >>> end_with_parent()
    False
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return False
    if parent.sentinel is not None:
        threading.Thread(target=_wait_and_end, args=(parent.sentinel,), daemon=True).start()
    elif parent.pid is not None:  # loky's processes have no sentinel
        end_with_process(parent.pid)
    return True


def end_with_process(pid: int) -> None:
    """End this process when another one is gone; for pools whose processes have no sentinel."""
    threading.Thread(target=_look_and_end, args=(pid,), daemon=True).start()


def _wait_and_end(sentinel: int) -> None:
    multiprocessing.connection.wait([sentinel])
    os._exit(1)


def _look_and_end(pid: int) -> None:
    while _is_running(pid):
        time.sleep(WATCH_SECONDS)
    os._exit(1)


def _is_running(pid: int) -> bool:
    import psutil

    try:
        # A killed process that nobody has collected yet still has its number.
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


if hasattr(os, "register_at_fork"):
    # A thread does not survive a fork, and the child has another parent.
    os.register_at_fork(after_in_child=end_with_parent.cache_clear)
