"""Saves without room, without permission, and killed in the middle: the old file or the new one."""

import os
import random
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import closedform as cf
from closedform.basics.files import write_text
from closedform.errors import SaveError
from closedform.testing import room_for
from closedform_bench.reliability.damaged_files import _answer
from closedform_bench.reliability.trial import TrialKind, each

FORBIDDEN = Path("/proc/closedform")
"""Nobody can write here, not even an administrator."""


def _field(version: int) -> cf.GradientField:
    points = np.random.default_rng(version).uniform(-1, 1, (1500, 3))
    return cf.GradientField.from_arrays(points, points, tangent="none")


SAVES: dict[str, Callable[[Path, int], object]] = {
    "field.npz": lambda path, version: _field(version).save(path),
    "answer.json": lambda path, version: _answer().save(path),
    "page.html": lambda path, version: _answer().report(path),
    "text.txt": lambda path, version: write_text(path, str(version) * 100_000),
}


def _full(save: Callable[[Path, int], object], path: Path, rng: random.Random) -> str:
    save(path, 1)
    before = path.read_bytes()
    with room_for(rng.randrange(len(before))):
        try:
            save(path, 2)
        except SaveError:
            kept = path.read_bytes() == before and os.listdir(path.parent) == [path.name]
            return "old file kept" if kept else "failed: the old file is gone"
    return "failed: nothing was said"


def _forbidden(save: Callable[[Path, int], object], path: Path, rng: random.Random) -> str:
    try:
        save(FORBIDDEN / path.name, 1)
    except SaveError:
        return "refused"
    return "failed: nothing was said"


def _killed(save: Callable[[Path, int], object], path: Path, rng: random.Random) -> str:
    save(path, 2)
    new = path.read_bytes()
    began = time.perf_counter()
    save(path, 1)
    usual = time.perf_counter() - began
    old = path.read_bytes()
    process = os.fork()
    if process == 0:
        try:
            save(path, 2)
        finally:
            os._exit(0)
    time.sleep(rng.uniform(0, 1.2) * usual)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return "old or new" if path.read_bytes() in (old, new) else "failed: half a file"


WAYS = (_full, _forbidden, _killed)


def _trial(number: int) -> str:
    name, save = list(SAVES.items())[number % len(SAVES)]
    way = WAYS[number // len(SAVES) % len(WAYS)]
    with tempfile.TemporaryDirectory() as folder:
        return way(save, Path(folder, name), random.Random(f"save {number}"))


KIND = TrialKind(
    "saves",
    "Saves on a full disk, in a forbidden place, and killed at any moment: an error that says so, "
    "and the old file or the new one.",
    300,
    each(_trial),
)
