"""A Dask cluster of processes whose workers are all killed: said at once, ended with a reason."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from closedform.sweeping.execution.coordinator import Coordinator, Tally
from closedform.sweeping.execution.store import ResultStore
from closedform.sweeping.execution.task import Limits, Task
from closedform.sweeping.execution.workers import WorkersLostError, open_workers

distributed = pytest.importorskip("distributed")

N_WORKERS = 4


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and workers, each a process of its own that nobody starts again."""
    file = str(tmp_path / "scheduler.json")
    dask = [sys.executable, "-m", "dask"]
    scheduler = [*dask, "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", file]
    worker = [*dask, "worker", "--no-nanny", "--no-dashboard", "--nthreads", "1"]
    started = [
        subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
        for command in [scheduler, *N_WORKERS * [[*worker, "--scheduler-file", file]]]
    ]
    with distributed.Client(scheduler_file=file, timeout=120) as client:
        client.wait_for_workers(N_WORKERS, timeout=120)
        yield client, started[1:]
    for process in started:
        process.kill()
        process.wait()


def kill_when_busy(folder, workers):
    while not os.listdir(folder):
        time.sleep(0.05)
    for worker in workers:
        os.kill(worker.pid, signal.SIGKILL)


@pytest.mark.parametrize("patience", [3.0, pytest.param(30.0, marks=pytest.mark.slow)])
def test_all_workers_are_killed(cluster, tmp_path, patience, caplog):
    """It waited for ever, in silence."""
    client, workers = cluster
    (tmp_path / "notes").mkdir()
    task = {"folder": str(tmp_path / "notes"), "seconds": 300}
    tasks = [Task(f"n{n}", "bad_tasks:note", task) for n in range(8)]
    killer = threading.Thread(target=kill_when_busy, args=(tmp_path / "notes", workers))
    killer.start()
    store, limits = ResultStore(tmp_path / "s"), Limits(patience=patience)
    began = time.monotonic()
    with (
        caplog.at_level(logging.WARNING, logger="closedform"),
        pytest.raises(WorkersLostError, match=f"no workers for {patience:g} s"),
    ):
        Coordinator(open_workers(client), store, limits, Tally(8)).run(tasks)
    killer.join()
    assert time.monotonic() - began > patience
    said = [one.message for one in caplog.records if "has no workers" in one.message]
    assert len(said) == 1
    assert not store.keys()
