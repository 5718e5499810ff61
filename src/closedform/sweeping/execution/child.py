"""The process in which tasks run: reads them from its input and answers on its output, line by
line.

It may be killed at any moment by whoever started it, which costs the task that it runs and nothing
else. When that process is gone, its input ends, and it ends itself.
"""

import contextlib
import json
import multiprocessing
import os
import queue
import signal
import sys
import threading
import time
import traceback
from functools import cache
from pathlib import Path
from typing import IO, Any

from closedform.errors import StorageError
from closedform.sweeping.execution.task import resolve

STARTED = {"started": True}
"""Is said when the task's function has been imported, so that imports do not count as its time."""


WATCH_SECONDS = 0.5
"""How often a process asks whether its parent lives: it may outlive it by so much."""


def main() -> None:
    """Answer tasks until the input ends."""
    # What a task prints must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    # An interrupt in the terminal reaches the whole group; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _be_the_first_to_be_killed()
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin, waiting), daemon=True).start()
    while True:
        request = json.loads(waiting.get())
        _say(answers, answer(request, lambda: _say(answers, STARTED)))


def answer(request: dict[str, Any], on_start: Any) -> dict[str, Any]:
    """Run one task: its record, or what it raised."""
    try:
        function = resolve(request["function"])
        on_start()
        record = function(request["payload"])
        json.dumps(record)  # what JSON does not know is a fault of the task, too
        return {"record": record}
    except Exception as error:  # whatever a task raises is its result
        where = traceback.extract_tb(error.__traceback__)[-1]
        said = str(error).strip() or "no message"
        return {
            "fault": f"{type(error).__name__}: {said} ({Path(where.filename).name}, line "
            f"{where.lineno})",
            "is_of_store": isinstance(error, StorageError),
        }


def _listen(source: IO[str], waiting: "queue.SimpleQueue[str]") -> None:
    for line in source:
        waiting.put(line)
    # The parent is gone or wants no more. No cleaning up: nothing of a task is worth keeping but
    # its answer.
    os._exit(0)


def _say(answers: IO[str], message: dict[str, Any]) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()


def _be_the_first_to_be_killed() -> None:
    """Where memory runs out, Linux shall end the task and neither its worker nor a scheduler on
    the same machine.
    """
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("900", encoding="utf-8")


@cache
def end_with_parent() -> bool:
    """In a process that multiprocessing started, end it when its parent ends; whether it is one."""
    parent = multiprocessing.parent_process()
    if parent is None or parent.pid is None:
        return False
    end_with_process(parent.pid)
    return True


def end_with_process(pid: int) -> None:
    """End this process when another one is gone."""

    def look() -> None:
        while _is_running(pid):
            time.sleep(WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=look, daemon=True).start()


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


if __name__ == "__main__":
    main()
