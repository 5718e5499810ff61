"""Parts are measured in turn, by tiny commands instead of real ones."""

import os
import signal
import subprocess
import sys
import time

import pytest

from closedform_bench.figures import runner
from closedform_bench.figures.measurement_store import MeasurementStore
from closedform_bench.figures.part import FigurePart
from closedform_bench.figures.runner import code_version, run_parts


def part(name, code, *kept_by):
    return FigurePart(name, ("python", "-c", code, "{seed}"), 1, kept_by, clock=("--processor",))


COUNT = """
import json, pathlib, sys
file = pathlib.Path(sys.argv[-1]) / "runs"
file.write_text(file.read_text() + "x" if file.exists() else "x")
print(json.dumps({"runs": len(file.read_text()), "seed": int(sys.argv[1])}))
"""
COUNTED = part("counted", COUNT, "{store}")


@pytest.fixture
def store(tmp_path):
    return MeasurementStore(tmp_path / "runs")


def run(parts, store, **options):
    said: list[str] = []
    return run_parts(parts, store, say=said.append, **options), "\n".join(said)


def test_what_fails_is_named_and_the_others_are_kept(store):
    parts = [
        part("first", "print('{\"a\": 1}')"),
        part("broken", "import sys; sys.exit('no')"),
        part("silent", "pass"),
        part("answers-no", "import sys; print('[2]'); sys.exit(1)"),
        part("dies", "import sys; print('[2]'); sys.exit(3)"),
    ]
    failed, said = run(parts, store)
    assert failed == ["broken", "silent", "dies"]
    assert "dies failed" in said
    assert "part 2 of 5, about 1 processor minutes of 4 that are left" in said
    first, no = store.get("first", 0), store.get("answers-no", 0)
    assert first is not None
    assert first.result == {"a": 1}
    assert no is not None
    assert no.result == [2]
    assert store.get("dies", 0) is None


def test_what_is_stored_is_not_measured_again_unless_it_is_another_question(store, monkeypatch):
    def runs(**options):
        run([COUNTED], store, **options)
        kept = store.get("counted", options.get("seed", 0))
        assert kept is not None
        return kept.result["runs"]

    monkeypatch.setattr(runner, "code_version", lambda: "aaa")
    assert [runs(), runs(), runs(seed=4)] == [1, 1, 1]
    monkeypatch.setattr(runner, "code_version", lambda: "bbb")
    assert runs() == 1
    assert "code aaa" in run([COUNTED], store)[1]
    assert store.all_of("counted")[0].code == "aaa"
    assert runs(again=True) == 1
    assert [(one.seed, one.code) for one in store.all_of("counted")] == [(0, "bbb"), (4, "aaa")]
    assert [one.seed for one in store.latest_of(COUNTED)] == [0]
    runs(processor=True)
    assert [one.command.split()[-1] for one in store.all_of("counted")] == ["--processor", "4"]


def test_a_failed_part_resumes_in_its_folder(store):
    code = COUNT.replace("print(", "assert len(file.read_text()) == 3; print(")
    slow = part("slow", code, "{store}")
    assert [run([slow], store)[0] for _ in range(3)] == [["slow"], ["slow"], []]


def test_what_ran_while_the_code_changed_is_not_kept(store, monkeypatch):
    codes = iter(["aaa", "aaa", "bbb", "bbb"])
    monkeypatch.setattr(runner, "code_version", lambda: next(codes))
    failed, said = run([COUNTED], store)
    assert failed == ["counted"]
    assert "changed from aaa to bbb" in said
    assert store.get("counted", 0) is None


def test_a_measurement_says_with_what_it_was_made(store):
    run([COUNTED], store, seed=3)
    kept = store.get("counted", 3)
    assert kept is not None
    assert (kept.seed, kept.code) == (3, code_version())
    assert kept.command.endswith(" 3")
    assert set(kept.versions) > {"closedform", "python", "numpy"}


SCRIPT = """
from pathlib import Path
from closedform_bench.figures.measurement_store import MeasurementStore
from closedform_bench.figures.part import FigurePart
from closedform_bench.figures.runner import run_parts
wait = '''
import os, pathlib, sys, time
pathlib.Path(sys.argv[1], "pid").write_text(f"{os.getpid()} ")
time.sleep(60)
'''
parts = [
    FigurePart("quick", ("python", "-c", "print([1])"), 1, ()),
    FigurePart("long", ("python", "-c", wait), 1, ("{store}",)),
]
run_parts(parts, MeasurementStore(Path(STORE)), say=print)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_ctrl_c_keeps_what_is_done_and_ends_the_command(store):
    script = SCRIPT.replace("STORE", repr(str(store.path)))
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        began = time.monotonic()
        while not (pids := [file.read_text() for file in store.path.glob("long/*/pid")]) or not (
            pids[0].endswith(" ")
        ):
            assert time.monotonic() - began < 50
            time.sleep(0.05)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=30)
    assert "Stopped in long; 1 of 2 parts are done and kept." in out
    assert "KeyboardInterrupt" in err
    with pytest.raises(ProcessLookupError):
        os.kill(int(pids[0]), 0)
    kept = store.get("quick", 0)
    assert kept is not None
    assert kept.result == [1]
