"""Runs with every kind of executor: nothing is lost, what fails is recorded, and what was lost is
sent again.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import psutil
import pytest

from closedform.sweeping.execution.coordinator import Coordinator, Tally
from closedform.sweeping.execution.store import ResultStore
from closedform.sweeping.execution.supervisor import end_children
from closedform.sweeping.execution.task import Limits, Task
from closedform.sweeping.execution.workers import (
    ExecutorWorkers,
    WorkersError,
    WorkersLostError,
    open_workers,
)

SPAWN = get_context("spawn")
"""Other tests of the same process may have started threads, with which a fork does not go well."""

LIMITS = Limits(seconds=2.5, memory=200 * 2**20, attempts=1)
GOOD = [Task(f"good{value}", "bad_tasks:double", {"value": value}) for value in range(20)]
BAD = [
    Task(name, f"bad_tasks:{name}", {"value": 7}, {"neuron": "a:1"})
    for name in ("die", "hang", "eat", "fail")
]


@pytest.fixture(scope="module", autouse=True)
def _no_child_left():
    yield
    end_children()


def run(tasks, store, executor, limits=LIMITS, **options):
    workers, tally = open_workers(executor), Tally(len(tasks))
    try:
        Coordinator(workers, store, limits, tally, **options).run(tasks)
    finally:
        workers.close()
    return tally


def without_pids(store):
    return {key: {k: v for k, v in record.items() if k != "pid"} for key, record in store.records()}


def test_every_executor_gives_the_same_store(tmp_path):
    found = []
    with ThreadPoolExecutor(2) as threads, ProcessPoolExecutor(2, mp_context=SPAWN) as pool:
        for name, executor in (("here", None), ("threads", threads), ("pool", pool)):
            store = ResultStore(tmp_path / name)
            tally = run(GOOD, store, executor)
            assert (tally.done, tally.failed, tally.labels["done"]) == (20, 0, 20)
            found.append(without_pids(store))
    assert found[0] == found[1] == found[2]
    assert found[0]["good7"] == {"status": "done", "double": 14}


def test_what_fails_is_recorded_with_its_reason_and_costs_nothing_else(tmp_path):
    store = ResultStore(tmp_path)
    tally = run([*GOOD[:3], *BAD, *GOOD[3:]], store, 2)
    assert (tally.done, tally.failed, tally.labels["done"]) == (24, 4, 20)
    records = dict(store.records())
    assert "limit is 200 MB" in records["eat"]["reason"]
    assert "limit is 2.5 s" in records["hang"]["reason"]
    assert "SIGKILL" in records["die"]["reason"]
    assert "cannot do 7" in records["fail"]["reason"]
    for name in ("eat", "hang", "die", "fail"):
        assert (records[name]["status"], records[name]["attempts"], records[name]["neuron"]) == (
            "failed",
            1,
            "a:1",
        )


def test_what_fails_once_is_tried_again(tmp_path):
    store = ResultStore(tmp_path / "s")
    tally = run(
        [Task("k", "bad_tasks:die_once", {"marker": str(tmp_path / "m")})],
        store,
        1,
        Limits(attempts=2),
    )
    assert (tally.failed, store.get("k")) == (0, {"status": "done"})


def test_what_fails_always_is_tried_so_often(tmp_path):
    store = ResultStore(tmp_path)
    run([Task("k", "bad_tasks:fail", {"value": 1})], store, None, Limits(attempts=3))
    record = store.get("k")
    assert record is not None
    assert record["attempts"] == 3


def test_tasks_are_taken_as_workers_become_free(tmp_path):
    taken = []

    def tasks():
        for task in GOOD:
            taken.append(len(taken))
            yield task

    most = []
    run_tasks = Coordinator(
        open_workers(None),
        ResultStore(tmp_path),
        LIMITS,
        Tally(20),
        on_done=lambda outcome: most.append(len(taken)),
    )
    run_tasks.run(tasks())
    assert most == [n + 1 for n in range(20)]


def kill_a_worker(folder, stop):
    """Kill the worker above the first task that is noted, not the task itself."""
    while not stop.is_set():
        for name in os.listdir(folder):
            worker = int(name.split("-")[1])
            os.kill(worker, signal.SIGKILL)
            return
        time.sleep(0.02)


@pytest.mark.parametrize("kind", ["local", "pool"])
def test_a_killed_worker(tmp_path, kind):
    """Local processes are replaced; a pool of the caller is broken for good, and what is done is in
    the store.
    """
    (tmp_path / "notes").mkdir()
    tasks = [
        Task(f"n{n}", "bad_tasks:note", {"folder": str(tmp_path / "notes"), "seconds": 0.3})
        for n in range(6)
    ]
    store, stop = ResultStore(tmp_path / "s"), threading.Event()
    killer = threading.Thread(target=kill_a_worker, args=(tmp_path / "notes", stop))
    killer.start()
    try:
        if kind == "local":
            tally = run(tasks, store, 2)
            assert (tally.done, tally.failed) == (6, 0)
            assert len(store.keys()) == 6
        else:
            with (
                ProcessPoolExecutor(2, mp_context=SPAWN) as pool,
                pytest.raises(WorkersLostError, match="resume"),
            ):
                run(tasks, store, pool)
    finally:
        stop.set()
        killer.join()


def test_what_is_lost_again_and_again_is_given_up(tmp_path):
    class Unlucky(ThreadPoolExecutor):
        def submit(self, *_args, **_options):
            return super().submit(self._break)

        @staticmethod
        def _break():
            raise BrokenExecutor("lost")

    class Forgiving(ExecutorWorkers):
        def recover(self, error):
            assert isinstance(error, BrokenExecutor)

    store, tally = ResultStore(tmp_path), Tally(1)
    with Unlucky(1) as executor:
        Coordinator(Forgiving(executor), store, Limits(losses=3), tally).run(GOOD[:1])
    record = store.get("good0")
    assert record is not None
    assert (record["status"], record["attempts"], tally.failed) == ("failed", 4, 1)
    assert "lost 4 times" in record["reason"]


PARENT = """
import sys
from concurrent.futures import ProcessPoolExecutor
from closedform.sweeping.execution.coordinator import Coordinator
from closedform.sweeping.execution.store import ResultStore
from closedform.sweeping.execution.coordinator import Tally
from closedform.sweeping.execution.task import Limits, Task
from closedform.sweeping.execution.workers import open_workers

if __name__ == "__main__":
    executor = 2 if sys.argv[2] == "local" else ProcessPoolExecutor(2)
    content = {"folder": sys.argv[1], "seconds": 60}
    tasks = [Task(f"n{n}", "bad_tasks:note", content) for n in range(2)]
    Coordinator(open_workers(executor), ResultStore("memory://x"), Limits(), Tally(2)).run(tasks)
"""


@pytest.mark.parametrize("kind", ["local", "pool"])
def test_no_worker_outlives_a_killed_parent(tmp_path, kind):
    (tmp_path / "notes").mkdir()
    (tmp_path / "parent.py").write_text(PARENT)
    parent = subprocess.Popen(
        [sys.executable, str(tmp_path / "parent.py"), str(tmp_path / "notes"), kind]
    )
    end = time.monotonic() + 30
    while len(noted := os.listdir(tmp_path / "notes")) < 2:
        assert time.monotonic() < end
        time.sleep(0.05)
    pids = {int(pid) for name in noted for pid in name.split("-")}
    assert len(pids) == 4
    parent.kill()
    parent.wait()
    while left := [pid for pid in pids if psutil.pid_exists(pid)]:
        assert time.monotonic() < end, left
        time.sleep(0.05)


@pytest.mark.parametrize("wrong", [0, -1, True, 2.5, object()])
def test_other_things_are_no_workers(wrong):
    with pytest.raises(WorkersError, match="pass"):
        open_workers(wrong)


def test_a_scheduler_that_does_not_answer(monkeypatch):
    distributed = pytest.importorskip("distributed")

    def refuse(*_args, **_options):
        raise OSError("timed out")

    monkeypatch.setattr(distributed, "Client", refuse)
    with pytest.raises(WorkersLostError, match="dask scheduler"):
        open_workers("tcp://127.0.0.1:1")
