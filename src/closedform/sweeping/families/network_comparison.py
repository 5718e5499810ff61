"""Two networks, or two checkpoints: which neurons kept their formula, and whose constants moved."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from closedform.judge.rules import MATERIAL_DEGREES
from closedform.sweeping.families.family import NeuronReading, holds
from closedform.sweeping.families.family_form import common_form, fit_form
from closedform.sweeping.families.tolerances import MOVED

if TYPE_CHECKING:
    import pandas

STATUSES = ("kept", "moved", "other", "appeared", "lost", "none")


@dataclass(frozen=True, slots=True)
class Shift:
    """A constant in both networks.

    Attributes
    ----------
    term : str
        What it multiplies.
    first, second : float
    errors : float
        The difference in standard errors.
    """

    term: str
    first: float
    second: float
    errors: float


@dataclass(frozen=True, slots=True)
class NeuronChange:
    """What became of one neuron.

    Attributes
    ----------
    neuron : str
    status : {'kept', 'moved', 'other', 'appeared', 'lost', 'none'}
        The formula and its constants; the formula with other constants; another formula; a formula
        in the second network only, in the first only, or in neither.
    first, second : str
        The formulas, in one gauge where the form is the same.
    shifts : tuple of Shift
    """

    neuron: str
    status: str
    first: str = ""
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

        rows = []
        for change in self.changes:
            largest = max(change.shifts, key=lambda shift: abs(shift.errors), default=None)
            rows.append(
                {
                    "neuron": change.neuron,
                    "status": change.status,
                    "errors": np.nan if largest is None else largest.errors,
                    "term": "" if largest is None else largest.term,
                    "first": change.first,
                    "second": change.second,
                }
            )
        return pandas.DataFrame(
            rows, columns=["neuron", "status", "errors", "term", "first", "second"]
        )

    def __str__(self) -> str:
        return ", ".join(f"{count} {status}" for status, count in self.counts.items() if count)


def compare_readings(
    first: Sequence[NeuronReading],
    second: Sequence[NeuronReading],
    *,
    moved: float = MOVED,
    degrees: float = MATERIAL_DEGREES,
) -> NetworkComparison:
    """Compare neurons of the same name."""
    others = {reading.label: reading for reading in second}
    changes = [
        compare_one(reading, others[reading.label], moved=moved, degrees=degrees)
        for reading in first
        if reading.label in others
    ]
    known = {reading.label for reading in first}
    unmatched = sorted(known.symmetric_difference(others))
    return NetworkComparison(tuple(changes), tuple(unmatched))


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
