"""Ray as the place where tasks run; skipped where it is not installed.

Ray starts processes that it never waits for, so all of it runs in another process: warnings are
errors in this one.
"""

import os
import subprocess
import sys

import pytest

pytest.importorskip("ray")

SCRIPT = '''
import os
import signal
import sys
import threading
import time
from pathlib import Path

import psutil
import ray

from closedform.sweeping.execution.coordinator import Coordinator
from closedform.sweeping.execution.store import ResultStore
from closedform.sweeping.execution.coordinator import Tally
from closedform.sweeping.execution.task import Limits, Task
from closedform.sweeping.execution.workers import WorkersLostError, open_workers

folder = Path(sys.argv[1])
ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
workers = open_workers("ray")
assert workers.width() == 2


def noted(name):
    """Process and worker of the first task that is noted in a folder."""
    while not (found := os.listdir(folder / name)):
        time.sleep(0.05)
    return [int(pid) for pid in found[0].split("-")]


def note(name, seconds):
    (folder / name).mkdir()
    return Task(name, "bad_tasks:note", {"folder": str(folder / name), "seconds": seconds})


def is_running(pid):
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


# What fails is recorded, and the task of a killed worker is sent again.
good = [Task(f"good{n}", "bad_tasks:double", {"value": n}) for n in range(4)]
tasks = [*good, Task("fail", "bad_tasks:fail", {"value": 7}), note("lost", 1.0)]
threading.Thread(target=lambda: os.kill(noted("lost")[1], signal.SIGKILL), daemon=True).start()
store, tally = ResultStore(folder / "store"), Tally(len(tasks))
Coordinator(workers, store, Limits(attempts=1), tally).run(tasks)
records = dict(store.records())
assert (tally.done, tally.failed) == (6, 1), tally
assert len(os.listdir(folder / "lost")) == 2
assert "cannot do 7" in records["fail"]["reason"]
assert all(records[f"good{n}"]["double"] == 2 * n for n in range(4))

# What no worker can run ends the run.
try:
    workers.recover(ImportError("closedform"))
except WorkersLostError as error:
    assert "same closedform" in str(error)

# A task that is cancelled ends, and so does its process.
future = workers.submit(note("cancelled", 600), ResultStore("memory://x"), Limits())
pids = noted("cancelled")
future.cancel()
while any(map(is_running, pids)):
    time.sleep(0.05)

workers.close()
assert ray.is_initialized(), "the connection is the caller's"
ray.shutdown()

# Without one, a cluster is started, and ended.
workers = open_workers("ray")
assert workers.width() >= 2
workers.close()
assert not ray.is_initialized()
print("all is well")
'''


def test_ray_runs_tasks(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    ran = subprocess.run(
        [sys.executable, str(tmp_path / "script.py"), str(tmp_path)],
        env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert "all is well" in ran.stdout, ran.stdout + ran.stderr
