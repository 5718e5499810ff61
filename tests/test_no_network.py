"""Nothing is sent and nothing is asked: reading, report and commands work without a network.

Every process that Python starts below the test refuses to make a socket of the internet, or to look
up a host; pipes and sockets of the machine itself are allowed.
"""

import os
import subprocess
import sys

import pytest

GUARD = """
import socket
import sys

LOOKUPS = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}


def refuse(event, arguments):
    made = event == "socket.__new__" and arguments[1] in (socket.AF_INET, socket.AF_INET6)
    if made or event in LOOKUPS:
        print("network:", event, file=sys.stderr, flush=True)
        raise PermissionError("the network was used")


sys.addaudithook(refuse)
"""

WORK = """
import sys

import numpy as np

import closedform as cf
from closedform.cli.app import main

names, budget = ["x", "v"], cf.Budget(evaluations=300)
points = np.random.default_rng(0).uniform(-1, 1, (200, 2))
field = cf.GradientField.from_arrays(points, 2 * points, names=names)
field.save("field.npz")
options = {"engine": "terms", "budget": budget, "rng": 0, "progress": False}
answer = cf.interpret_field(field, **options)
assert answer.verdict.status == "verified", answer
answer.report("page.html")
for words in (
    "--version",
    "doctor",
    "same x*v 2*x*v",
    "interpret field.npz --engine terms --budget 2 --out answer.json --report read.html",
    "report answer.json --out again.html",
):
    sys.argv = ["closedform", *words.split()]
    try:
        main()
    except SystemExit as end:
        assert not end.code, words
"""


def run(code: str, folder) -> subprocess.CompletedProcess[str]:
    (folder / "sitecustomize.py").write_text(GUARD)
    paths = [str(folder), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "code",
    ["import socket; socket.socket()", "from urllib.request import urlopen; urlopen('http://a.b')"],
)
def test_the_guard_sees_what_uses_the_network(code, tmp_path):
    assert "network: socket." in run(code, tmp_path).stderr


def test_reading_report_and_commands_use_no_network(tmp_path):
    done = run(WORK, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "network:" not in done.stderr
    assert (tmp_path / "again.html").stat().st_size > 0
