"""The process in which tasks run: reads them from its input and answers on its output, line by
line.

It may be killed at any moment by whoever started it, which costs the task that it runs and nothing
else. When that process is gone, its input ends, and it ends itself.
"""

import contextlib
import json
import os
import queue
import signal
import sys
import threading
import traceback
from pathlib import Path
from typing import IO, Any

from closedform.errors import StorageError
from closedform.execution.task import resolve

STARTED = {"started": True}
"""Is said when the task's function has been imported, so that imports do not count as its time."""


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
    """Where memory runs out, Linux shall end the task and neither its worker nor a scheduler beside
    it.
    """
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("900", encoding="utf-8")


if __name__ == "__main__":
    main()
