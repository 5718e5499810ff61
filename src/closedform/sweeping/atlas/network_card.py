"""What identifies a network in an atlas: one small file in the store for each network on its
data.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from closedform.basics import limits
from closedform.errors import StorageError
from closedform.sweeping.execution.shared_folder import SharedFolder
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
        return content_key({"network": self.network, "data": self.data})[:ID_DIGITS]

    def save(self, folder: SharedFolder) -> None:
        """Put the card into a store; an earlier one of the same network and data is replaced."""
        text = json.dumps({"schema": SCHEMA, **asdict(self)}, indent=1, sort_keys=True)
        folder.write(f"{FOLDER}/{self.id}.json", text.encode())


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
