"""Every kind of save leaves the old file or the new one: on a full disk, and killed in the middle.

The file is its own worker: `python test_saves.py HOW KIND FOLDER` is what is killed.
"""

import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

OLD, NEW = 1, 2
ROUNDS = 6
PADDING = "x" * 40_000
"""Makes text files longer than a page, so that a save has a middle."""


@dataclass(frozen=True)
class Kind:
    """How a version is written into a folder, and how the version in a folder is read."""

    write: Callable[[Path, int], Any]
    read: Callable[[Path], int]


def field_of(version: int) -> Any:
    import closedform as cf

    points = np.random.default_rng(version).uniform(-1, 1, (2000, 3))
    points[0] = version
    return cf.GradientField.from_arrays(points, points)


def interpretation_of(version: int) -> Any:
    from closedform.concept_reading import without_evidence
    from closedform.interpretation import Provenance
    from closedform.verification.verdict import nothing_found

    provenance = Provenance("terms", 0.0, 0, "finished", version, "", "factor", command=PADDING)
    return without_evidence(field_of(1), nothing_found(f"version {version}"), provenance)


def read_field(folder: Path) -> int:
    import closedform as cf

    return int(cf.load_field(folder / "file.npz").points[0, 0])


def read_interpretation(folder: Path) -> int:
    import closedform as cf

    return cf.load_interpretation(folder / "file.json").provenance.seed


def read_page(folder: Path) -> int:
    page = (folder / "file.html").read_text()
    assert page.rstrip().endswith("</html>")
    return OLD if f"version {OLD}" in page else NEW


def write_weights(folder: Path, version: int) -> None:
    import torch

    from closedform.networks.siamese import TrainedSiamese
    from closedform.networks.siamese_network import SiameseOptions, build_siamese

    options = SiameseOptions(hidden=(64, 64), epochs=version)
    module = build_siamese(options, 2)
    for parameter in module.parameters():
        torch.nn.init.constant_(parameter, version)
    TrainedSiamese(module, options, (), 0, "finished", 0.0).save(folder / "file.safetensors")


def read_weights(folder: Path) -> int:
    from closedform.networks.siamese import load_siamese

    values = {float(p.detach().min()) for p in load_siamese(folder / "file.safetensors").parameters()}
    assert len(values) == 1
    return int(values.pop())


def write_checkpoint(folder: Path, version: int) -> None:
    import torch

    from closedform.networks.siamese_network import SiameseOptions
    from closedform.networks.siamese_run import Run

    run = Run(SiameseOptions(hidden=(64, 64)), 0, torch.zeros((8, 3, 2)), None)
    run.seconds = float(version)
    run.store(folder / "file.checkpoint")


def read_checkpoint(folder: Path) -> int:
    import torch

    return int(torch.load(folder / "file.checkpoint", weights_only=True)["seconds"])


def store_in(folder: Path) -> Any:
    from closedform.execution.store import ResultStore

    return ResultStore(folder / "store")


def read_record(folder: Path) -> int:
    record = store_in(folder).get("a1")
    assert record is not None
    return record["version"]


def write_part(folder: Path, version: int) -> None:
    store_in(folder).parts.add([("a1", f'{{"version": {version}, "text": "{PADDING}"}}')])


def read_part(folder: Path) -> int:
    assert store_in(folder).parts.damaged() == []
    return read_record(folder)


def write_inputs(folder: Path, version: int) -> None:
    from closedform.sweeping.inputs_file import SweepInputs

    field = field_of(version)
    SweepInputs(field.points, field.names, field.tangent).save(store_in(folder).folder)


def read_inputs(folder: Path) -> int:
    from closedform.sweeping.inputs_file import load_inputs

    names = sorted(os.listdir(folder / "store" / "inputs"))
    load = load_inputs.__wrapped__  # what it keeps in memory would hide a damaged file
    return int(max(load(str(folder / "store"), (), f"inputs/{name}").points[0, 0] for name in names))


def write_table(folder: Path, version: int, ending: str) -> None:
    import pandas

    from closedform.cli.sweep import write_table

    rng = np.random.default_rng(version)
    table = pandas.DataFrame({"version": np.full(4000, version), "number": rng.normal(size=4000)})
    write_table(table, folder / f"file{ending}")


def read_table(folder: Path, ending: str) -> int:
    import pandas

    file = folder / f"file{ending}"
    table = pandas.read_parquet(file) if ending == ".parquet" else pandas.read_csv(file)
    assert len(table) == 4000
    return int(table["version"].unique().item())


def write_figure(folder: Path, version: int) -> None:
    from closedform.report.sheets import write_sheet

    write_sheet([("", lambda ax: ax.plot([0, 1], [0, version]))] * version, folder / "file.png")


def read_figure(folder: Path) -> int:
    from matplotlib.image import imread

    height, width = imread(folder / "file.png").shape[:2]
    return OLD if width < 1.5 * height else NEW


def write_text(folder: Path, version: int) -> None:
    from closedform.files import write_text

    write_text(folder / "file.txt", str(version) * 100_000)


def read_text(folder: Path) -> int:
    text = (folder / "file.txt").read_text()
    assert len(text) == 100_000
    assert len(set(text)) == 1
    return int(text[0])


KINDS = {
    "field": Kind(lambda f, v: field_of(v).save(f / "file.npz"), read_field),
    "interpretation": Kind(lambda f, v: interpretation_of(v).save(f / "file.json"), read_interpretation),
    "report": Kind(lambda f, v: interpretation_of(v).report(f / "file.html"), read_page),
    "weights": Kind(write_weights, read_weights),
    "checkpoint": Kind(write_checkpoint, read_checkpoint),
    "record": Kind(lambda f, v: store_in(f).put("a1", {"version": v, "text": PADDING}), read_record),
    "part": Kind(write_part, read_part),
    "inputs": Kind(write_inputs, read_inputs),
    "csv": Kind(lambda f, v: write_table(f, v, ".csv"), lambda f: read_table(f, ".csv")),
    "parquet": Kind(lambda f, v: write_table(f, v, ".parquet"), lambda f: read_table(f, ".parquet")),
    "figure": Kind(write_figure, read_figure),
    "text": Kind(write_text, read_text),
}


def contents(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


def run_worker(how: str, kind: str, folder: Path) -> subprocess.CompletedProcess:
    environment = os.environ | {"OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}
    call = [sys.executable, __file__, how, kind, str(folder)]
    return subprocess.run(call, capture_output=True, text=True, check=False, env=environment, timeout=300)


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """Writes beyond this size fail; Python ignores the signal that comes with it."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def half_size(kind: Kind, spare: Path) -> int:
    """Half of the room that a new version needs."""
    spare.mkdir()
    kind.write(spare, NEW)
    return max(len(content) for content in contents(spare).values()) // 2


@pytest.mark.parametrize("kind", KINDS)
def test_no_room_for_half_the_file_leaves_the_old_one_as_it_was(kind, tmp_path):
    """`field.save` on a full disk destroyed the good file that was there."""
    folder = tmp_path / "folder"
    folder.mkdir()
    KINDS[kind].write(folder, OLD)
    before = contents(folder)
    half = half_size(KINDS[kind], tmp_path / "spare")
    with room_for(half), pytest.raises(OSError, match="cannot be written: File too large"):
        KINDS[kind].write(folder, NEW)
    assert contents(folder) == before
    assert KINDS[kind].read(folder) == OLD


def fill(disk: Path) -> Path:
    """A file that takes all the room that is left."""
    ballast = disk / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    return ballast


@pytest.mark.parametrize("kind", KINDS)
def test_a_real_full_disk_leaves_the_old_file_as_it_was(kind, tmp_path):
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", str(tmp_path)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        KINDS[kind].write(tmp_path, OLD)
        ballast = fill(tmp_path)
        before = contents(tmp_path)
        with pytest.raises(OSError, match=r"cannot be written: No space left"):
            KINDS[kind].write(tmp_path, NEW)
        assert contents(tmp_path) == before
        assert KINDS[kind].read(tmp_path) == OLD
        ballast.unlink()
        KINDS[kind].write(tmp_path, NEW)
        assert KINDS[kind].read(tmp_path) == NEW
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kill_in_the_middle_leaves_the_old_file(kind, tmp_path):
    """The system ends the process inside the write that passes half of the file."""
    KINDS[kind].write(tmp_path, OLD)
    before = contents(tmp_path)
    result = run_worker("cut", kind, tmp_path)
    assert result.returncode == -signal.SIGXFSZ, result.stdout + result.stderr
    after = contents(tmp_path)
    assert {name: after[name] for name in before} == before
    assert all(".partial-" in name and after[name] for name in set(after) - set(before))
    assert len(after) == len(before) + 1
    assert KINDS[kind].read(tmp_path) == OLD


@pytest.mark.parametrize("kind", KINDS)
def test_a_kill_at_any_moment_leaves_the_old_file_or_the_new_one(kind, tmp_path):
    result = run_worker("kill", kind, tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.split().count("whole") == ROUNDS


def cut_in_the_middle(kind: Kind, folder: Path) -> None:
    """Write a new version where the system ends the process that writes more than half of it."""
    half = half_size(kind, folder.with_name(f"{folder.name}-spare"))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with room_for(half):
        kind.write(folder, NEW)


def killed_at_any_moment(kind: Kind, folder: Path) -> None:
    """Fork a process that saves for ever, kill it, and look; several times."""
    kind.write(folder, OLD)
    began = time.perf_counter()
    kind.write(folder, OLD)
    usual = time.perf_counter() - began
    for _ in range(ROUNDS):
        process = os.fork()
        if process == 0:
            while True:
                for version in (NEW, OLD):
                    kind.write(folder, version)
        time.sleep(random.uniform(0.5, 3.0) * usual)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        assert kind.read(folder) in (OLD, NEW)
        sys.stdout.write("whole\n")


if __name__ == "__main__":
    how, chosen, place = sys.argv[1], KINDS[sys.argv[2]], Path(sys.argv[3])
    if how == "kill":
        killed_at_any_moment(chosen, place)
    else:
        cut_in_the_middle(chosen, place)
