"""Bad input ends with exit code 2, a failure with 3 or more, and nobody sees a traceback."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import closedform as cf
from closedform.cli import STOPPED, shared_options
from closedform.cli import app as application

FIELD = ["interpret", "field.npz", "--engine", "terms", "--budget", "5"]
EXTRACT = ["extract", "net.safetensors", "data.npz", "--builder", "nets:make", "--neuron", "0:0"]
EXTRACT += ["--out", "new.npz"]


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    points = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    cf.GradientField.from_arrays(points, 2 * points, names=["x", "v"]).save(folder / "field.npz")
    np.savez(folder / "data.npz", inputs=points)
    (folder / "broken.npz").write_bytes((folder / "field.npz").read_bytes()[:-300])
    (folder / "broken.json").write_text('{"format": "closedform interpretation", "schema": 4}')
    (folder / "deep.json").write_text("[" * 100_000)
    for name in ("broken.onnx", "broken.pt2", "broken.safetensors", "broken.pt"):
        (folder / name).write_bytes(b"PK\x03\x04 broken")
    torch = pytest.importorskip("torch")
    from safetensors.torch import save_file

    save_file(torch.nn.Sequential(torch.nn.Linear(2, 1)).state_dict(), folder / "net.safetensors")
    (folder / "nets.py").write_text(
        "import torch\n\ndef make():\n    return torch.nn.Sequential(torch.nn.Linear(2, 1))\n"
        "\ndef fail():\n    raise ZeroDivisionError('my own')\n"
    )
    return folder


@pytest.fixture
def folder(originals, monkeypatch):
    monkeypatch.chdir(originals)
    return originals


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["interpret", "broken.npz"], "broken.npz is damaged"),
        (["verify", "broken.npz", "x"], "broken.npz is damaged"),
        (["report", "broken.json", "--out", "new.html"], "broken.json is damaged"),
        (["report", "deep.json", "--out", "new.html"], "deep.json is damaged"),
        (["conserved", "broken.npz"], "broken.npz is damaged"),
        (["layers", "broken.onnx"], "broken.onnx is damaged"),
        (["layers", "broken.pt2", "--trust"], "broken.pt2 cannot be opened"),
        (["layers", "broken.safetensors", "--builder", "nets:make"], "broken.safetensors"),
        (["layers", "broken.pt", "--builder", "nets:make"], "--trust"),
        (["layers", "broken.pt", "--builder", "nets:make", "--trust"], "cannot be unpickled"),
        (["layers", "net.safetensors", "--builder", "nets:fail"], "ZeroDivisionError: my own"),
        ([*EXTRACT[:2], "broken.npz", *EXTRACT[3:]], "broken.npz is damaged"),
        ([*EXTRACT[:2], "field.npz", *EXTRACT[3:]], "must hold an array named 'inputs'"),
        ([*EXTRACT, "--max-points", "0"], "max_points is 0"),
        ([*EXTRACT, "--smoothing", "-1"], "smoothing is -1"),
        ([*EXTRACT, "--smoothing", "0.1"], "from 0 (no smoothing) to 0.05"),
        ([*EXTRACT, "--seed", "-1"], "rng is -1"),
        ([*EXTRACT[:-1], "missing/new.npz"], "there is no folder missing"),
        ([*FIELD, "--rule", "²"], "There is no rule '²'"),
        ([*FIELD, "--rule", "9" * 5000], "There is no rule"),
        ([*FIELD, "--seed", "-1"], "rng is -1"),
        ([*FIELD, "--budget", "nan"], "budget"),
        (["results", "mistyped"], "There is no store 'mistyped'"),
        (["compare", "mistyped", "mistyped too"], "There is no store 'mistyped'"),
    ],
)
def test_bad_input_is_told_in_a_sentence(command, folder, words, said):
    code, out, err = command(*words)
    assert code == shared_options.BAD_CALL, err
    assert said in err
    assert "Traceback" not in err
    assert out == ""


def test_what_should_not_happen_is_not_an_answer(command, folder, monkeypatch):
    """It ended with exit code 1, which means that the answer is no."""

    def fail(path):
        raise ZeroDivisionError("by nought")

    monkeypatch.setattr("closedform.field.field_file.load_field", fail)
    code, _, err = command(*FIELD)
    assert code == shared_options.FAILED
    assert "ZeroDivisionError: by nought" in err
    assert application.TRACEBACK in err
    monkeypatch.setenv(application.TRACEBACK, "1")
    monkeypatch.setattr("sys.argv", ["closedform", *FIELD])
    with pytest.raises(ZeroDivisionError):
        application.main()


def interrupt(*arguments, **options):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "moment",
    [
        "closedform.judge.select_stage.gather",
        "closedform.judge.verify_stage.judge_formulas",
        "closedform.judge.verify_stage.measure",
    ],
)
def test_an_interrupt_after_the_search_keeps_its_best(
    command, folder, monkeypatch, moment, tmp_path
):
    """Nothing was written from 1.5 to 5 seconds after the start."""
    module, _, name = moment.rpartition(".")
    original = getattr(__import__(module, fromlist=[name]), name)
    calls = []

    def once(*arguments, **options):
        calls.append(name)
        return interrupt() if len(calls) == 1 else original(*arguments, **options)

    monkeypatch.setattr(moment, once)
    code, out, err = command(*FIELD, "--json", "--out", tmp_path / "best.json")
    assert code == STOPPED
    assert len(calls) > 1
    assert "Traceback" not in err
    assert json.loads(out)["concept"] == "v**2 + x**2"
    found = cf.load_interpretation(tmp_path / "best.json")
    assert found.provenance.status == "interrupted"
    assert found.verdict.status != "verified"
    assert oct((tmp_path / "best.json").stat().st_mode) == oct((folder / "data.npz").stat().st_mode)


def test_an_interrupted_search_for_rivals_leaves_the_judgement(command, folder, monkeypatch):
    monkeypatch.setattr("closedform.judge.verify_stage.search", interrupt)
    code, out, _ = command("verify", "field.npz", "x**2 + v**2", "--json")
    assert code == STOPPED
    assert json.loads(out)["concept"] == "x**2 + v**2"


def test_an_interrupt_in_the_clothes_of_another_error_is_one(command, folder, monkeypatch):
    """Python 3.11 makes a RuntimeError of it while a class is made, as imports do."""

    def wrapped(path):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as interrupt:
            raise RuntimeError("Error calling __set_name__") from interrupt

    monkeypatch.setattr("closedform.field.field_file.load_field", wrapped)
    code, out, err = command(*FIELD)
    assert (code, out, err) == (STOPPED, "", "\nclosedform: stopped.\n")


def test_an_interrupt_before_anything_is_found_ends_in_a_word(command, folder, monkeypatch):
    monkeypatch.setattr("closedform.field.field_file.load_field", interrupt)
    code, out, err = command(*FIELD)
    assert (code, out, err) == (STOPPED, "", "\nclosedform: stopped.\n")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("seconds", [0.05, 0.3, 1.0])
def test_an_interrupt_while_the_command_loads_ends_in_a_word(folder, seconds):
    """It ended in a traceback in the first seconds."""
    # The command says when it begins: Python's own start cannot be made quiet.
    code = "import sys; from closedform.cli.entry import main; print(1, flush=True); main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *FIELD, "--budget", "30"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "1\n"
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert "Traceback" not in err
    # A loaded machine is still loading, an idle one may be done with the small field.
    assert process.returncode in (STOPPED, 0)
