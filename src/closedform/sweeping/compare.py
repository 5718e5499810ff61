"""``closedform.compare``: what training, or another network, changed in what neurons encode."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.basics.keywords import KeywordError
from closedform.errors import shown
from closedform.judge.rules import MATERIAL_DEGREES
from closedform.sweeping.execution.store import ResultStore
from closedform.sweeping.family import NeuronReading, common_form, fit_form, holds
from closedform.sweeping.sweep import sweep
from closedform.sweeping.sweep_result import Sweep, stored_readings

if TYPE_CHECKING:
    import pandas

STATUSES = ("kept", "moved", "other", "appeared", "lost", "none")


MOVED = 3.0
"""Standard errors from which a constant counts as moved. The errors come from leaving out regions,
so they contain a network's own bias within the data, and not all of it.
"""


@dataclass(frozen=True, slots=True)
class Shift:
    """A constant in both networks."""

    term: str  # what it multiplies
    first: float
    second: float
    errors: float  # the difference in standard errors


@dataclass(frozen=True, slots=True)
class NeuronChange:
    """What became of one neuron."""

    neuron: str
    status: str
    """``kept``: the formula and its constants; ``moved``: the formula with other constants;
    ``other``: another formula; ``appeared``, ``lost``: a formula in the second network only, in the
    first only; ``none``: in neither.
    """
    first: str = ""  # first, second: the formulas, in one gauge where the form is the same
    second: str = ""
    shifts: tuple[Shift, ...] = ()


@dataclass(frozen=True, slots=True)
class NetworkComparison:
    """What `closedform.compare` found: one change for each neuron that both have."""

    changes: tuple[NeuronChange, ...]
    unmatched: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many neurons have each status."""
        counted = Counter(change.status for change in self.changes)
        return {status: counted[status] for status in STATUSES}

    def table(self) -> "pandas.DataFrame":
        """One row for each neuron: status, both formulas, and the largest shift."""
        import pandas

        none, rows = Shift("", np.nan, np.nan, np.nan), []
        for one in self.changes:
            largest = max(one.shifts, key=lambda shift: abs(shift.errors), default=none)
            rows.append(
                (one.neuron, one.status, largest.errors, largest.term, one.first, one.second)
            )
        return pandas.DataFrame(
            rows, columns=["neuron", "status", "errors", "term", "first", "second"]
        )

    def __str__(self) -> str:
        """A line for each neuron that has a formula in either: what moved, and by how much."""
        lines = [line for change in self.changes for line in _lines(change)]
        counted = ", ".join(f"{count} {status}" for status, count in self.counts.items() if count)
        left = f"only in one of the two: {', '.join(map(shown, self.unmatched))}"
        counted = counted or "No neuron is in both."
        return "\n".join([*lines, counted, *([left] if self.unmatched else [])])


def _lines(change: NeuronChange) -> list[str]:
    if change.status == "none":
        return []
    head = f"{shown(change.neuron):<20} {change.status:<9}"
    if change.status in ("kept", "moved"):
        shifts = [
            f"{shown(shift.term)} {shift.first:.5g} -> {shift.second:.5g} ({shift.errors:+.1f} SE)"
            for shift in change.shifts
        ]
        return [f"{head} {'; '.join(shifts) or shown(change.first)}"]
    return [f"{head} {shown(change.first) or '-'}  ->  {shown(change.second) or '-'}"]


def compare_one(
    first: NeuronReading,
    second: NeuronReading,
    *,
    moved: float = MOVED,
    degrees: float = MATERIAL_DEGREES,
) -> NeuronChange:
    """What became of one neuron.

    The form is the same if that of one, the simpler first, holds on the field of the other.
    """
    a, b = first.concept, second.concept
    if a is None or b is None:
        status = "none" if a is None and b is None else "appeared" if a is None else "lost"
        return NeuronChange(first.label, status, str(a or ""), str(b or ""))
    for concept in sorted((a, b), key=lambda concept: concept.complexity()):
        form = common_form([concept], first.field)
        if holds(form, first, degrees) and holds(form, second, degrees):
            break
    else:
        return NeuronChange(first.label, "other", str(a), str(b))
    fits = [fit_form(form, reading.field, concept) for reading in (first, second)]
    shifts = []
    for place, term in enumerate(form.constants):
        before, after = (float(fit.values[place]) for fit in fits)
        error = float(np.hypot(*(fit.errors[place] for fit in fits)))
        # Networks compute with seven digits: no difference below them is one.
        error = max(error, float(np.finfo(np.float32).eps) * max(abs(before), abs(after)))
        difference = after - before
        shifts.append(Shift(term, before, after, difference / error if difference else 0.0))
    status = "moved" if any(abs(shift.errors) > moved for shift in shifts) else "kept"
    texts = [str(fit.expression) for fit in fits]
    return NeuronChange(first.label, status, texts[0], texts[1], tuple(shifts))


def compare(
    first: Any,
    second: Any,
    inputs: Any = None,
    layer: str | list[str] | None = None,
    *,
    moved: float = MOVED,
    degrees: float = MATERIAL_DEGREES,
    **options: Any,
) -> NetworkComparison:
    """Compare two sweeps, or two networks whose neurons are read first.

    Parameters
    ----------
    first, second : Sweep, ResultStore, str, Path, or networks
        Two sweeps or the paths of their stores; or two networks of the same architecture.
    inputs, layer, **options
        For networks, as in `closedform.sweep`.
    moved : float
        Standard errors from which a constant counts as moved.
    degrees : float
        An angle too small to matter: a form that fits within it still holds.

    Examples
    --------
    >>> import closedform as cf, numpy as np
    >>> points = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    >>> networks = [lambda x, c=c: (x[:, 0] ** 2 + c * x[:, 1])[:, None] for c in (1.5, 1.6)]
    >>> found = cf.compare(*networks, points, "output", names=["x", "v"], kind="function")
    >>> [(change.neuron, change.status) for change in found.changes]
    [('output:0', 'moved')]
    """
    if inputs is not None:
        if layer is None:
            raise KeywordError(
                "Two networks need the layer whose neurons are compared; pass layer=."
            )
        with TemporaryDirectory() as folder:
            one, other = (
                sweep(model, inputs, layer, store=Path(folder) / name, **options)
                for name, model in (("first", first), ("second", second))
            )
            return compare(one, other, moved=moved, degrees=degrees)
    before, after = _readings(first), {one.label: one for one in _readings(second)}
    changes = [
        compare_one(reading, after[reading.label], moved=moved, degrees=degrees)
        for reading in before
        if reading.label in after
    ]
    unmatched = sorted({one.label for one in before}.symmetric_difference(after))
    return NetworkComparison(tuple(changes), tuple(unmatched))


def _readings(given: Any) -> list[NeuronReading]:
    if isinstance(given, Sweep):
        return given.readings()
    if isinstance(given, str | Path):
        given = ResultStore(given)
    if isinstance(given, ResultStore):
        return stored_readings(given)
    raise KeywordError(
        f"A {type(given).__name__} is not a sweep or the path of a store; for networks pass inputs "
        f"and layer too."
    )
