"""The concepts of an atlas: each formula with its key and fingerprint, computed once and kept
beside the results, and an index of them that is searched in memory or, in shards, by a browser.
"""

import io
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from closedform.arrays import FloatArray
from closedform.basics.files import read_arrays, read_header, reading
from closedform.errors import ClosedformError, ExpressionError
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.sweeping.atlas.concept_key import ConceptKey, concept_key
from closedform.sweeping.atlas.probe_points import STATISTICS, InputProfile, profiles
from closedform.sweeping.execution.shared_folder import SharedFolder, checksum


@dataclass(frozen=True, slots=True, eq=False)
class Concept:
    """A concept of an atlas."""

    id: str  # short name of its key
    law_id: str  # short name of its law
    form: str  # its canonical formula
    law: str  # the same without numbers
    vector: np.ndarray  # its fingerprint


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A formula with its key, and its profiles where it is asked for."""

    key: ConceptKey
    profiles: tuple[InputProfile, ...]

    @property
    def concept(self) -> Concept:
        """What an index keeps of it."""
        key, vector = self.key, self.profiles[0].vector.astype(np.float32)
        return Concept(key.id, key.law_id, str(key.form), key.law, vector)


def entry_of(formula: str | Expression) -> Entry:
    """A formula described; an ExpressionError if it cannot be: it is constant, has too many inputs,
    or no direction at any point that is tried.
    """
    expression = parse(formula) if isinstance(formula, str) else formula
    key = concept_key(expression)
    found = profiles(key.form)
    if not found:
        raise ExpressionError(f"{expression} has no finite gradient at positive inputs.")
    return Entry(key, tuple(found))


class ConceptIndex:
    """Concepts by number, in the order in which they were added; and their numbers by the short
    names of keys and laws, and by the length of their fingerprints.
    """

    def __init__(self, concepts: Iterable[Concept] = ()) -> None:
        self.concepts: list[Concept] = []
        self.by_key: defaultdict[str, list[int]] = defaultdict(list)
        self.by_law: defaultdict[str, list[int]] = defaultdict(list)
        self._by_length: defaultdict[int, list[int]] = defaultdict(list)
        self._matrices: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
        self.add(concepts)

    def __len__(self) -> int:
        return len(self.concepts)

    def add(self, concepts: Iterable[Concept]) -> None:
        """Add concepts."""
        for number, concept in enumerate(concepts, len(self)):
            self.concepts.append(concept)
            self.by_key[concept.id].append(number)
            self.by_law[concept.law_id].append(number)
            self._by_length[len(concept.vector)].append(number)
        self._matrices.clear()

    def nearest(self, vector: FloatArray, count: int) -> list[tuple[int, float]]:
        """The concepts with the nearest fingerprints, and their distances."""
        if len(vector) not in self._by_length:
            return []
        if len(vector) not in self._matrices:
            own = self._by_length[len(vector)]
            matrix = np.asarray([self.concepts[at].vector for at in own], dtype=np.float32)
            squares = np.einsum("nd,nd->n", matrix, matrix)
            self._matrices[len(vector)] = np.array(own), matrix, squares
        numbers, matrix, squares = self._matrices[len(vector)]
        query = np.asarray(vector, dtype=np.float32)
        # The same order as that of distances, without a copy of the matrix.
        scores = squares - 2 * (matrix @ query)
        few = (
            np.argpartition(scores, count)[:count]
            if count < len(scores)
            else np.arange(len(scores))
        )
        distances = np.linalg.norm(matrix[few] - query, axis=1)
        order = np.lexsort((numbers[few], distances))
        return [(int(numbers[few[at]]), float(distances[at])) for at in order]


ROWS = 500
"""Formulas in a shard: about 200 kB."""

SCALE = 1e5
"""Fingerprints are written as whole numbers of this size: five digits."""


def shards(concepts: Iterable[tuple[Concept, str, int]]) -> Iterator[tuple[str, str]]:
    """Names and texts of the scripts, the table of them last; of concepts with their verdicts and
    the number of their networks.
    """
    table, ordered = [], sorted(concepts, key=lambda one: (float(one[0].vector[0]), one[0].id))
    for length in sorted({len(concept.vector) for concept, *_ in ordered}):
        alike = [row for row in ordered if len(row[0].vector) == length]
        count = length // STATISTICS
        for start in range(0, len(alike), ROWS):
            part = alike[start : start + ROWS]
            name = f"{count}-{start // ROWS}"
            low, high = (round(float(part[at][0].vector[0]), 5) for at in (0, -1))
            table.append({"name": name, "inputs": count, "low": low, "high": high})
            rows = [
                {
                    "id": concept.id,
                    "formula": concept.form,
                    "verdict": verdict,
                    "networks": networks,
                    "vector": np.rint(SCALE * concept.vector).astype(int).tolist(),
                }
                for concept, verdict, networks in part
            ]
            yield f"{name}.js", f"atlasShard({json.dumps(name)},{_compact(rows)});\n"
    yield "shards.js", f"window.ATLAS_SHARDS={_compact(table)};\n"


def _compact(content: object) -> str:
    return json.dumps(content, separators=(",", ":"))


FOLDER = "atlas/concepts"
SCHEMA = 1
"""Counted up when the same formula would get another key; files of other numbers are left alone."""

ROWS_OF_FILE = 20_000
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
        for start in range(0, len(new), ROWS_OF_FILE):
            self._keep(new[start : start + ROWS_OF_FILE])
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
