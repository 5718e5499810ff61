"""A worker's side: every task runs in a process of its own kind, which is watched, and killed when
it goes too far.

So a task that hangs, crashes or eats memory costs itself and nothing else, under any executor: the
worker stays.
"""

import atexit
import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from closedform.errors import ClosedformError, StorageError
from closedform.sweeping.execution.child import end_with_parent
from closedform.sweeping.execution.store import ResultStore
from closedform.sweeping.execution.task import Limits, Task, TaskOutcome

START_SECONDS = 300.0
"""For a child to start and import what the task needs, on a busy machine with a cold disk."""

LOOK_SECONDS = 0.05
"""How often memory and time are looked at."""

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class TaskFault(ClosedformError, RuntimeError):
    """A task ended without a record; perhaps because of the store."""

    def __init__(self, message: str, *, is_of_store: bool = False) -> None:
        super().__init__(message)
        self.is_of_store = is_of_store


def run_task(task: Task, store: ResultStore, limits: Limits) -> TaskOutcome:
    """Run a task in a child process and put its record into the store."""
    end_with_parent()
    return keep(task, store, lambda: run_in_child(task, limits))


def run_in_child(task: Task, limits: Limits) -> dict[str, Any]:
    """The record of a task that runs in a child process; a TaskFault if it raised, went over a
    limit, or the process died.
    """
    child = _take()
    try:
        return child.run(task, limits)
    finally:
        if child.is_alive:
            _idle.append(child)


def keep(task: Task, store: ResultStore, run: Callable[[], dict[str, Any]]) -> TaskOutcome:
    """Run a task and put its record into the store; what goes wrong is told, not raised: a full
    disk too is a fault of the task, not the end of its worker.
    """
    try:
        record = run()
    except TaskFault as fault:
        return TaskOutcome(task.key, fault=str(fault), is_of_store=fault.is_of_store)
    try:
        store.put(task.key, record)
    except (OSError, StorageError) as error:
        said = f"Its record could not be stored: {error}"
        return TaskOutcome(task.key, fault=said, is_of_store=True)
    return TaskOutcome(task.key, label=str(record.get(task.label, "")))


def record_in(said: dict[str, Any]) -> dict[str, Any]:
    """The record in the answer to a task; a TaskFault if it raised."""
    if "fault" in said:
        raise TaskFault(said["fault"], is_of_store=said.get("is_of_store", False))
    return said["record"]


class Child:
    """A process that runs one task after another."""

    def __init__(self) -> None:
        environment = {**dict.fromkeys(_ONE_THREAD, "1"), **os.environ}
        command = [sys.executable, "-m", "closedform.sweeping.execution.child"]
        # A process of its own and not of multiprocessing: workers of Dask are daemons, which may
        # not have those.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env=environment,
        )
        self._answers: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def is_alive(self) -> bool:
        """Whether it can take another task."""
        return self._process.poll() is None

    def run(self, task: Task, limits: Limits) -> dict[str, Any]:
        """Run a task, as `run_in_child`."""
        message = json.dumps(task.request) + "\n"
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(message)
            self._process.stdin.flush()
        except OSError as error:
            self.end()
            raise TaskFault(f"The task's process could not be reached ({error}).") from error
        said = self._wait(START_SECONDS, limits.memory)
        if said.get("started"):
            said = self._wait(limits.seconds, limits.memory)
        return record_in(said)

    def end(self) -> None:
        """Kill it, if it lives, and wait until it is gone."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                # What was not sent to a dead process cannot be flushed.
                with contextlib.suppress(OSError):
                    stream.close()

    def _wait(self, seconds: float | None, memory: int | None) -> dict[str, Any]:
        """The next answer; the process is killed where it takes too long or too much."""
        began = time.monotonic()
        while True:
            try:
                line = self._answers.get(timeout=LOOK_SECONDS)
            except queue.Empty:
                reason = self._excess(time.monotonic() - began, seconds, memory)
                if reason is None:
                    continue
                self.end()
                raise TaskFault(reason) from None
            if line is None:
                raise TaskFault(self._obituary())
            return json.loads(line)

    def _excess(self, spent: float, seconds: float | None, memory: int | None) -> str | None:
        if seconds is not None and spent > seconds:
            return f"Stopped after {spent:.0f} s; its limit is {seconds:g} s."
        used = 0 if memory is None else _resident_bytes(self._process.pid)
        if memory is not None and used > memory:
            return (
                f"Stopped with {used / 2**20:.0f} MB of memory; its limit is "
                f"{memory / 2**20:.0f} MB."
            )
        return None

    def _obituary(self) -> str:
        code = self._process.wait()
        self.end()
        if code >= 0:
            return f"The task's process ended with code {code}."
        name = signal.Signals(-code).name if -code in signal.valid_signals() else str(-code)
        hint = " The system kills processes where memory runs out." if name == "SIGKILL" else ""
        return f"The task's process was killed by {name}.{hint}"

    def _listen(self) -> None:
        assert self._process.stdout is not None
        # It may be closed by end().
        with contextlib.suppress(ValueError):
            for line in self._process.stdout:
                self._answers.put(line)
        self._answers.put(None)


def _resident_bytes(pid: int) -> int:
    import psutil

    try:
        return psutil.Process(pid).memory_info().rss
    except psutil.Error:
        return 0


_idle: list[Child] = []


def _take() -> Child:
    while _idle:
        child = _idle.pop()
        if child.is_alive:
            return child
        child.end()
    return Child()


@atexit.register
def end_children() -> None:
    """End the idle processes."""
    while _idle:
        _idle.pop().end()


# The children of a process that forks stay its own.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)
