"""``closedform.sweep``: the concepts of all neurons of a layer, on one core or on a thousand."""

import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from closedform.basics.keywords import checked_keywords
from closedform.basics.randomness import Randomness, as_seed
from closedform.errors import NeuronError, StorageError, shown
from closedform.field.tangent import StatedConstraint, TangentSpace, check_tangent
from closedform.interpretation.verdict import STATUSES
from closedform.networks.extract import check_amounts, open_source
from closedform.networks.neuron import parse_neuron
from closedform.networks.options import OptionKeywords, Options
from closedform.sweeping.execution.coordinator import FAILED, Coordinator, Tally, Watcher
from closedform.sweeping.execution.store import ROWS_PER_PART, ResultStore
from closedform.sweeping.execution.task import Limits
from closedform.sweeping.execution.workers import WorkersLostError, open_workers
from closedform.sweeping.layer_extraction import LayerExtraction
from closedform.sweeping.neuron_task import Effort
from closedform.sweeping.planning import Planner
from closedform.sweeping.sweep_result import Sweep

Choice = slice | range | Iterable[int | str] | None


def choose_neurons(
    model: Any,
    inputs: Any,
    layer: str | Sequence[str],
    neurons: Choice = None,
    options: OptionKeywords | None = None,
) -> list[str]:
    """Selectors of neurons, layer by layer, from what `closedform.sweep` takes; a few points are
    enough.

    Examples
    --------
    >>> import numpy as np
    >>> choose_neurons(lambda x: x @ np.ones((2, 5)), np.zeros((3, 2)), "output", slice(1, 4))
    ['output:1', 'output:2', 'output:3']
    """
    layers = [layer] if isinstance(layer, str) else list(layer)
    found: list[str] = []
    for name in layers:
        if neurons is None or isinstance(neurons, slice):
            width = layer_width(model, inputs, name, options)
            units: list[int | str] = list(range(width)[neurons or slice(None)])
        else:
            units = list(neurons)
        found += [f"{name}:{unit}" for unit in units]
    if not found:
        raise NeuronError(
            f"No neuron of {', '.join(layers)} is chosen by {neurons!r}; choose at least one.",
            neuron=str(layer),
        )
    return list(dict.fromkeys(found))


def layer_width(model: Any, inputs: Any, layer: str, options: OptionKeywords | None = None) -> int:
    """How many units a flat layer has, from one pass over a few points."""
    shapes: list[tuple[int, ...]] = []

    def look(activation: Any) -> Any:
        shapes.append(tuple(activation.shape))
        return activation.reshape(len(activation), -1)[:, 0]

    place = parse_neuron(layer)
    if place.index:
        raise NeuronError(
            f"{layer!r} names a neuron; pass the layer's path alone, and the neurons as neurons=.",
            neuron=layer,
        )
    open_source(model, inputs, replace(place, function=look), **(options or {}))
    shape = shapes[0] if shapes else ()
    if len(shape) != 2:
        raise NeuronError(
            f"The output of {layer!r} has shape {shape}, with positions as well as units. Say "
            "which neurons: neurons=['0,mean', '1,mean'] takes channels over all positions.",
            neuron=layer,
        )
    return shape[1]


def parse_range(text: str) -> slice | list[str]:
    """Neurons as they stand on the command line: ``0:4096``, ``7`` or ``3,mean;4,mean``.

    Examples
    --------
    >>> parse_range("0:4096"), parse_range("3,mean;4,mean")
    (slice(0, 4096, None), ['3,mean', '4,mean'])
    """
    if ":" not in text:
        return [part.strip() for part in text.split(";") if part.strip()]
    try:
        return slice(*(int(part) if part.strip() else None for part in text.split(":")))
    except (TypeError, ValueError) as error:
        raise NeuronError(
            f"{text!r} is not a range of neurons; write START:STOP, such as 0:4096.", neuron=text
        ) from error


logger = logging.getLogger(__name__)

MAX_POINTS = 2000
"""Points that are taken by default: fewer than for one neuron, for there are many."""


@checked_keywords
def sweep(
    model: Any,
    inputs: Any,
    layer: str | Sequence[str],
    *,
    neurons: Choice = None,
    executor: Any = None,
    store: str | Path | ResultStore,
    resume: bool = True,
    names: Sequence[str] | None = None,
    tangent: str | TangentSpace = "auto",
    constraints: Sequence[StatedConstraint] = (),
    max_points: int | None = MAX_POINTS,
    smoothing: float = 0.0,
    effort: Effort | None = None,
    limits: Limits | None = None,
    retry_failed: bool = False,
    keep_fields: bool = True,
    most_inputs: int | None = None,
    by_network: bool = False,
    rng: Randomness = 0,
    watcher: Watcher | None = None,
    **options: Unpack[OptionKeywords],
) -> Sweep:
    """Read the concept of every neuron of a layer, or of several layers, and keep the results in a
    store.

    Results are the same for the same seed, bit for bit, with any executor and under any load. An
    interrupted run resumes where it stopped. Dead neurons, and neurons that repeat another one, are
    not searched.

    Parameters
    ----------
    model, inputs, names, tangent, constraints, max_points, smoothing
        As in `closedform.extract_field`.
    layer : str or sequence of str
        Path of a layer, or of several.
    neurons : slice, range, iterable of int or str, or None
        Which units of each layer; None for all of a flat one. Texts such as ``"3,mean"`` where a
        layer has positions.
    executor : None, int, str, concurrent.futures.Executor or distributed.Client
        Where neurons are read: None means in this process, one after another; a number starts local
        processes; text is the address of a Dask scheduler, or ``"ray"``. Workers must see the
        store's path.
    store : str, Path or ResultStore
        A path of fsspec, such as ``results`` or ``s3://bucket/run``; made if it does not
        exist.
    resume : bool
        Whether a store that already holds results may be used; these are not done again.
    effort : Effort, optional
        What is spent on a neuron, in evaluations.
    limits : Limits, optional
        When a task is given up. Time and memory are limited where neurons are read in other
        processes.
    retry_failed : bool
        Whether neurons that failed in an earlier run are tried again.
    keep_fields : bool
        Whether the gradients of a block stay in the store when all its neurons are done.
    most_inputs : int, optional
        Neurons that depend on more inputs are not searched, and recorded as `none` with that
        reason.
    by_network : bool
        Whether neurons get records of their own where another network in the store has the same
        ones; otherwise, as for a network that grew, these are not read again.
    rng : int, Generator or None
        Seed of points and searches.
    watcher : Watcher, optional
        An object that receives the progress of the run.
    **options
        As in `closedform.extract_field`.

    Raises
    ------
    SaveError
        If nothing can be written into the store.
    StorageError
        If the store holds results and `resume` is False.
    WorkersLostError
        If workers or scheduler are lost for good; finished results are in the store, and the same
        call resumes.

    Examples
    --------
    >>> import numpy as np, closedform as cf
    >>> points = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    >>> layer = lambda x: np.stack(
    ...     [x[:, 0] ** 2 + x[:, 1], np.exp(x[:, 0] ** 2 + x[:, 1]), 0 * x[:, 0]], axis=1
    ... )
    >>> found = cf.sweep(
    ...     layer,
    ...     points,
    ...     "output",
    ...     names=["x", "v"],
    ...     store="memory://sweep-example",
    ...     kind="function",
    ... )
    >>> sorted(
    ...     found.table("verdict == 'verified'")[["neuron", "status", "concept"]].values.tolist()
    ... )
    [['output:0', 'done', 'v + x**2'], ['output:1', 'same', 'v + x**2']]
    >>> found.table("status == 'dead'")["neuron"].tolist()
    ['output:2']
    """
    began, seed = time.perf_counter(), as_seed(rng)
    check_tangent(tangent)
    Options(**options)
    check_amounts(max_points, smoothing)
    kept = store if isinstance(store, ResultStore) else ResultStore(store)
    kept.folder.check()
    done = _done_before(kept, resume=resume, retry_failed=retry_failed)
    extraction = LayerExtraction(
        kept.folder,
        model,
        inputs,
        names=names,
        tangent=tangent,
        constraints=constraints,
        max_points=max_points,
        smoothing=smoothing,
        seed=seed,
        options=options,
    )
    chosen = choose_neurons(model, extraction.few_points, layer, neurons, extraction.options)
    tally = Tally(len(chosen))
    planner = Planner(
        kept,
        extraction,
        tally,
        done,
        effort=effort or Effort(),
        seed=seed,
        keep_fields=keep_fields,
        most_inputs=most_inputs,
        by_network=by_network,
    )
    workers = open_workers(executor)
    coordinator = Coordinator(
        workers, kept, limits or Limits(), tally, watcher=watcher, on_done=planner.finish
    )
    try:
        coordinator.run(planner.tasks(chosen, ahead=executor is not None))
    except WorkersLostError as error:
        said = f"{error} {tally.before + tally.done} of {tally.total} results are in {kept.path}."
        raise WorkersLostError(said) from error
    finally:
        workers.close()
        if watcher is not None:
            watcher.close()
    named = {label: tally.labels[label] for label in STATUSES}
    counts = {"neurons": tally.total, "before": tally.before, **named, "failed": tally.failed}
    seconds = time.perf_counter() - began
    return Sweep(kept, counts, seconds, extraction.network, extraction.inputs_file)


def _done_before(store: ResultStore, *, resume: bool, retry_failed: bool) -> set[str]:
    """Keys of results that need not be computed."""
    store.compact_if_possible(minimum=ROWS_PER_PART)
    inventory = store.check()
    if str(inventory):
        logger.warning("%s", shown(str(inventory)))
    if not resume and (inventory.sound or inventory.damaged):
        raise StorageError(
            f"The store {store.path!r} already holds {len(inventory.sound)} results; pass "
            f"resume=True (--resume) to continue it, or choose another path."
        )
    done = set(inventory.sound)
    if retry_failed:
        from closedform.sweeping.execution.store import read_table

        table = read_table(store, columns=["status"])
        if "status" in table.columns:
            done -= set(table.loc[table["status"] == FAILED, "key"])
    return done
