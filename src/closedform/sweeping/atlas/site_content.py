"""What the pages of a site show: records gathered by network, by concept and by law,
and pictures of fields beside their formulas.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from closedform.errors import ClosedformError
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.gradient_field import GradientField
from closedform.interpretation.evidence import Directions
from closedform.interpretation.verdict import STATUSES
from closedform.judge.alignment import angles_in_degrees
from closedform.report.figure_numbers import shown_range
from closedform.report.svg import Frame, angles_svg, directions_svg, dots
from closedform.sweeping.atlas.concept_index import Concept
from closedform.sweeping.atlas.finding import described
from closedform.sweeping.atlas.matching import compare_formulas
from closedform.sweeping.atlas.probe_points import SPANS
from closedform.sweeping.atlas.records import ARCHITECTURE, Atlas, AtlasRecord, NetworkCard
from closedform.sweeping.execution.store import ResultStore
from closedform.sweeping.neuron_task import load_neuron

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
        self.of_network: dict[str, list[AtlasRecord]] = {card.id: [] for card in atlas.cards}
        for record in self.records:
            self.of_network[record.card.id].append(record)
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
        names = dict.fromkeys(self.concept_of(record) for record in self.laws[law].records)
        found = [self.concepts[name] for name in names]
        return sorted(found, key=lambda each: (-each.networks, -len(each.records), each.id))

    def verdicts(self, card: NetworkCard) -> list[tuple[str, int]]:
        """How many neurons of a network have each verdict."""
        counts = Counter(each.verdict for each in self.of_network[card.id])
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
    ordered = sorted(concepts, key=lambda each: (len(each.vector), len(each.form), each.id))
    found: dict[str, str] = {}
    for _, group in groupby(ordered, key=lambda each: len(each.vector)):
        alike = list(group)
        vectors = np.array([each.vector for each in alike])
        # A tree within a small reach: comparing all with all would take hours for 10^5.
        _, near = cKDTree(vectors).query(vectors, k=MOST_ALIKE, distance_upper_bound=ALIKE)
        for number, others in enumerate(near.tolist()):
            for other in others:
                if other < number and _is_same(alike[number].form, alike[other].form):
                    found[alike[number].id] = found.get(alike[other].id, alike[other].id)
                    break
    return found


def _is_same(one: str, other: str) -> bool:
    for span in range(len(SPANS)):
        (first, own), (second, beside) = (described(text, span) for text in (one, other))
        if own is not None and beside is not None:
            compared = compare_formulas(first, second, (own, beside))
            return compared is not None and compared.is_exact
    return False


MOST_POINTS = 300
"""Points of a scatter plot: more would hide each other."""


def field_pictures(store: ResultStore, row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Captions and pictures of a record's field; none where its field was not kept."""
    if "field" not in row or not isinstance(row.get("concept"), str):
        return []
    try:
        field = load_neuron([store.path, store.options], row["neuron"], row["field"])
        concept = parse(row["concept"], names=list(field.names))
    except ClosedformError:  # the fields of a sweep may be dropped
        return []
    angles = angles_in_degrees(field_misalignment(concept, field)[field.weights > 0])
    made = [
        ("Directions of the network under those of the formula", _directions(field, concept)),
        ("The neuron against the formula", _values(field, concept)),
        ("Angles between formula and network", angles_svg(angles[np.isfinite(angles)].tolist())),
    ]
    return [(caption, picture) for caption, picture in made if picture is not None]


def _directions(field: GradientField, concept: Expression) -> str | None:
    if len(field.names) != 2:
        return None
    usable = field.weights > 0
    points = field.points[usable]
    vectors = (points, field.directions[usable, :, 0], concept.gradient(points))
    pairs = [tuple((float(x), float(y)) for x, y in array) for array in vectors]
    return directions_svg(Directions(*pairs), field.names)


def _values(field: GradientField, concept: Expression) -> str | None:
    if field.latents is None:
        return None
    with np.errstate(all="ignore"):
        x, y = concept(field.points), field.latents[:, 0]
    good = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if len(good) < 2 or not np.ptp(x[good]) or not np.ptp(y[good]):
        return None
    few = good[:: max(len(good) // MOST_POINTS, 1)]
    frame = Frame(shown_range(x[good]), shown_range(y[good]))
    shapes = [f'<path class="dots" d="{dots(frame, x[few], y[few])}"/>']
    return frame.picture("The neuron against the formula", "formula", "neuron", shapes)
