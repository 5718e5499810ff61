"""A task costs itself and nothing else, whatever it does."""

import os
import subprocess
import sys
import time

import psutil
import pytest

from closedform.sweeping.execution.store import ResultStore
from closedform.sweeping.execution.supervisor import Child, TaskFault, end_children, run_task
from closedform.sweeping.execution.task import Limits, Task, TaskError, resolve

LIMITS = Limits(seconds=2.0, memory=200 * 2**20)


def task(name, key="k", **payload):
    return Task(key, f"bad_tasks:{name}", payload)


@pytest.fixture(scope="module", autouse=True)
def _no_child_left():
    yield
    end_children()


def test_a_record_is_kept_and_the_process_serves_again(tmp_path):
    store = ResultStore(tmp_path)
    first, second = (
        run_task(task("double", f"k{value}", value=value), store, LIMITS) for value in (3, 4)
    )
    assert (first.fault, first.label, second.fault) == (None, "done", None)
    records = dict(store.records())
    assert (records["k3"]["double"], records["k4"]["double"]) == (6, 8)
    assert records["k3"]["pid"] == records["k4"]["pid"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("die", "killed by SIGKILL"),
        ("leave", "ended with code 3"),
        ("hang", "its limit is 2 s"),
        ("eat", "its limit is 200 MB"),
        ("fail", "ValueError: cannot do 7"),
        ("not_json", "not JSON serializable"),
        ("missing", "cannot be imported"),
    ],
)
def test_faults_are_told_and_the_next_task_runs(tmp_path, name, reason):
    store = ResultStore(tmp_path)
    outcome = run_task(task(name, "bad", value=7), store, LIMITS)
    assert outcome.fault is not None
    assert reason in outcome.fault
    assert store.get("bad") is None
    assert run_task(task("double", "good", value=1), store, LIMITS).fault is None


def test_a_full_disk_is_a_fault_of_the_task(tmp_path, monkeypatch):
    store = ResultStore(tmp_path)

    def refuse(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(store.folder, "write", refuse)
    outcome = run_task(task("double", value=1), store, LIMITS)
    assert outcome.fault is not None
    assert "No space left" in outcome.fault


def test_a_child_that_was_killed_in_its_sleep_is_a_fault():
    child = Child()
    assert child.run(task("double", value=1), LIMITS)["double"] == 2
    psutil.Process(child._process.pid).kill()
    with pytest.raises(TaskFault):
        child.run(task("double", value=1), LIMITS)
    assert not child.is_alive


PARENT = """
import sys
from closedform.sweeping.execution.store import ResultStore
from closedform.sweeping.execution.supervisor import run_task
from closedform.sweeping.execution.task import Limits, Task

task = Task("k", "bad_tasks:note", {"folder": sys.argv[1], "seconds": 60})
run_task(task, ResultStore("memory://x"), Limits())
"""


def test_no_child_outlives_a_killed_parent(tmp_path):
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path)])
    noted = wait_for(lambda: os.listdir(tmp_path))
    child = int(noted[0].split("-")[0])
    assert psutil.pid_exists(child)
    parent.kill()
    parent.wait()
    wait_for(lambda: not psutil.pid_exists(child))


def wait_for(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)
    return found


def test_functions_are_found_by_name():
    assert resolve("builtins:dict")({"a": 1}) == {"a": 1}
    for wrong in ("math:nothing", "no_such_module:f", "math", ""):
        with pytest.raises(TaskError, match="cannot be imported"):
            resolve(wrong)


@pytest.mark.parametrize("wrong", [{"seconds": 0}, {"memory": -1}, {"attempts": 0}])
def test_limits_are_positive(wrong):
    with pytest.raises(TaskError, match="positive"):
        Limits(**wrong)
