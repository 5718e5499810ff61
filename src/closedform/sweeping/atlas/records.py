"""The records of an atlas: what each neuron of each network was read as, with its concept, and
whether an untrained network shows it as well. A small file in the store identifies each network on
its data.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

from closedform.basics import limits
from closedform.errors import StorageError
from closedform.interpretation.verdict import STATUSES
from closedform.sweeping.atlas.concept_index import Concept, ConceptBook
from closedform.sweeping.execution.shared_folder import SharedFolder
from closedform.sweeping.execution.store import ResultStore
from closedform.sweeping.execution.task import content_key

FOLDER = "atlas/networks"
SCHEMA = 1
ID_DIGITS = 16
"""Of a network's name in links: among 10^5 networks two are alike with a probability of 10^-9."""


@dataclass(frozen=True, slots=True)
class NetworkCard:
    """A network on its data, as it was read."""

    name: str
    version: str
    licence: str
    source: str  # where its weights are from
    network: str  # digest of its layers and weights
    data: str  # digest of the points, names and tangent space
    names: tuple[str, ...]  # the inputs
    ranges: tuple[tuple[float, float], ...]  # of each input in the data
    n_points: int
    layers: tuple[str, ...]
    seed: int
    effort: Mapping[str, Any]
    units: Mapping[str, str] = field(default_factory=dict)  # of inputs, where they are known
    untrained: str = ""
    """Digest of the untrained network of the same shape; empty if there was none."""
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """A name for links, that of this network on this data for good."""
        return _id(self.network, self.data)

    def save(self, folder: SharedFolder) -> None:
        """Put the card into a store; an earlier one of the same network and data is replaced."""
        text = json.dumps({"schema": SCHEMA, **asdict(self)}, indent=1, sort_keys=True)
        folder.write(f"{FOLDER}/{self.id}.json", text.encode())


@lru_cache(maxsize=2**16)
def _id(network: str, data: str) -> str:
    return content_key({"network": network, "data": data})[:ID_DIGITS]


def read_cards(folder: SharedFolder) -> list[NetworkCard]:
    """All cards of a store, by name and version."""
    names = [name for name in folder.names(FOLDER) if name.endswith(".json")]
    places = sorted(f"{FOLDER}/{name}" for name in names)
    cards = [_read(name, content) for name, content in folder.read_many(places, limits.TEXT)]
    return sorted(cards, key=lambda card: (card.name, card.version, card.id))


def _read(name: str, content: bytes | None) -> NetworkCard:
    try:
        told = json.loads(content or b"")
        if told.pop("schema") > SCHEMA:
            raise StorageError(f"{name} was written by a later version; upgrade closedform.")
        told["ranges"] = tuple((float(low), float(high)) for low, high in told["ranges"])
        told |= {each: tuple(map(str, told[each])) for each in ("names", "layers")}
        return NetworkCard(**told)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise StorageError(
            f"{name} is damaged ({type(error).__name__}); add the network again, or delete it."
        ) from error


ARCHITECTURE = "architecture"
BRIEF = ("neuron", "verdict", "concept", "seed", "evaluations", "digest", "network", "data")
"""Entries of a record that a search needs."""

TOLD = (
    *BRIEF, "reasons", "reason", "field", "same_as", "status", "complexity", "misalignment",
    "floor",
)  # fmt: skip
"""Entries that a page or the table needs."""


@dataclass(frozen=True, slots=True, eq=False)
class AtlasRecord:
    """A neuron."""

    card: NetworkCard
    content: Mapping[str, Any]  # what the sweep wrote
    concept: str  # name of its concept; empty without a formula
    is_architecture: bool

    @property
    def neuron(self) -> str:
        """As a selector."""
        return str(self.content["neuron"])

    @property
    def layer(self) -> str:
        """The layer of the neuron."""
        return _layer(self.content)

    @property
    def verdict(self) -> str:
        """The verdict, or that the architecture alone shows the formula."""
        return (
            ARCHITECTURE if self.is_architecture else str(self.content.get("verdict") or "failed")
        )

    @property
    def reason(self) -> str:
        """Why, in the words of the reading."""
        reasons = self.content.get("reasons") or [self.content.get("reason") or ""]
        return " ".join(str(each) for each in reasons if each)


class Atlas:
    """A store that holds networks.

    is_brief: whether only neurons with a formula are kept, and of these what a search tells; else
        what a page tells, since whole records of a million neurons would take gigabytes.
    """

    def __init__(self, store: ResultStore, *, is_brief: bool = False) -> None:
        store.check_exists()
        self.store = store
        self.cards = read_cards(store.folder)
        self.book = ConceptBook(store.folder)
        own = {(card.network, card.data) for card in self.cards}
        twins = {(card.untrained, card.data) for card in self.cards if card.untrained}
        found: dict[tuple[str, str], list[dict[str, Any]]] = {each: [] for each in own | twins}
        texts: dict[Any, Any] = {}
        for _, row in store.records(BRIEF if is_brief else None):
            origin = (str(row.get("network", "")), str(row.get("data", "")))
            if origin in found and (not is_brief or isinstance(row.get("concept"), str)):
                found[origin].append(_told(row, texts))
        formulas = (row.get("concept") for rows in found.values() for row in rows)
        self.book.add(text for text in formulas if isinstance(text, str))
        self._rows = found

    def records(self) -> Iterator[AtlasRecord]:
        """All neurons, network by network, in the order of the network's layers."""
        for card in self.cards:
            shown = self._shown_untrained(card)
            places = {layer: place for place, layer in enumerate(card.layers)}
            rows = self._latest(card)
            rows.sort(key=lambda row: _place(str(row["neuron"]), places))
            for row in rows:
                concept = self._concept(row)
                best = None if concept is None else shown.get(_shown_as(row, concept))
                is_architecture = best is not None and best <= _rank(row)
                yield AtlasRecord(card, row, "" if concept is None else concept.id, is_architecture)

    def _latest(self, card: NetworkCard) -> list[dict[str, Any]]:
        """One row for each neuron: the one that was read with the card's effort and seed, if there
        are several.
        """

        def preference(row: dict[str, Any]) -> tuple[bool, int, str]:
            return row.get("seed") == card.seed, row.get("evaluations") or 0, str(row["digest"])

        rows = sorted(self._rows[(card.network, card.data)], key=preference)
        return list({str(row["neuron"]): row for row in rows}.values())

    def _concept(self, row: Mapping[str, Any]) -> Concept | None:
        name = self.book.of_text.get(row.get("concept") or "")
        return self.book.concepts[name] if name and row.get("verdict") != "none" else None

    def _shown_untrained(self, card: NetworkCard) -> dict[tuple[str, str], int]:
        """The laws that the untrained network shows in each layer, with their best verdict."""
        best: dict[tuple[str, str], int] = {}
        for row in self._rows.get((card.untrained, card.data), ()):
            if (concept := self._concept(row)) is not None:
                place = _shown_as(row, concept)
                best[place] = min(best.get(place, len(STATUSES)), _rank(row))
        return best


def _told(row: Mapping[str, Any], texts: dict[Any, Any]) -> dict[str, Any]:
    """What is kept of a record; what many records say alike is kept once."""
    told = {name: row[name] for name in TOLD if name in row}
    if isinstance(told.get("reasons"), list):
        told["reasons"] = tuple(map(str, told["reasons"]))
    if not isinstance(told.get("concept"), str):
        told.pop("field", None)
    for name, value in told.items():
        if isinstance(value, str | tuple) and name != "digest":
            told[name] = texts.setdefault(value, value)
    return told


def _shown_as(row: Mapping[str, Any], concept: Concept) -> tuple[str, str]:
    """A layer, and a law without the signs of its terms: weights are of either sign before
    training.
    """
    return _layer(row), re.sub(r"(?<!\^)-", "+", concept.law)


def _layer(row: Mapping[str, Any]) -> str:
    return str(row["neuron"]).rpartition(":")[0]


def _rank(row: Mapping[str, Any]) -> int:
    """Smaller is better."""
    verdict = row.get("verdict")
    return STATUSES.index(verdict) if verdict in STATUSES else len(STATUSES)


def _place(neuron: str, layers: Mapping[str, int]) -> tuple[int, str, tuple[int, str]]:
    layer, _, unit = neuron.rpartition(":")
    number = int(unit) if unit.isdecimal() else 10**9
    return layers.get(layer, len(layers)), layer, (number, unit)
