"""A folder of measurements: one file for each part and seed, and the folder in which an unfinished
one resumes.
"""

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from closedform.basics.files import reading, write_text
from closedform_bench.figures.part import FigurePart, Measurement


class MeasurementStore:
    """Measurements by part and seed.

    Parameters
    ----------
    path : Path
        A folder; made by what is kept first.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()

    def keep(self, measurement: Measurement) -> None:
        """Keep a measurement; an earlier one of the same part and seed is replaced."""
        file = self._file(measurement.part, measurement.seed)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, json.dumps(asdict(measurement)) + "\n")

    def get(self, part: str, seed: int) -> Measurement | None:
        """What a part gave with a seed, or None."""
        file = self._file(part, seed)
        return _load(file) if file.exists() else None

    def all_of(self, part: str) -> list[Measurement]:
        """What a part gave, by seed."""
        found = map(_load, (self.path / part).glob("seed-*.json"))
        return sorted(found, key=lambda measurement: measurement.seed)

    def latest_of(self, part: FigurePart) -> list[Measurement]:
        """What the part's command gave with the code of its newest measurement, by seed: figures
        of different code, or of a command that has changed since, are not mixed.
        """
        mine = [
            measurement
            for measurement in self.all_of(part.name)
            if measurement.command in _spellings(part, measurement.seed)
        ]
        newest = max(mine, key=lambda measurement: measurement.date, default=None)
        return [one for one in mine if newest is not None and one.code == newest.code]

    def workshop(self, part: str, seed: int, code: str, *, processor: bool) -> Path:
        """Where an unfinished measurement keeps its own results; other code begins again."""
        clock = "-processor" if processor else ""
        return self.path / part / f"unfinished-seed-{seed}{clock}-{code or 'unknown'}"

    def _file(self, part: str, seed: int) -> Path:
        return self.path / part / f"seed-{seed}.json"


def _load(file: Path) -> Measurement:
    with reading(file, "remove it, and measure it again with `closedform figures run`"):
        return Measurement(**json.loads(file.read_text(encoding="utf-8")))


def _spellings(part: FigurePart, seed: int) -> Sequence[str]:
    return [shlex.join(part.command(seed, processor=clock)) for clock in (False, True)]
