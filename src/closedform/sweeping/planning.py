"""From blocks of fields to tasks: what is done already, what is dead, what is like another, and
what is left to search.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any

from closedform.sweeping.execution.coordinator import FAILED, Tally
from closedform.sweeping.execution.store import ResultStore
from closedform.sweeping.execution.task import KEY_BYTES, Task, TaskOutcome, content_key
from closedform.sweeping.layer_extraction import BLOCK, FieldReference, LayerExtraction
from closedform.sweeping.likeness import Likenesses
from closedform.sweeping.neuron_task import FUNCTION, Effort, finished

SCHEMA = 1
"""Counted up when the same field and options would give another record."""


@dataclass
class Planner:
    """Turns neurons into tasks, block by block, and writes the records that need no search, which
    it counts in the tally.
    """

    store: ResultStore
    extraction: LayerExtraction
    tally: Tally
    done: set[str]  # keys whose records are there and sound
    effort: Effort
    seed: int
    keep_fields: bool = True  # when all neurons of their block are done
    most_inputs: int | None = None  # neurons that depend on more are not searched
    by_network: bool = False  # whether a network with the same field gets a record of its own
    _seen: Likenesses = field(default_factory=Likenesses)
    # Under way, with those that wait for it: a neuron's record serves all that are like it.
    _followers: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    _files: dict[str, str] = field(default_factory=dict)
    _open: Counter[str] = field(default_factory=Counter)

    @cached_property
    def settings(self) -> str:
        """What decides about every record, for its key."""
        content: dict[str, Any] = {"schema": SCHEMA, "effort": self.effort, "seed": self.seed}
        # What was recorded without these keeps its key.
        content |= {} if self.most_inputs is None else {"most_inputs": self.most_inputs}
        content |= {"network": self.extraction.network} if self.by_network else {}
        return content_key(content)

    def tasks(self, neurons: Sequence[str], *, ahead: bool) -> Iterator[Task]:
        """Tasks in the order of the neurons; `ahead` extracts the next block while tasks of this
        one are taken.
        """
        blocks = [neurons[start : start + BLOCK] for start in range(0, len(neurons), BLOCK)]
        for references in (
            _ahead(self.extraction.block, blocks) if ahead else map(self.extraction.block, blocks)
        ):
            yield from self._block_tasks(references)

    def finish(self, outcome: TaskOutcome) -> None:
        """Note that a neuron is done: write the records of those that are like it, and free
        fields.
        """
        self.done.add(outcome.key)
        waiting = self._followers.pop(outcome.key, [])
        record = self.store.get(outcome.key) if waiting else None
        for key, neuron in waiting:
            if record is not None:
                self._write(key, _copy(record, neuron))
        file = self._files.pop(outcome.key, None)
        if file is not None:
            self._open[file] -= 1
            if self._open[file] == 0 and not self.keep_fields:
                self.store.folder.remove(file)

    def key(self, reference: FieldReference) -> str:
        """The key of a neuron's result: its name, its field, what it is read with, and the seed."""
        place = f"{reference.checksum}\n{reference.neuron}"
        content = f"{self.settings}\n{self.extraction.inputs_file}\n{place}"
        return blake2b(content.encode(), digest_size=KEY_BYTES).hexdigest()

    def _block_tasks(self, references: Sequence[FieldReference]) -> Iterator[Task]:
        keys = [self.key(reference) for reference in references]
        if any(key not in self.done for key in keys):
            references = self.extraction.restore(references)
            keys = [self.key(reference) for reference in references]
        found = [
            (r, k, task)
            for r, k in zip(references, keys, strict=True)
            if (task := self._task(r, k)) is not None
        ]
        for reference, key, _ in found:
            self._files[key] = reference.file
            self._open[reference.file] += 1
        yield from (task for _, _, task in found)

    def _task(self, reference: FieldReference, key: str) -> Task | None:
        """The task of a neuron, or None where none is needed."""
        likeness, neuron = reference.likeness, reference.neuron
        is_wide = likeness.n_inputs > (self.most_inputs or likeness.n_inputs)
        is_searched = not (likeness.is_dead or is_wide)
        first = self._seen.find(likeness) if is_searched else None
        if first is None and is_searched:
            self._seen.add(likeness, key)
        if key in self.done:
            self.tally.before += 1
        elif likeness.is_dead:
            share = f"{100 * likeness.zero_share:.3g}%"
            said = (
                f"The gradient is zero at {share} of the points: the neuron is dead on this data."
            )
            self._write(key, self._unread(neuron, "dead", said))
        elif is_wide:
            many, most = likeness.n_inputs, self.most_inputs
            said = f"It depends on {many} inputs, and at most {most} are read."
            self._write(key, self._unread(neuron, "wide", said))
        elif first is not None and first in self.done:
            record = self.store.get(first)
            if record is None or record["status"] == FAILED:
                return self._search(reference, key)
            self._write(key, _copy(record, neuron))
        elif first is not None:
            self._followers.setdefault(first, []).append((key, neuron))
        else:
            return self._search(reference, key)
        return None

    def _search(self, reference: FieldReference, key: str) -> Task:
        payload = {
            "neuron": reference.neuron,
            "store": [self.store.path, self.store.options],
            "inputs": self.extraction.inputs_file,
            "file": reference.file,
            "place": reference.place,
            "shape": list(reference.shape),
            "checksum": reference.checksum,
            "effort": asdict(self.effort),
            "seed": self.seed,
            "network": self.extraction.network,
        }
        about = {"neuron": reference.neuron, "verdict": None, "concept": None, **self._origin}
        return Task(key, FUNCTION, payload, about, label="verdict")

    def _unread(self, neuron: str, status: str, reason: str) -> dict[str, Any]:
        """The record of a neuron that is not searched."""
        told = {"neuron": neuron, "status": status, "verdict": "none", "concept": None}
        return finished({**told, "seed": self.seed, "reason": reason}, 0.0) | self._origin

    @property
    def _origin(self) -> dict[str, str]:
        """Which network and data a record is about."""
        return {"network": self.extraction.network, "data": self.extraction.inputs_file}

    def _write(self, key: str, record: dict[str, Any]) -> None:
        self.store.put(key, record)
        self.done.add(key)
        self.tally.add(record["verdict"] or FAILED, failed=record["status"] == FAILED)


def _copy(record: dict[str, Any], neuron: str) -> dict[str, Any]:
    """The record of a neuron that is like another."""
    status = FAILED if record["status"] == FAILED else "same"
    return finished(
        {**record, "neuron": neuron, "status": status, "same_as": record["neuron"]}, 0.0
    )


def _ahead(make: Callable[[Sequence[str]], Any], blocks: Sequence[Sequence[str]]) -> Iterator[Any]:
    """Results in order, the next one made in another thread while this one is used."""
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(make, blocks[0])
        for block in [*blocks[1:], None]:
            ready = coming.result()
            if block is not None:
                coming = thread.submit(make, block)
            yield ready
