"""Every kind of save leaves the old file or the new one: on a full disk, and killed in the middle.

The file is its own worker: `python test_saves.py FOLDER` forks the processes that are killed.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from closedform.testing import room_for

resource = pytest.importorskip("resource")

OLD, NEW = 1, 2
ROUNDS = 3
PADDING = "x" * 40_000
"""Makes text files longer than a page, so that a save has a middle."""


@dataclass(frozen=True)
class Kind:
    """How a version is written into a folder, and how the version in a folder is read."""

    write: Callable[[Path, int], Any]
    read: Callable[[Path], int]


@cache
def field_of(version: int) -> Any:
    import closedform as cf

    points = np.random.default_rng(version).uniform(-1, 1, (2000, 3))
    points[0] = version
    return cf.GradientField.from_arrays(points, points)


def interpretation_of(version: int) -> Any:
    import closedform.report  # noqa: F401  gives answers their reports
    from closedform.interpretation.answer import Interpretation
    from closedform.interpretation.evidence import Provenance
    from closedform.interpretation.verdict import Verdict

    provenance = Provenance("terms", 0.0, 0, "finished", version, "", "factor", command=PADDING)
    field = field_of(1)
    return Interpretation(
        field.names, Verdict("none", f"version {version}"), field.quality, provenance
    )


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
    from closedform.networks.siamese_training import SiameseOptions, build_siamese

    options = SiameseOptions(hidden=(64, 64), epochs=version)
    module = build_siamese(options, 2)
    for parameter in module.parameters():
        torch.nn.init.constant_(parameter, version)
    TrainedSiamese(module, options, (), 0, "finished", 0.0).save(folder / "file.safetensors")


def read_weights(folder: Path) -> int:
    from closedform.networks.siamese import load_siamese

    values = {
        float(p.detach().min()) for p in load_siamese(folder / "file.safetensors").parameters()
    }
    assert len(values) == 1
    return int(values.pop())


def write_checkpoint(folder: Path, version: int) -> None:
    import torch

    from closedform.networks.siamese_training import SiameseOptions, TrainingRun

    run = TrainingRun(SiameseOptions(hidden=(64, 64)), 0, torch.zeros((8, 3, 2)), None)
    run.seconds = float(version)
    run.store(folder / "file.checkpoint")


def read_checkpoint(folder: Path) -> int:
    import torch

    return int(torch.load(folder / "file.checkpoint", weights_only=True)["seconds"])


def store_in(folder: Path) -> Any:
    from closedform.sweeping.execution.store import ResultStore

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
    from closedform.sweeping.layer_extraction import SweepInputs

    field = field_of(version)
    SweepInputs(field.points, field.names, field.tangent).save(store_in(folder).folder)


def read_inputs(folder: Path) -> int:
    from closedform.sweeping.layer_extraction import load_inputs

    names = sorted(os.listdir(folder / "store" / "inputs"))
    load = load_inputs.__wrapped__  # what it keeps in memory would hide a damaged file
    return int(
        max(load(str(folder / "store"), (), f"inputs/{name}").points[0, 0] for name in names)
    )


def write_table(folder: Path, version: int, ending: str) -> None:
    import pandas

    from closedform.cli.sweep_commands import write_table

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
    from matplotlib.figure import Figure

    from closedform.basics.files import replacing

    with replacing(folder / "file.png") as file:
        Figure(figsize=(version, 1)).savefig(file, format="png")


def read_figure(folder: Path) -> int:
    from matplotlib.image import imread

    height, width = imread(folder / "file.png").shape[:2]
    return OLD if width < 1.5 * height else NEW


def write_text(folder: Path, version: int) -> None:
    from closedform.basics.files import write_text

    write_text(folder / "file.txt", str(version) * 100_000)


def read_text(folder: Path) -> int:
    text = (folder / "file.txt").read_text()
    assert len(text) == 100_000
    assert len(set(text)) == 1
    return int(text[0])


KINDS = {
    "field": Kind(lambda f, v: field_of(v).save(f / "file.npz"), read_field),
    "interpretation": Kind(
        lambda f, v: interpretation_of(v).save(f / "file.json"), read_interpretation
    ),
    "report": Kind(lambda f, v: interpretation_of(v).report(f / "file.html"), read_page),
    "weights": Kind(write_weights, read_weights),
    "checkpoint": Kind(write_checkpoint, read_checkpoint),
    "record": Kind(
        lambda f, v: store_in(f).put("a1", {"version": v, "text": PADDING}), read_record
    ),
    "part": Kind(write_part, read_part),
    "inputs": Kind(write_inputs, read_inputs),
    "csv": Kind(lambda f, v: write_table(f, v, ".csv"), lambda f: read_table(f, ".csv")),
    "parquet": Kind(
        lambda f, v: write_table(f, v, ".parquet"), lambda f: read_table(f, ".parquet")
    ),
    "figure": Kind(write_figure, read_figure),
    "text": Kind(write_text, read_text),
}


def contents(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


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


def on_a_full_disk(kind: Kind, folder: Path) -> None:
    """A small disk of its own, which goes when the process goes: nobody else sees the mount."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", str(folder)], check=True)
    kind.write(folder, OLD)
    ballast = fill(folder)
    before = contents(folder)
    with pytest.raises(OSError, match="cannot be written: No space left"):
        kind.write(folder, NEW)
    assert contents(folder) == before
    assert kind.read(folder) == OLD
    ballast.unlink()
    kind.write(folder, NEW)
    assert kind.read(folder) == NEW


def cut_in_the_middle(kind: Kind, folder: Path) -> None:
    """The system ends the process inside the write that passes half of the file."""
    kind.write(folder, OLD)
    before = contents(folder)
    half = half_size(kind, folder.with_name(f"{folder.name}-spare"))
    process = os.fork()
    if process == 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        with room_for(half):
            kind.write(folder, NEW)
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(process, 0)[1]) == signal.SIGXFSZ
    after = contents(folder)
    (unfinished,) = set(after) - set(before)
    assert ".partial-" in unfinished
    assert 0 < len(after.pop(unfinished)) <= half
    assert after == before
    assert kind.read(folder) == OLD


def killed_at_any_moment(kind: Kind, folder: Path) -> None:
    """A process that saves for ever is killed, several times."""
    kind.write(folder, OLD)
    began = time.perf_counter()
    kind.write(folder, OLD)
    usual = time.perf_counter() - began
    rng = random.Random(0)
    for _ in range(ROUNDS):
        process = os.fork()
        if process == 0:
            while True:
                for version in (NEW, OLD):
                    kind.write(folder, version)
        time.sleep(rng.uniform(0.5, 3.0) * usual)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        assert kind.read(folder) in (OLD, NEW)


WAYS = {"full disk": on_a_full_disk, "cut": cut_in_the_middle, "killed": killed_at_any_moment}


def work(folder: Path) -> None:
    """Try every way with every kind, and write what went wrong, a line for each."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for way, name in product(WAYS, KINDS):
        place = folder / f"{way}-{name}"
        place.mkdir()
        problem = None
        try:
            WAYS[way](KINDS[name], place)
        except BaseException:
            problem = traceback.format_exc()
        sys.stdout.write(json.dumps({"way": way, "kind": name, "problem": problem}) + "\n")


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What a process with mounts of its own has seen; one process for all, since it forks for
    each.
    """
    isolated = ["unshare", "--map-root-user", "--mount"]
    can_mount = (
        shutil.which("unshare") is not None
        and not subprocess.run(
            [*isolated, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False
        ).returncode
    )
    call = [
        *(isolated if can_mount else []),
        sys.executable,
        __file__,
        str(tmp_path_factory.mktemp("saves")),
    ]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}
    result = subprocess.run(
        call, capture_output=True, text=True, check=False, env=environment, timeout=600
    )
    assert result.returncode == 0, result.stderr
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    return can_mount, {(line["way"], line["kind"]): line["problem"] for line in lines}


@pytest.mark.skipif(sys.platform != "linux", reason="needs fork, limits and mounts of Linux")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
def test_the_old_file_or_the_new_one_is_there(way, kind, outcomes):
    can_mount, problems = outcomes
    if way == "full disk" and not can_mount:
        pytest.skip("a small disk cannot be mounted here")
    assert problems[way, kind] is None, problems[way, kind]


if __name__ == "__main__":
    work(Path(sys.argv[1]))
