"""The index: fingerprints and keys of all formulas of an atlas, searched in memory, or
by a browser, which loads few of its shards for a question.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from closedform.arrays import FloatArray
from closedform.errors import ExpressionError
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.sweeping.atlas.concept_key import ConceptKey, concept_key
from closedform.sweeping.atlas.probe_points import STATISTICS, InputProfile, profiles


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A formula with its key, and its profiles where it is asked for."""

    formula: Expression  # with the inputs that occur, in the key's order
    key: ConceptKey
    profiles: tuple[InputProfile, ...]


def entry_of(formula: str | Expression) -> Entry:
    """A formula described; an ExpressionError if it cannot be: it is constant, has too many inputs,
    or no direction at any point that is tried.
    """
    expression = parse(formula) if isinstance(formula, str) else formula
    key = concept_key(expression)
    found = profiles(key.form)
    if not found:
        raise ExpressionError(f"{expression} has no finite gradient at positive inputs.")
    return Entry(key.form, key, tuple(found))


@dataclass(slots=True, eq=False)
class _Rows:
    """Formulas of one number of inputs: which they are, and their fingerprints."""

    numbers: list[np.ndarray] = field(default_factory=list)
    vectors: list[np.ndarray] = field(default_factory=list)

    def matrix(self) -> tuple[np.ndarray, np.ndarray]:
        """All in one piece."""
        if len(self.vectors) > 1:
            self.numbers = [np.concatenate(self.numbers)]
            self.vectors = [np.concatenate(self.vectors)]
        return self.numbers[0], self.vectors[0]


class ConceptIndex:
    """Formulas by number, in the order in which they were added."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._by_key: dict[str, list[int]] = {}
        self._by_law: dict[str, list[int]] = {}
        self._rows: dict[int, _Rows] = {}

    def __len__(self) -> int:
        return len(self.texts)

    def add(
        self,
        texts: Sequence[str],
        keys: Sequence[str],
        laws: Sequence[str],
        vectors: Sequence[FloatArray],
    ) -> None:
        """Add formulas as texts, with the short names of their keys and laws and their
        fingerprints.
        """
        start = len(self.texts)
        self.texts += texts
        for names, by in ((keys, self._by_key), (laws, self._by_law)):
            for number, name in enumerate(names, start):
                by.setdefault(name, []).append(number)
        lengths = np.array([len(vector) for vector in vectors])
        for length in np.unique(lengths):
            places = np.flatnonzero(lengths == length)
            rows = self._rows.setdefault(int(length), _Rows())
            rows.numbers.append(start + places)
            own = [vectors[place] for place in places.tolist()]
            rows.vectors.append(np.asarray(own, dtype=np.float32))

    def add_entries(self, entries: Iterable[Entry]) -> None:
        """Add described formulas."""
        found = list(entries)
        self.add(
            [str(entry.formula) for entry in found],
            [entry.key.id for entry in found],
            [entry.key.law_id for entry in found],
            [entry.profiles[0].vector for entry in found],
        )

    def with_key(self, name: str) -> list[int]:
        """Formulas with this key, by its short name."""
        return self._by_key.get(name, [])

    def with_law(self, name: str) -> list[int]:
        """Formulas with this law, by its short name."""
        return self._by_law.get(name, [])

    def nearest(self, vector: FloatArray, count: int) -> list[tuple[int, float]]:
        """The formulas with the nearest fingerprints, and their distances."""
        rows = self._rows.get(len(vector))
        if rows is None:
            return []
        numbers, matrix = rows.matrix()
        query = np.asarray(vector, dtype=np.float32)
        # The same order as that of distances, without a copy of the matrix.
        scores = np.einsum("nd,nd->n", matrix, matrix) - 2 * (matrix @ query)
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
