"""The index: fingerprints and keys of all formulas of an atlas, searched in memory, or
by a browser, which loads few of its shards for a question.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from closedform.arrays import FloatArray
from closedform.errors import ExpressionError
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.sweeping.atlas.concept_key import ConceptKey, concept_key
from closedform.sweeping.atlas.probe_points import STATISTICS, InputProfile, profiles


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
