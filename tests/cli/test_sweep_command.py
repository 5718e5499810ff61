"""`closedform sweep` as a user runs it: alone, in local processes, and on a Dask cluster whose
parts are killed.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter

import numpy as np
import pandas
import pytest
from typer.testing import CliRunner

import closedform as cf
from closedform.cli.app import app
from closedform.cli.sweep_commands import write_table
from closedform.errors import StorageError
from closedform.sweeping import planning
from closedform.sweeping.execution.store import ResultStore

pytest.importorskip("torch")

LAYER = """
import torch

MAPS = [lambda g: g, lambda g: -g, torch.exp, lambda g: g + g**3, torch.tanh]


class Units(torch.nn.Module):
    def forward(self, points):
        x, v = points.unbind(dim=1)
        concepts = [x * x + v * v, x * v, x * x + v, x + v * v, x * x - v * v, x * v + x]
        alive = [change(g) for change in MAPS for g in concepts]
        dead = [torch.relu(x - 50 - n) for n in range(6)]
        noise = [torch.cos((700 + n) * x) + torch.cos((900 - n) * v) for n in range(4)]
        return torch.stack([*dead[:3], *alive[:12], *noise, *alive[12:], *dead[3:]], dim=1)


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.units = Units()
        self.out = torch.nn.Linear(40, 1)

    def forward(self, points):
        return self.out(self.units(points))


def make():
    return Network()
"""

NOTING = """
import os

from closedform.sweeping import planning
from closedform.sweeping.neuron_task import read_neuron


def read(payload):
    with open(os.environ["NOTES"], "a") as file:
        file.write(payload["neuron"] + "\\\\n")
    if payload["neuron"] == os.environ.get("POISON"):
        kept = []
        while True:
            kept.append(bytearray(50_000_000))
    return read_neuron(payload)


if __name__ == "__main__":
    from closedform.cli.app import main

    planning.FUNCTION = "noting:read"
    main()
""".replace("\\\\n", "\\n")

EFFORT = ["--max-points", "200", "--terms", "100", "--evaluations", "300"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A layer of 40 neurons (six concepts, five functions of each, dead ones and noise), data, and
    a noting command line.
    """
    import torch
    from safetensors.torch import save_file

    folder = tmp_path_factory.mktemp("sweep")
    (folder / "layers.py").write_text(LAYER)
    (folder / "noting.py").write_text(NOTING)
    torch.manual_seed(0)
    save_file(
        torch.nn.ModuleDict({"out": torch.nn.Linear(40, 1)}).state_dict(),
        folder / "net.safetensors",
    )
    inputs = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    np.savez(folder / "data.npz", inputs=inputs, names=np.array(["x", "v"]))
    return folder


def command(store, *more, program=("-m", "closedform")):
    arguments = [
        "sweep",
        "net.safetensors",
        "data.npz",
        "--builder",
        "layers:make",
        "--layer",
        "units",
        "--store",
        str(store),
    ]
    return [sys.executable, *program, *arguments, *EFFORT, *more]


def call(folder, *arguments):
    """Run the command line in this process, which has torch loaded."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])
    finally:
        os.chdir(before)
        sys.modules.pop("layers", None)


@pytest.fixture(scope="module")
def alone(files):
    """The store of one process, and what the command said."""
    return files / "alone", call(files, *command("alone", "--json")[3:])


def digests(store):
    return {record["neuron"]: record.get("digest") for _, record in ResultStore(store).records()}


def test_one_process(alone):
    store, result = alone
    assert result.exit_code == 0, result.stderr
    said = json.loads(result.stdout)
    assert (said["neurons"], said["failed"], said["verified"], said["none"]) == (40, 0, 30, 10)
    statuses = Counter(record["status"] for _, record in ResultStore(store).records())
    assert statuses == {"done": 10, "same": 24, "dead": 6}
    assert "40 of 40 done" in result.stderr


def test_a_store_with_results_needs_resume(files, alone):
    refused = call(files, *command("alone")[3:])
    assert isinstance(refused.exception, StorageError)
    assert "resume" in str(refused.exception)


def test_local_processes_go_on_where_one_process_stopped(files, alone):
    copy = files / "copy"
    shutil.copytree(alone[0], copy)
    lost = [
        file for file in copy.glob("results/*/*.json") if '"status": "done"' in file.read_text()
    ][:2]
    for file in lost:
        file.write_bytes(b"garbage")
    result = call(files, *command("copy", "--processes", "1", "--resume")[3:])
    assert result.exit_code == 0, result.stderr
    assert "40 neurons, 38 before" in result.stderr
    assert digests(copy) == digests(alone[0])


def test_text_in_csv_files_is_no_formula_of_a_spreadsheet(tmp_path):
    texts = ["=1+2", "+x", "-x + 1", "@x", "\x1b[2J", "\tx", "x - 1", ""]
    table = pandas.DataFrame({"concept": texts, "number": [-1.5] * len(texts)})
    write_table(table, tmp_path / "t.csv")
    read = pandas.read_csv(tmp_path / "t.csv", keep_default_na=False)
    assert read["concept"].tolist() == [f" {text}" for text in texts[:6]] + texts[6:]
    assert read["number"].tolist() == [-1.5] * len(texts)
    assert cf.parse(str(read["concept"].tolist()[2])) == cf.parse(texts[2])


def test_results_are_shown_and_filtered(files, alone):
    shown = call(
        files, "results", "alone", "--where", "verdict == 'verified' and complexity < 4", "--json"
    )
    rows = [json.loads(line) for line in shown.stdout.splitlines()]
    assert len(rows) == 5
    assert {row["concept"] for row in rows} == {"v*x"}
    assert "v*x" in call(files, "results", "alone", "--out", "table.csv").stdout
    assert len((files / "table.csv").read_text().splitlines()) == 41
    assert call(files, "results", "alone", "--where", "complexity > 99").exit_code == 1


class Cluster:
    """`dask scheduler` and `dask worker` in processes of their own."""

    def __init__(self, folder, environment):
        self.folder, self.environment = folder, environment
        self.log = (folder / "dask.log").open("ab")
        self.processes = []

    def start(self, *arguments):
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments],
            stdout=self.log, stderr=self.log, env=self.environment, cwd=self.folder,
        )  # fmt: skip
        self.processes.append(process)
        return process

    def start_all(self, number, workers):
        """A scheduler and its workers; the processes, and the scheduler's address."""
        file = self.folder / f"scheduler{number}.json"
        scheduler = self.start(
            "scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
            "--scheduler-file",
            str(file),
        )
        options = ["--scheduler-file", str(file), "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        started = [self.start("worker", *options) for _ in range(workers)]
        wait_for(file.exists)
        return (
            scheduler,
            started,
            wait_for(lambda: json.loads(file.read_text() or "{}").get("address")),
        )

    def stop(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        self.log.close()


def wait_for(condition, seconds=90.0):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)
    return found


def test_a_cluster_whose_parts_are_killed_gives_the_same_results(files, alone, monkeypatch):
    notes, store = files / "notes", ResultStore(files / "many")
    path = os.pathsep.join([str(files), *filter(None, [os.environ.get("PYTHONPATH")])])
    # The first of the noise; it is no concept's representative.
    environment = {
        **os.environ,
        "PYTHONPATH": path,
        "NOTES": str(notes),
        "POISON": "units:15",
        # A client waits so long for a scheduler to come back; Dask's own 30 s would be idle here.
        "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "8s",
    }
    cluster = Cluster(files, environment)
    try:
        scheduler, workers, address = cluster.start_all(1, workers=2)
        more = ["--scheduler", address, "--memory-limit", "700", "--attempts", "1"]
        sweep = subprocess.Popen(
            command("many", *more, program=("noting.py",)),
            env=environment, cwd=files, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        # Two are being read; the dead are done.
        wait_for(
            lambda: (
                (notes.exists() and len(notes.read_text().split()) >= 2) or sweep.poll() is not None
            )
        )
        workers[0].send_signal(signal.SIGKILL)
        wait_for(lambda: len(notes.read_text().split()) >= 5 or sweep.poll() is not None)
        scheduler.send_signal(signal.SIGKILL)
        said = sweep.communicate(timeout=90)[1]
        assert sweep.returncode == 2, said
        assert "is gone. Start it and its workers again" in said
        before = len(store.keys())
        assert 6 <= before < 40
        _, _, address = cluster.start_all(2, workers=1)
        more = [
            "--scheduler",
            address,
            "--memory-limit",
            "700",
            "--attempts",
            "1",
            "--resume",
            "--json",
        ]
        # The second command runs here: this process has loaded all that it needs.
        monkeypatch.setattr(planning, "FUNCTION", "noting:read")
        result = call(files, *command("many", *more)[3:])
        assert result.exit_code == 0, result.stderr
        # A worker that loses its scheduler may still finish what it has in hand.
        assert before <= json.loads(result.stdout)["before"] <= before + 2
    finally:
        cluster.stop()
    expected, found = digests(alone[0]), digests(files / "many")
    assert found.pop("units:15") is None
    del expected["units:15"]
    assert found == expected
    (poisoned,) = [record for _, record in store.records() if record["neuron"] == "units:15"]
    assert poisoned["status"] == "failed"
    assert "its limit is 700 MB" in poisoned["reason"]
    # Ten neurons are searched; what was in flight at the two kills, at most one for each worker, is
    # searched again.
    assert len(notes.read_text().split()) <= 10 + 1 + 2
