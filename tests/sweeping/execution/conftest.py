"""Tasks that behave badly, in a module that every worker can import."""

import os
import sys

import pytest

MODULE = '''
import os
import signal
import time


def double(payload):
    print("tasks may print")
    return {"status": "done", "double": 2 * payload["value"], "pid": os.getpid()}


def slow(payload):
    time.sleep(payload["seconds"])
    return {"status": "done"}


def die(payload):
    os.kill(os.getpid(), signal.SIGKILL)


def leave(payload):
    os._exit(3)


def hang(payload):
    while True:
        time.sleep(1)


def eat(payload):
    kept = []
    while True:
        kept.append(bytearray(30_000_000))


def fail(payload):
    raise ValueError(f"cannot do {payload['value']}")


def not_json(payload):
    return {"value": object()}


def die_once(payload):
    marker = payload["marker"]
    if not os.path.exists(marker):
        open(marker, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"status": "done"}


def note(payload):
    """Write down who runs, then take a while."""
    with open(os.path.join(payload["folder"], f"{os.getpid()}-{os.getppid()}"), "w"):
        pass
    time.sleep(payload["seconds"])
    return {"status": "done"}
'''


@pytest.fixture(autouse=True)
def tasks_module(tmp_path_factory, monkeypatch):
    """Make `bad_tasks` importable here and in every process that is started."""
    folder = tmp_path_factory.mktemp("modules")
    (folder / "bad_tasks.py").write_text(MODULE)
    path = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *([path] if path else [])]))
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    sys.modules.pop("bad_tasks", None)
