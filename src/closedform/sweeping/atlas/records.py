"""The records of an atlas: what each neuron of each network was read as, with its concept, and
whether an untrained network shows it as well.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from closedform.interpretation.verdict import STATUSES
from closedform.sweeping.atlas.concept_book import ConceptBook
from closedform.sweeping.atlas.network_card import NetworkCard, read_cards
from closedform.sweeping.execution.store import ResultStore

ARCHITECTURE = "architecture"
BRIEF = ("neuron", "verdict", "concept", "seed", "evaluations", "digest")
"""Entries of a record that a search needs."""


@dataclass(frozen=True, slots=True, eq=False)
class AtlasRecord:
    """A neuron."""

    card: NetworkCard
    content: Mapping[str, Any]  # what the sweep wrote
    concept: str  # name of its concept; empty without a formula
    law: str  # name of its law; empty without a formula
    is_architecture: bool

    @property
    def neuron(self) -> str:
        """As a selector."""
        return str(self.content["neuron"])

    @property
    def layer(self) -> str:
        """The layer of the neuron."""
        return self.neuron.rpartition(":")[0]

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

    is_brief: whether only neurons with a formula are kept, and of these what a search tells; all
        of a million records would take gigabytes.
    """

    def __init__(self, store: ResultStore, *, is_brief: bool = False) -> None:
        store.check_exists()
        self.store = store
        self.cards = read_cards(store.folder)
        self.book = ConceptBook(store.folder)
        own = {(card.network, card.data) for card in self.cards}
        twins = {(card.untrained, card.data) for card in self.cards if card.untrained}
        found: dict[tuple[str, str], list[dict[str, Any]]] = {each: [] for each in own | twins}
        for _, row in store.records():
            origin = (str(row.get("network", "")), str(row.get("data", "")))
            if origin in found and not is_brief:
                found[origin].append(row)
            elif origin in found and isinstance(row.get("concept"), str):
                found[origin].append({name: row[name] for name in BRIEF if name in row})
        texts = (row.get("concept") for rows in found.values() for row in rows)
        self.book.add(text for text in texts if isinstance(text, str))
        self._rows = found
        self._laws = {each.law_id: each.law for each in self.book.concepts.values()}

    def records(self) -> Iterator[AtlasRecord]:
        """All neurons, network by network, in the order of the network's layers."""
        for card in self.cards:
            shown = self._shown_untrained(card)
            places = {layer: place for place, layer in enumerate(card.layers)}
            rows = self._latest(card)
            rows.sort(key=lambda row: _place(str(row["neuron"]), places))
            for row in rows:
                concept, law = self._named(row)
                layer = str(row["neuron"]).rpartition(":")[0]
                best = shown.get((layer, self._unsigned(law)))
                is_architecture = bool(law) and best is not None and best <= _rank(row)
                yield AtlasRecord(card, row, concept, law, is_architecture)

    def _latest(self, card: NetworkCard) -> list[dict[str, Any]]:
        """One row for each neuron: the one that was read with the card's effort and seed, if there
        are several.
        """

        def preference(row: dict[str, Any]) -> tuple[bool, int, str]:
            return row.get("seed") == card.seed, row.get("evaluations") or 0, str(row["digest"])

        rows = sorted(self._rows[(card.network, card.data)], key=preference)
        return list({str(row["neuron"]): row for row in rows}.values())

    def _named(self, row: Mapping[str, Any]) -> tuple[str, str]:
        text = row.get("concept")
        concept = self.book.of_text.get(text, "") if isinstance(text, str) else ""
        is_read = concept and row.get("verdict") != "none"
        return (concept, self.book.concepts[concept].law_id) if is_read else ("", "")

    def _unsigned(self, law_id: str) -> str:
        """A law without the signs of its terms: weights are of either sign before training."""
        return re.sub(r"(?<!\^)-", "+", self._laws.get(law_id, ""))

    def _shown_untrained(self, card: NetworkCard) -> dict[tuple[str, str], int]:
        """The laws that the untrained network shows in each layer, with their best verdict."""
        best: dict[tuple[str, str], int] = {}
        for row in self._rows.get((card.untrained, card.data), ()) if card.untrained else ():
            law = self._named(row)[1]
            place = (str(row["neuron"]).rpartition(":")[0], self._unsigned(law))
            if law:
                best[place] = min(best.get(place, len(STATUSES)), _rank(row))
        return best


def _rank(row: Mapping[str, Any]) -> int:
    """Smaller is better."""
    verdict = row.get("verdict")
    return STATUSES.index(verdict) if verdict in STATUSES else len(STATUSES)


def _place(neuron: str, layers: Mapping[str, int]) -> tuple[int, str, tuple[int, str]]:
    layer, _, unit = neuron.rpartition(":")
    number = int(unit) if unit.isdecimal() else 10**9
    return layers.get(layer, len(layers)), layer, (number, unit)
