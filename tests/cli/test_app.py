import json
import subprocess
import sys

import pytest

import closedform


def run_alone(*arguments):
    """In a process of its own, as users do."""
    return subprocess.run(
        [sys.executable, "-m", "closedform", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_version():
    result = run_alone("--version")
    assert result.returncode == 0
    assert result.stdout.strip() == f"closedform {closedform.__version__}"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["0.173/(v**2 + x**2)", "v**2/2 + x**2/2"], 0),
        (["-v**2 + sin(x)/(-0.5)", "v**2/2 + sin(x)", "--names", "x,v"], 0),
        (["x", "x**2"], 1),
        (["x", "1/x", "--domain", "0.1:2"], 0),
        (["A12*A21", "-(A12**2)", "--where", "A12 + A21 = 0", "--domain", "A12=0.1:2"], 0),
        (["x", "x +"], 2),
        (["x", "y", "--domain", "zero:one"], 2),
        (["x"], 2),
    ],
)
def test_same(command, arguments, code):
    result = command("same", *arguments)
    assert result.code == code, result.err
    if code == 2:
        assert result.out == ""
        assert result.err


def test_errors_of_a_process_are_told_without_a_traceback():
    result = run_alone("same", "x", "x +")
    assert result.returncode == 2
    assert result.stdout == ""
    assert "x +" in result.stderr
    assert "Traceback" not in result.stderr


def test_json_is_one_object(command):
    answer = json.loads(command("same", "x", "x**2", "--json").out)
    assert set(answer) == {"status", "dependent", "misalignment", "reason", "witness", "seconds"}
    assert answer["status"] == "different"
    assert answer["dependent"] is True
