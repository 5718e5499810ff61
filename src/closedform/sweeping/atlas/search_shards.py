"""Shards for searching in a browser: small scripts, each with formulas whose fingerprints are near
each other, so that a question loads few of them.

They are scripts and not JSON files, because browsers load no data from a file system.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from closedform.sweeping.atlas.input_profile import STATISTICS

ROWS = 500
"""Formulas in a shard: about 200 kB."""

SCALE = 1e5
"""Fingerprints are written as whole numbers of this size: five digits."""


@dataclass(frozen=True, slots=True, eq=False)
class Searchable:
    """A concept as the search shows it."""

    id: str
    formula: str
    verdict: str
    networks: int
    vector: np.ndarray


def shards(concepts: Sequence[Searchable]) -> Iterator[tuple[str, str]]:
    """Names and texts of the scripts, the table of them last."""
    table = []
    for length in sorted({len(each.vector) for each in concepts}):
        alike = [each for each in concepts if len(each.vector) == length]
        alike.sort(key=lambda each: (float(each.vector[0]), each.id))
        count = length // STATISTICS
        for start in range(0, len(alike), ROWS):
            part = alike[start : start + ROWS]
            name = f"{count}-{start // ROWS}"
            low, high = (round(float(part[at].vector[0]), 5) for at in (0, -1))
            table.append({"name": name, "inputs": count, "low": low, "high": high})
            rows = json.dumps([_row(each) for each in part], separators=(",", ":"))
            yield f"{name}.js", f"atlasShard({json.dumps(name)},{rows});\n"
    yield "shards.js", f"window.ATLAS_SHARDS={json.dumps(table, separators=(',', ':'))};\n"


def _row(concept: Searchable) -> dict[str, object]:
    return {
        "id": concept.id,
        "formula": concept.formula,
        "verdict": concept.verdict,
        "networks": concept.networks,
        "vector": np.rint(SCALE * concept.vector).astype(int).tolist(),
    }
