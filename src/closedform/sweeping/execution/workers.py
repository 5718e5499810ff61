"""Where tasks run: here, in local processes, under any executor, or on a cluster of Dask or Ray."""

import os
import time
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import Any

from closedform.basics.optional import require
from closedform.errors import ClosedformError
from closedform.sweeping.execution.child import answer, end_with_process
from closedform.sweeping.execution.store import ResultStore
from closedform.sweeping.execution.supervisor import keep, record_in, run_task
from closedform.sweeping.execution.task import Limits, Task, TaskOutcome

ASK_SECONDS = 2.0
"""How often a cluster is asked for its size."""

AHEAD = 2
"""Tasks that are sent for each worker, so that none waits for the next."""


class WorkersError(ClosedformError, ValueError):
    """What was passed as `executor` cannot run tasks."""


class WorkersLostError(ClosedformError, RuntimeError):
    """The workers, or the scheduler between them and us, are gone."""


class Workers:
    """What a run needs from an executor."""

    _known, _asked = 1, -ASK_SECONDS

    def submit(self, task: Task, store: ResultStore, limits: Limits) -> "Future[TaskOutcome]":
        """Send a task off."""
        raise NotImplementedError

    def width(self) -> int:
        """How many tasks to keep under way: a few for each worker, for those come and go."""
        if time.monotonic() - self._asked > ASK_SECONDS:
            self._asked = time.monotonic()
            self._known = self._present() or self._known
        return AHEAD * self._known

    def are_gone(self) -> bool:
        """Whether a cluster has no workers now."""
        return self._present() == 0

    def recover(self, error: BaseException) -> None:
        """Make ready to send lost tasks again, or say in a WorkersLostError that it cannot be."""
        raise WorkersLostError(
            f"The workers cannot run tasks ({type(error).__name__}: {error}). Each of them needs "
            f"the same closedform."
        ) from error

    def close(self) -> None:
        """End what was started here."""

    def _present(self) -> int | None:
        """How many tasks can run side by side now; None if nobody can tell."""
        return 1


def open_workers(executor: Any = None) -> Workers:
    """Workers from what a user passes.

    None runs tasks here, one after another, and starts nothing; a number starts so many local
    processes; text is the address of a Dask scheduler, such as ``"tcp://10.0.0.1:8786"``, or
    ``"ray"`` for the Ray cluster that ``ray.init()`` finds or starts. Executors, Dask clients and
    connections that were open stay open.

    Examples
    --------
    >>> open_workers().width()
    1
    """
    if executor is None:
        return InProcess()
    if isinstance(executor, bool) or (isinstance(executor, int) and executor < 1):
        raise WorkersError(
            f"executor={executor!r} is not a number of processes; pass 1 or more, or None to "
            f"start none."
        )
    if isinstance(executor, int):
        return LocalProcesses(executor)
    if executor == "ray":
        return RayWorkers()
    if isinstance(executor, str):
        return DaskWorkers(_connect(executor), is_own=True)
    if isinstance(executor, Executor):
        return ExecutorWorkers(executor)
    if type(executor).__module__.split(".")[0] == "distributed" and hasattr(
        executor, "get_executor"
    ):
        return DaskWorkers(executor)
    raise WorkersError(
        f"executor is a {type(executor).__name__}; pass a number of processes, a "
        "concurrent.futures.Executor, a Dask Client, the address of a Dask scheduler, 'ray', or "
        "None."
    )


class InProcess(Workers):
    """This process: one task after another, without limits on time and memory."""

    def submit(self, task: Task, store: ResultStore, limits: Limits) -> "Future[TaskOutcome]":
        """Run a task at once."""
        done: Future[TaskOutcome] = Future()
        done.set_result(keep(task, store, lambda: record_in(answer(task.request, lambda: None))))
        return done

    def width(self) -> int:
        """One after another."""
        return 1

    def recover(self, error: BaseException) -> None:
        """Nothing can be lost here but by the error itself."""
        raise error


class ExecutorWorkers(Workers):
    """Any executor of Python's own interface; it stays the caller's."""

    def __init__(self, executor: Executor) -> None:
        self._executor: Any = executor

    def submit(self, task: Task, store: ResultStore, limits: Limits) -> "Future[TaskOutcome]":
        """Send a task off."""
        return self._executor.submit(run_task, task, store, limits)

    def recover(self, error: BaseException) -> None:
        """A broken pool stays broken."""
        if isinstance(error, BrokenExecutor):
            raise WorkersLostError(
                f"The pool of workers broke ({error}). Start it again and resume."
            ) from error
        super().recover(error)

    def _present(self) -> int | None:
        known = getattr(self._executor, "_max_workers", None)
        return known if isinstance(known, int) else os.cpu_count()


class LocalProcesses(ExecutorWorkers):
    """Processes on this machine, by loky: a pool that breaks is replaced."""

    def __init__(self, count: int) -> None:
        self._count = count
        super().__init__(self._start())

    def recover(self, error: BaseException) -> None:
        """Start another pool where this one broke."""
        if not isinstance(error, BrokenExecutor):
            super().recover(error)
        # Of several tasks that were lost together the first replaces the pool.
        if _is_broken(self._executor):
            self._executor.shutdown(wait=False)
            self._executor = self._start()

    def close(self) -> None:
        """End the processes, also in the middle of a task."""
        self._executor.shutdown(wait=True, kill_workers=True)

    def _start(self) -> Any:
        from loky import ProcessPoolExecutor

        return ProcessPoolExecutor(
            self._count, initializer=end_with_process, initargs=(os.getpid(),)
        )


class DaskWorkers(ExecutorWorkers):
    """A Dask cluster, through its client."""

    def __init__(self, client: Any, *, is_own: bool = False) -> None:
        # Every task is sent as it is: two with the same text are two attempts.
        super().__init__(client.get_executor(pure=False))
        self._client, self._is_own = client, is_own

    def _present(self) -> int | None:
        """Threads of all workers; None from a scheduler that is just dying, which its tasks
        tell.
        """
        if self._client.status != "running":
            return None
        try:
            return sum(self._client.nthreads().values())
        except OSError:
            return None

    def recover(self, error: BaseException) -> None:
        """Tasks of lost workers can be sent again; those of a lost scheduler cannot."""
        if type(error).__name__ == "KilledWorker":
            return
        if isinstance(error, CancelledError | OSError):
            scheduler = self._client.scheduler
            address = "its address" if scheduler is None else scheduler.address
            raise WorkersLostError(
                f"The scheduler at {address} is gone. Start it and its workers again, then resume."
            ) from error
        super().recover(error)

    def close(self) -> None:
        """Close a client that was opened here."""
        if self._is_own:
            self._client.close(timeout=5)


class RayWorkers(Workers):
    """A Ray cluster: each task takes one of its processors."""

    def __init__(self) -> None:
        self._ray = ray = require("ray", extra="ray")
        self._is_own = not ray.is_initialized()
        if self._is_own:
            try:
                ray.init(log_to_driver=False, logging_level="ERROR")
            except (ConnectionError, RuntimeError, ValueError) as error:
                raise WorkersLostError(
                    f"No Ray cluster answers ({error}). Start one: ray start --head"
                ) from error
        # What becomes of lost tasks is decided in one place for all executors, not by Ray too.
        self._run = ray.remote(num_cpus=1, max_retries=0)(run_task)

    def submit(self, task: Task, store: ResultStore, limits: Limits) -> "Future[TaskOutcome]":
        """Send a task off."""
        sent = self._run.remote(task, store, limits)
        future: Future[TaskOutcome] = sent.future()
        # By force, or the worker would take the next task while its process runs this one.
        future.add_done_callback(
            lambda done: self._ray.cancel(sent, force=True) if done.cancelled() else None
        )
        return future

    def _present(self) -> int | None:
        return int(self._ray.cluster_resources().get("CPU", 0))

    def recover(self, error: BaseException) -> None:
        """Tasks of lost workers and machines can be sent again."""
        known = self._ray.exceptions
        lost = (known.WorkerCrashedError, known.NodeDiedError, known.OutOfMemoryError)
        if not isinstance(error, lost):
            super().recover(error)

    def close(self) -> None:
        """Leave a cluster that was joined here, and end one that was started here."""
        if self._is_own:
            self._ray.shutdown()


def _is_broken(executor: Executor) -> bool:
    try:
        executor.submit(int)
    except BrokenExecutor:
        return True
    return False


def _connect(address: str) -> Any:
    distributed = require("distributed", extra="cluster")
    try:
        # How long it tries, and waits for a scheduler that went away, is in Dask's configuration.
        return distributed.Client(address)
    except (OSError, TimeoutError, ValueError) as error:
        raise WorkersLostError(
            f"No scheduler answers at {address!r} ({error}). Start one: dask scheduler"
        ) from error
