"""Finished work is not lost: outputs are checked before the work, and an answer is printed even if
it cannot be written.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import closedform as cf
import closedform.reading.one_field
from closedform.cli import shared_options
from closedform.errors import SaveError
from closedform.sweeping.execution.store import ResultStore

EVALUATIONS = cf.Budget(evaluations=300)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder in which commands run: a field, data, an answer, and a folder."""
    points = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    field = cf.GradientField.from_arrays(
        points, 2 * points, latents=(points**2).sum(axis=1), names=["x", "v"]
    )
    field.save(tmp_path / "field.npz")
    np.savez(tmp_path / "data.npz", inputs=points)
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "folder.npz").mkdir()
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "file").write_text("old")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def must_not_run(*_, **__):
    raise AssertionError("the work was begun")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--out", "nodir/r.json"], "there is no folder nodir"),
        (["--report", "nodir/r.html"], "there is no folder nodir"),
        (["--out", "folder.json"], "it is a folder"),
        (["--report", "folder.html"], "it is a folder"),
        (["--out", "file/r.json"], "there is no folder file"),
        (["--out", "r.html"], "must end in .json"),
        (["--report", "r.json"], "must end in .html"),
        (["--out", "field.npz"], "must end in .json"),
        (["--out", "new.json", "--report", "nodir/r.html"], "there is no folder nodir"),
        (["--hypothesis", "x/0"], "is not finite at any of the 300 usable points"),
        (["--hypothesis", "x + q"], "q"),
        (["--hypothesis", "x +"], ""),
        (["--hypothesis", "3"], "does not vary"),
        (["--rule", "nicest"], "There is no rule 'nicest'"),
        (["--rule", "0"], "There is no rule 0"),
        (["--engine", "term"], "term"),
        (["--budget", "0"], ""),
    ],
)
def test_interpret_checks_before_it_searches(command, folder, monkeypatch, words, said):
    """A missing folder was noticed after the search, and ended in a traceback."""
    monkeypatch.setattr(closedform.reading.one_field, "compile_all", must_not_run)
    code, out, err = command("interpret", "field.npz", *words)
    assert code == 2
    assert out == ""
    assert said in err
    assert "Traceback" not in err
    assert not list(folder.glob("new.json"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["extract", "none.pt2", "data.npz", "--neuron", "0:0", "--out", "nodir/f.npz"],
            "there is no folder nodir",
        ),
        (
            ["extract", "none.pt2", "data.npz", "--neuron", "0:0", "--out", "folder.npz"],
            "it is a folder",
        ),
        (
            ["extract", "none.pt2", "data.npz", "--neuron", "0:0", "--out", "f.json"],
            "must end in .npz",
        ),
        (
            ["extract", "none.pt2", "data.npz", "--neuron", "0:0", "--out", "data.npz"],
            "it is also an input, or another output has the same name",
        ),
        (
            [
                "extract",
                "none.pt2",
                "data.npz",
                "--neuron",
                "0:0",
                "--out",
                "./folder.json/../data.npz",
            ],
            "is also an input",
        ),
        (["report", "file", "--out", "nodir/r.html"], "there is no folder nodir"),
        (["report", "file", "--out", "folder.html"], "it is a folder"),
        (["results", "store", "--out", "nodir/t.csv"], "there is no folder nodir"),
        (["results", "store", "--out", "t.txt"], "must end in .csv or .parquet"),
        (["results", "store", "--out", "folder.csv"], "it is a folder"),
    ],
)
def test_commands_check_before_they_work(command, folder, words, said):
    code, out, err = command(*words)
    assert code == 2
    assert out == ""
    assert said in err
    assert (folder / "file").read_text() == "old"


def test_sweep_checks_its_store_before_it_reads_a_network(folder):
    with pytest.raises(SaveError, match="is a file"):
        cf.sweep(must_not_run, np.zeros((5, 2)), "output", store="file", kind="function")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_an_answer_that_cannot_be_written_is_printed(command, folder):
    code, out, err = command(
        "interpret",
        "field.npz",
        "--engine",
        "terms",
        "--budget",
        "10",
        "--json",
        "--out",
        "/dev/full",
        "--report",
        "page.html",
    )
    assert code == shared_options.NOT_WRITTEN
    assert json.loads(out)["concept"] == "v**2 + x**2"
    assert json.loads(out)["points"] == 300
    assert "/dev/full cannot be written: No space left on device" in err
    assert "v**2" in (folder / "page.html").read_text()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_other_commands_say_that_they_could_not_write(command, folder):
    pytest.importorskip("torch")
    found = cf.interpret_field(
        cf.load_field("field.npz"), engine="terms", budget=EVALUATIONS, rng=0
    )
    found.save("answer.json")
    ResultStore("store").put(
        "a1", {"neuron": "0:0", "status": "done", "verdict": "verified", "concept": "x"}
    )
    (folder / "nets.py").write_text(
        "import torch\n\ndef make():\n    return torch.nn.Sequential(torch.nn.Linear(2, 1))\n"
    )
    import torch
    from safetensors.torch import save_file

    save_file(torch.nn.Sequential(torch.nn.Linear(2, 1)).state_dict(), "net.safetensors")
    extract = [
        "extract",
        "net.safetensors",
        "data.npz",
        "--builder",
        "nets:make",
        "--neuron",
        "0:0",
        "--out",
        "/dev/full",
    ]
    for words, printed in (
        (["report", "answer.json", "--out", "/dev/full"], ""),
        (["results", "store", "--out", "/dev/full"], "0:0"),
        (extract, "300 points, 2 inputs"),
    ):
        code, out, err = command(*words)
        assert (code, "/dev/full cannot be written" in err) == (shared_options.NOT_WRITTEN, True), (
            words,
            err,
        )
        assert printed in out


def test_a_special_file_takes_the_place_of_none(command, folder):
    """`os.replace` would make a plain file of /dev/null."""
    before = os.stat("/dev/null")
    code, out, _ = command(
        "interpret", "field.npz", "--engine", "terms", "--budget", "10", "--out", "/dev/null"
    )
    assert code == 0
    assert "v**2 + x**2" in out
    assert os.stat("/dev/null").st_mode == before.st_mode
    assert os.stat("/dev/null").st_ino == before.st_ino


def test_a_hypothesis_that_shares_no_point_with_the_answer_does_not_cost_it():
    """It raised after the search: here it is finite at one point only, which may not be held
    out.
    """
    points = np.random.default_rng(0).uniform(0.1, 1, (300, 2))
    points[0] = [-0.5, -0.5]
    field = cf.GradientField.from_arrays(points, 2 * points, names=["x", "v"])
    found = cf.interpret_field(
        field, engine="terms", budget=EVALUATIONS, rng=0, hypothesis="log(-x) + v"
    )
    assert str(found.concept) == "v**2 + x**2"
    assert found.hypothesis is not None
    assert found.hypothesis.status == "different"
    assert "cannot be compared" in found.hypothesis.reason
