import os
import pty
import re
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from closedform.cli.answer_commands import _folded
from closedform.cli.app import app

torch = pytest.importorskip("torch")

COMMANDS = [
    command.name or getattr(command.callback, "__name__", "")
    for command in app.registered_commands
    if not command.hidden
]
LINES = 40


def run(*arguments, **options):
    return CliRunner().invoke(
        app, [*map(str, arguments)], prog_name="closedform", env={"COLUMNS": "80"}, **options
    )


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_a_screen_and_has_an_example(command):
    result = run(*command.split(), "--help")
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= 80
    assert command == "doctor" or "  closedform " in result.output
    assert "\x1b" not in result.output


def test_the_list_of_commands_is_complete_and_whole():
    output = run("--help").output
    for command in COMMANDS:
        (line,) = re.findall(rf"^  {command}\s.*$", output, re.MULTILINE)
        assert line.endswith("."), line


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["interpet", "field.npz"], "interpret"),
        (["interpret", "field.npz", "--budgt", "3"], "--budget"),
        (["same", "x", "y", "--domian", "0:1"], "--domain"),
        (["same", "x", "y", "--nothing-like-it"], "parentheses"),
    ],
)
def test_what_is_mistyped_gets_a_suggestion(arguments, hint):
    result = run(*arguments)
    assert result.exit_code == 2
    assert hint in result.output


def test_a_formula_may_begin_with_minus():
    assert run("same", "-x", "--x").exit_code == 0
    assert run("same", "-x", "-x*y").exit_code == 1


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("layers")
    network = torch.nn.Sequential()
    network.encoder = torch.nn.Sequential(
        torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3)
    )
    inputs = torch.rand(20, 2)
    program = torch.export.export(
        network.eval(), (inputs,), dynamic_shapes=({0: torch.export.Dim("batch")},)
    )
    torch.export.save(program, folder / "net.pt2")
    np.savez(folder / "data.npz", inputs=inputs.numpy())
    return folder


def test_layers_are_listed(model):
    result = run("layers", model / "net.pt2", "--trust")
    assert result.exit_code == 0
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows[0] == ["layer", "kind", "units", "weights"]
    assert ["encoder.0", "Linear", "8", "24"] in rows
    assert ["encoder.2", "Linear", "3", "27"] in rows


def test_data_give_the_shapes(model):
    result = run("layers", model / "net.pt2", model / "data.npz", "--trust")
    assert ["encoder.1", "Tanh", "8"] in [line.split() for line in result.stdout.splitlines()]
    assert "--neuron encoder.2:0" in result.stderr


def test_a_mistyped_layer_gets_a_suggestion(command, model):
    result = command(
        "extract",
        model / "net.pt2",
        model / "data.npz",
        "--trust",
        "--neuron",
        "encodr.2:0",
        "--out",
        model / "f.npz",
    )
    assert result.code == 2
    assert "did you mean 'encoder.2'" in result.err


def test_colours_are_for_terminals_alone(command, model):
    piped = command("layers", model / "net.pt2", "--trust").out
    ours, theirs = pty.openpty()
    arguments = [sys.executable, "-m", "closedform", "layers", "--trust"]
    arguments.append(str(model / "net.pt2"))
    subprocess.run(arguments, stdout=theirs, stderr=subprocess.DEVNULL, check=True)
    os.close(theirs)
    shown = os.read(ours, 10_000)
    os.close(ours)
    assert "encoder.0" in piped
    assert "\x1b" not in piped
    assert b"\x1b[1m" in shown


def test_sentences_are_folded_for_terminals_alone(monkeypatch):
    sentence = "  " + "a word and another " * 12
    assert _folded(sentence) == sentence
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    first, *others = _folded(sentence).splitlines()
    assert len(others) > 2
    assert max(map(len, [first, *others])) <= 60
    assert first.startswith("  a")
    assert all(line.startswith("    a") or line.startswith("    w") for line in others)


def test_completion_is_offered():
    environment = os.environ | {
        "_CLOSEDFORM_COMPLETE": "complete_bash",
        "COMP_WORDS": "closedform int",
        "COMP_CWORD": "1",
    }
    process = subprocess.run(
        [sys.executable, "-c", "from closedform.cli.app import main; main()"],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert "interpret" in process.stdout
