"""The concepts of a store: each formula with its key, computed once and kept beside the results.

Files are only added, each with what was new, and never changed; several processes may add the same.
"""

import io
import json
from collections.abc import Iterable, Sequence

import numpy as np

from closedform.basics.files import read_arrays, read_header, reading
from closedform.errors import ClosedformError
from closedform.sweeping.atlas.concept_index import Concept, ConceptIndex, entry_of
from closedform.sweeping.execution.shared_folder import SharedFolder, checksum

FOLDER = "atlas/concepts"
SCHEMA = 1
"""Counted up when the same formula would get another key; files of other numbers are left alone."""

ROWS = 20_000
"""Formulas in one file at most: some 10 MB."""


class ConceptBook:
    """What is known of the formulas of a store."""

    def __init__(self, folder: SharedFolder) -> None:
        self._folder = folder
        self.of_text: dict[str, str] = {}
        """The concept of each formula as it was read; empty for one that has no key."""
        self.concepts: dict[str, Concept] = {}
        for name in sorted(folder.names(f"{FOLDER}/{SCHEMA}")):
            self._load(f"{FOLDER}/{SCHEMA}/{name}")

    def add(self, texts: Iterable[str]) -> int:
        """Describe the formulas that are not known yet, and keep them; how many there were."""
        new = sorted(set(texts) - self.of_text.keys())
        for start in range(0, len(new), ROWS):
            self._keep(new[start : start + ROWS])
        return len(new)

    def index(self) -> ConceptIndex:
        """All concepts ready to be searched, by name."""
        return ConceptIndex(self.concepts[name] for name in sorted(self.concepts))

    def _keep(self, texts: Sequence[str]) -> None:
        rows: list[tuple[str, str]] = []
        fresh: dict[str, Concept] = {}
        for text, concept in zip(texts, map(_described, texts), strict=True):
            rows.append((text, "" if concept is None else concept.id))
            if concept is not None and concept.id not in self.concepts:
                fresh.setdefault(concept.id, concept)
        self.of_text.update(rows)
        self.concepts.update(fresh)
        content = _written(rows, list(fresh.values()))
        self._folder.write(f"{FOLDER}/{SCHEMA}/{checksum(content)}.npz", content)

    def _load(self, name: str) -> None:
        """What a file holds; one that is not whole is skipped, and its formulas described again."""
        content = self._folder.read(name)
        if content is None or not name.endswith(f"/{checksum(content)}.npz"):
            return
        arrays = read_arrays(name, remedy="delete it", content=content)
        with reading(name, "delete it"):
            told = read_header(arrays)
            self.of_text.update((text, concept) for text, concept in told["formulas"])
            numbers, start = arrays["vectors"], 0
            for id_, law_id, form, law, length in told["concepts"]:
                vector = numbers[start : start + length]
                start += length
                self.concepts.setdefault(id_, Concept(id_, law_id, form, law, vector))


def _described(text: str) -> Concept | None:
    try:
        return entry_of(text).concept
    except ClosedformError:  # constant, too long, or of too many inputs
        return None


def _written(rows: Sequence[tuple[str, str]], concepts: Sequence[Concept]) -> bytes:
    told = {
        "formulas": list(rows),
        "concepts": [(c.id, c.law_id, c.form, c.law, len(c.vector)) for c in concepts],
    }
    stream = io.BytesIO()
    text = np.frombuffer(json.dumps(told).encode(), dtype=np.uint8)
    vectors = np.concatenate([np.zeros(0, np.float32), *(c.vector for c in concepts)])
    np.savez(stream, header=text, vectors=vectors)
    return stream.getvalue()
