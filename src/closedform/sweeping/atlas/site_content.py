"""What the pages of a site show: records gathered by network, by concept and by law."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from closedform.interpretation.verdict import STATUSES
from closedform.judge.alignment import angles_in_degrees
from closedform.sweeping.atlas.concept_book import Concept
from closedform.sweeping.atlas.concept_index import ConceptIndex
from closedform.sweeping.atlas.finding import described
from closedform.sweeping.atlas.matching import compare_formulas
from closedform.sweeping.atlas.network_card import NetworkCard
from closedform.sweeping.atlas.probe_points import SPANS
from closedform.sweeping.atlas.records import ARCHITECTURE, Atlas, AtlasRecord

ALIKE = 0.02
"""Distance of fingerprints within which concepts with different keys are compared."""

MOST_ALIKE = 10
"""Neighbours with which a concept is compared: what is the same is nearest."""

_ORDER = (*STATUSES[:-1], ARCHITECTURE, STATUSES[-1], "failed")


@dataclass(slots=True, eq=False)
class Gathered:
    """Records of one concept, or of one law."""

    id: str
    records: list[AtlasRecord] = field(default_factory=list)

    @property
    def networks(self) -> int:
        """In how many networks it is."""
        return len({record.card.id for record in self.records})

    @property
    def best(self) -> AtlasRecord:
        """The record with the best verdict, then the smallest angle."""
        return min(self.records, key=lambda each: (_ORDER.index(each.verdict), *_angle(each)))

    @property
    def is_learned(self) -> bool:
        """Whether a network shows it that would not without training."""
        return any(not record.is_architecture for record in self.records)


class SiteContent:
    """Everything that pages need, in an order that depends on the store's content alone."""

    def __init__(self, atlas: Atlas) -> None:
        self.atlas = atlas
        self.records = list(atlas.records())
        self.cards: list[NetworkCard] = atlas.cards
        shown = {record.concept for record in self.records if record.concept}
        self.aliases = _aliases([atlas.book.concepts[name] for name in sorted(shown)])
        self.concepts: dict[str, Gathered] = {}
        self.laws: dict[str, Gathered] = {}
        for record in self.records:
            if record.concept:
                name = self.aliases.get(record.concept, record.concept)
                law = atlas.book.concepts[name].law_id
                self.concepts.setdefault(name, Gathered(name)).records.append(record)
                self.laws.setdefault(law, Gathered(law)).records.append(record)

    def concept(self, name: str) -> Concept:
        """A concept by name."""
        return self.atlas.book.concepts[name]

    def concept_of(self, record: AtlasRecord) -> str:
        """The name of the page of a record's concept; empty without one."""
        return self.aliases.get(record.concept, record.concept)

    def concepts_of_law(self, law: str) -> list[Gathered]:
        """Its concepts, those in most networks first."""
        found = [each for each in self.concepts.values() if self.concept(each.id).law_id == law]
        return sorted(found, key=lambda each: (-each.networks, -len(each.records), each.id))

    def verdicts(self, card: NetworkCard) -> list[tuple[str, int]]:
        """How many neurons of a network have each verdict."""
        counts = Counter(each.verdict for each in self.records if each.card is card)
        return [(verdict, counts[verdict]) for verdict in _ORDER if counts[verdict]]


def degrees(record: AtlasRecord) -> float | None:
    """The angle between formula and network."""
    misalignment = record.content.get("misalignment")
    if not isinstance(misalignment, int | float) or not record.concept:
        return None
    return float(angles_in_degrees(np.array(misalignment)))


def _angle(record: AtlasRecord) -> tuple[float, str, str]:
    angle = degrees(record)
    return (360.0 if angle is None else angle), record.card.id, record.neuron


def _aliases(concepts: list[Concept]) -> dict[str, str]:
    """Concepts with different keys that are the same: each with the name of the plainest."""
    index = ConceptIndex()
    ordered = sorted(concepts, key=lambda each: (len(each.form), each.id))
    index.add(
        [each.form for each in ordered],
        [each.id for each in ordered],
        [each.law_id for each in ordered],
        [each.vector for each in ordered],
    )
    found: dict[str, str] = {}
    for number, concept in enumerate(ordered):
        for other, gap in index.nearest(concept.vector, MOST_ALIKE):
            if other < number and gap < ALIKE and _is_same(concept.form, ordered[other].form):
                found[concept.id] = found.get(ordered[other].id, ordered[other].id)
                break
    return found


def _is_same(one: str, other: str) -> bool:
    for span in range(len(SPANS)):
        (first, own), (second, beside) = (described(text, span) for text in (one, other))
        if own is not None and beside is not None:
            compared = compare_formulas(first, second, (own, beside))
            return compared is not None and compared.is_exact
    return False
