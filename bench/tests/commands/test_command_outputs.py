"""Finished work is not lost: outputs are checked before the work, and an answer is printed even if
it cannot be written.
"""

import json
import sys

import pytest

from closedform.cli import shared_options
from closedform.cli.app import main
from closedform.errors import SaveError
from closedform_bench.paper import reproduction, results


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """Run the command line in this process, in a folder with a file: exit code, stdout, stderr."""
    (tmp_path / "file").write_text("old")
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["closedform", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        return (ended.value.code, *capsys.readouterr())

    return run


@pytest.mark.parametrize(
    "words",
    [
        ["reproduce", "1", "--out", "file"],
        ["reproduce", "1", "--out", "file/below"],
        ["reproduce", "1", "--profile", "quick", "--networks", "file"],
        ["bench", "--systems", "sir", "--store", "file"],
    ],
)
def test_commands_check_before_they_work(command, tmp_path, words):
    code, out, err = command(*words)
    assert code == 2
    assert out == ""
    assert "is a file" in err
    assert (tmp_path / "file").read_text() == "old"


def test_reproduce_prints_its_result_before_it_writes(command, monkeypatch):
    def refuse(outcomes, directory):
        raise SaveError(f"{directory} cannot be written: the disk is full.")

    result = {"recovered": 0, "of": 0, "direct_recovered": None, "experiments": []}
    monkeypatch.setattr(results, "write_results", refuse)
    monkeypatch.setattr(reproduction, "reproduce", lambda *_, **__: _NoOutcome())
    monkeypatch.setattr(reproduction, "summary", lambda outcomes: result)
    code, out, err = command("reproduce", "1", "--json", "--out", "there")
    assert code == shared_options.NOT_WRITTEN
    assert json.loads(out) == result
    assert "the disk is full" in err


class _NoOutcome:
    reading = True
