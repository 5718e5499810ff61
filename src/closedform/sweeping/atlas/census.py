"""A census: every neuron of a network, and what an untrained one of the same shape shows."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from closedform.basics.optional import versions
from closedform.basics.randomness import Randomness, as_seed
from closedform.errors import NeuronError
from closedform.networks.whole_network import fingerprint, torch_network, untrained_twin
from closedform.sweeping.atlas.probe_points import MOST_INPUTS
from closedform.sweeping.atlas.records import NetworkCard
from closedform.sweeping.execution.coordinator import Watcher
from closedform.sweeping.execution.store import ResultStore
from closedform.sweeping.execution.task import Limits
from closedform.sweeping.layer_extraction import load_inputs
from closedform.sweeping.neuron_task import Effort
from closedform.sweeping.sweep import MAX_POINTS, sweep
from closedform.sweeping.sweep_result import Sweep


@dataclass(frozen=True, slots=True)
class Identity:
    """What people must say of a network, for nothing in its file does."""

    name: str
    version: str = ""
    licence: str = ""
    source: str = ""
    units: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Census:
    """What was read of a network."""

    card: NetworkCard
    sweep: Sweep


def add_network(
    model: Any,
    inputs: Any,
    *,
    store: str | Path | ResultStore,
    identity: Identity,
    layers: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    executor: Any = None,
    effort: Effort | None = None,
    limits: Limits | None = None,
    max_points: int | None = MAX_POINTS,
    untrained: Any = "auto",
    rng: Randomness = 0,
    watcher: Watcher | None = None,
    **options: Any,
) -> Census:
    """Read all neurons of a network into a store, which may hold others.

    identity: name, version, licence and source of the network.
    layers: all flat layers with weights of a torch network by default, and its output.
    untrained: a network of the same shape, without training: what it shows as well is not counted
        as learned. By default a copy with fresh weights where one can be made; None for none.

    The rest is as in `closedform.sweep`.
    """
    seed = as_seed(rng)
    kept = store if isinstance(store, ResultStore) else ResultStore(store)
    chosen = list(layers) if layers is not None else flat_layers(model, inputs)
    spent = effort or Effort()
    twin = untrained_twin(model, _other(seed)) if isinstance(untrained, str) else untrained
    shared: dict[str, Any] = {
        "store": kept, "names": names, "executor": executor, "limits": limits, "rng": seed,
        "max_points": max_points, "most_inputs": MOST_INPUTS, "by_network": True, **options,
    }  # fmt: skip
    found = sweep(model, inputs, chosen, effort=spent, watcher=watcher, **shared)
    beside = None
    if twin is not None and fingerprint(twin) != found.network:
        # What an architecture shows by itself are mostly sums of its inputs, which the term search
        # reads; the rest of the search would cost as much as the census.
        quick = replace(spent, terms=spent.terms or spent.evaluations, evaluations=0)
        beside = sweep(twin, inputs, chosen, effort=quick, **shared)
    read = load_inputs(kept.path, tuple(sorted(kept.options.items())), found.data)
    ends = zip(read.points.min(axis=0), read.points.max(axis=0), strict=True)
    card = NetworkCard(
        identity.name,
        identity.version,
        identity.licence,
        identity.source,
        found.network,
        found.data,
        read.names,
        tuple((float(low), float(high)) for low, high in ends),
        len(read.points),
        tuple(chosen),
        seed,
        asdict(spent),
        dict(identity.units or {}),
        "" if beside is None else beside.network,
        versions(),
    )
    card.save(kept.folder)
    return Census(card, found)


def _other(seed: int) -> int:
    """Another seed: the network itself may have started from this one."""
    return int(np.random.SeedSequence([seed, 1]).generate_state(1)[0])


def flat_layers(model: Any, inputs: Any) -> list[str]:
    """The layers of a torch network that have weights and no positions, and its output if that is
    not the last of them; the output alone of any other network.
    """
    if torch_network(model) is None:
        return ["output"]
    from closedform.networks.torch_layers import list_layers

    every = list_layers(model, inputs)
    ends = [
        layer
        for layer in every
        if not any(other.name.startswith(f"{layer.name}.") for other in every)
    ]
    chosen = [layer.name for layer in ends if layer.weights and layer.units.isdecimal()]
    if not chosen:
        raise NeuronError(
            "The network has no flat layer with weights; say which layers to read.", neuron=""
        )
    return chosen if ends[-1].name == chosen[-1] else [*chosen, "output"]
