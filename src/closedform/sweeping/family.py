"""Readings grouped by form, one form fitted to all of a family, and the constants of each in one
gauge.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.complexity import fitted_positions, skeleton
from closedform.expressions.expression import Expression
from closedform.expressions.printing import to_text
from closedform.expressions.sums_and_products import scaled_terms
from closedform.expressions.tree import Tree, apply, constant
from closedform.field.alignment.comparison import comparison_of
from closedform.field.alignment.refit import Tapes
from closedform.field.gradient_field import GradientField
from closedform.judge.regions import angles_in_degrees, divide
from closedform.judge.rules import MATERIAL_DEGREES
from closedform.reading.curve_reading import CurveReading, read_curve

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


Key = tuple[object, ...]
"""A term with its numbers left open."""

STEPS, REGION_STEPS = 20, 4
"""Steps of a fit, and of one that begins at the fit to all regions."""


@dataclass(frozen=True, slots=True)
class FamilyForm:
    """Terms of a sum, one of which has the coefficient 1."""

    terms: tuple[Tree, ...]
    unit: int  # which of them
    names: tuple[str, ...]  # the inputs

    @property
    def keys(self) -> frozenset[Key]:
        """The terms with their numbers left open."""
        return frozenset(skeleton(term) for term in self.terms)

    @property
    def constants(self) -> tuple[str, ...]:
        """What each constant of a fit multiplies, or where it stands."""
        named: list[str] = []
        for place, term in enumerate(self.terms):
            text = to_text(term, self.names)
            named += [] if place == self.unit else [text]
            named += [f"number in {text}"] * len(fitted_positions(term))
        return tuple(named)

    def written(self, coefficients: Mapping[Key, float]) -> tuple[Expression, tuple[int, ...]]:
        """The sum with these coefficients, 0 where there is none, and the places of its numbers."""
        unit = self.terms[self.unit]
        scale = coefficients.get(skeleton(unit), 1.0) or 1.0
        total, positions = unit, list(fitted_positions(unit))
        for place, term in enumerate(self.terms):
            if place == self.unit:
                continue
            number = constant(float(coefficients.get(skeleton(term), 0.0) / scale))
            inner = [total.size + 1 + position for position in fitted_positions(term)]
            positions += [total.size, *inner]
            total = apply("add", total, apply("mul", number, term))
        return Expression(total, self.names), tuple(positions)

    def __str__(self) -> str:
        letters = (letter for letter in (f"c{n}" for n in count(1)) if letter not in self.names)
        texts = [to_text(term, self.names) for term in self.terms]
        others = [text for place, text in enumerate(texts) if place != self.unit]
        return " + ".join([texts[self.unit], *(f"{next(letters)}*{text}" for text in others)])


@dataclass(frozen=True, slots=True)
class FormFit:
    """A form's constants at one index."""

    expression: Expression
    values: FloatArray  # shape (n_constants,)
    errors: FloatArray  # by leaving out one region after another (the jackknife)
    misalignment: float

    @property
    def degrees(self) -> float:
        """The misalignment as an angle."""
        return float(angles_in_degrees(np.array(self.misalignment)))


def coefficients_of(concept: Expression) -> dict[Key, float]:
    """The coefficient of each term."""
    return {skeleton(term): float(number) for number, term in scaled_terms(concept.tree)}


def common_form(concepts: Sequence[Expression], field: GradientField) -> FamilyForm:
    """All terms of some concepts; the unit is the one whose least share in any of them is largest.

    A term that is missing somewhere cannot be the unit, so an index where a coefficient vanishes
    keeps the gauge of the others.
    """
    terms: dict[Key, Tree] = {}
    for concept in concepts:
        for _, term in scaled_terms(concept.tree):
            terms.setdefault(skeleton(term), term)
    names = concepts[0].names
    sizes = {key: _size(Expression(term, names), field) for key, term in terms.items()}
    least = dict.fromkeys(terms, np.inf)
    for concept in concepts:
        numbers = coefficients_of(concept)
        shares = {key: abs(numbers.get(key, 0.0)) * sizes[key] for key in terms}
        total = sum(shares.values()) or 1.0
        least = {key: min(least[key], shares[key] / total) for key in terms}
    keys = list(terms)
    unit = max(range(len(keys)), key=lambda place: (least[keys[place]], -place))
    return FamilyForm(tuple(terms.values()), unit, names)


def fit_form(
    form: FamilyForm, field: GradientField, start: Expression | None = None, *, errors: bool = True
) -> FormFit:
    """Fit a form's constants to a field, beginning at the coefficients of `start`; standard errors
    take a fit for each region.
    """
    numbers = {} if start is None else coefficients_of(start)
    expression, positions = form.written(numbers)
    whole = comparison_of(field)
    fitted, misalignments = Tapes.of([expression], [positions]).fit(whole, STEPS)
    values = fitted.constants()[0]
    spread = np.full(len(values), np.nan)
    if errors and len(values):
        labels = divide(field, np.random.default_rng(0))
        without = [
            fitted.fit(whole.weighted(field.weights * (labels != region)), REGION_STEPS)[0]
            for region in range(int(labels.max()) + 1)
        ]
        table = np.array([tapes.constants()[0] for tapes in without])
        centred = table - table.mean(axis=0)
        spread = np.sqrt((len(table) - 1) / len(table) * (centred**2).sum(axis=0))
    return FormFit(fitted.read()[0], values, spread, float(misalignments[0]))


def _size(term: Expression, field: GradientField) -> float:
    """The usual length of a term's gradient, in scaled inputs."""
    gradient = term.gradient(field.points[field.weights > 0]) * field.scale
    lengths = np.linalg.norm(gradient, axis=1)
    return float(np.median(lengths[np.isfinite(lengths)])) if np.isfinite(lengths).any() else 0.0


TIMES_WORSE = 2.0
"""A form also holds where it is at most so many times worse than what was read there; the choice of
a concept pays for longer formulas by the same factor.
"""


@dataclass(frozen=True, slots=True)
class NeuronReading:
    """What was read at one index."""

    label: str  # the neuron
    index: float  # its place on the axis of the family
    field: GradientField
    concept: Expression | None
    misalignment: float = 1.0  # the concept's


@dataclass(frozen=True, slots=True)
class Family:
    """One form at many indices."""

    form: FamilyForm  # one term has the coefficient 1 at every index
    labels: tuple[str, ...]
    index: FloatArray  # shape (n_members,)
    fits: tuple[FormFit, ...]

    @property
    def constants(self) -> tuple[str, ...]:
        """What each constant multiplies."""
        return self.form.constants

    def table(self) -> "pandas.DataFrame":
        """One row for each member: index, constants with errors, and the angle that is left."""
        import pandas

        rows: list[dict[str, Any]] = []
        for label, index, fit in zip(self.labels, self.index, self.fits, strict=True):
            row: dict[str, Any] = {"neuron": label, "index": index}
            for name, value, error in zip(self.constants, fit.values, fit.errors, strict=True):
                row |= {name: value, f"error of {name}": error}
            rows.append({**row, "degrees": fit.degrees})
        return pandas.DataFrame(rows)

    def curves(self, name: str = "k") -> dict[str, CurveReading | None]:
        """Each constant as a formula of the index, with a verdict; None below eight members."""
        values = np.array([fit.values for fit in self.fits]).reshape(len(self.fits), -1)
        errors = np.array([fit.errors for fit in self.fits]).reshape(len(self.fits), -1)
        return {
            constant: read_curve(self.index, values[:, place], errors[:, place], name)
            for place, constant in enumerate(self.constants)
        }

    def plot(self, ax: "Axes | None" = None, *, name: str = "k") -> "Axes":
        """The constants over the index, with their errors and the formulas that were read."""
        from closedform.report.plots import plot_constants

        return plot_constants(self.table(), self.constants, self.curves(name), name, ax=ax)

    def __str__(self) -> str:
        lines = [f"{self.form}: {len(self.labels)} members"]
        for name, curve in self.curves().items():
            lines.append(f"  {name}: {'no formula' if curve is None else curve}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Families:
    """All families of a sweep, the largest first, and the neurons that belong to none."""

    families: tuple[Family, ...]
    others: tuple[str, ...]

    def __iter__(self) -> Any:
        return iter(self.families)

    def __len__(self) -> int:
        return len(self.families)

    def __getitem__(self, place: int) -> Family:
        return self.families[place]

    def __str__(self) -> str:
        left = f"{len(self.others)} in no family" if self.others else ""
        return "\n".join([*map(str, self.families), *([left] if left else [])])


def group(readings: Sequence[NeuronReading], *, degrees: float = MATERIAL_DEGREES) -> Families:
    """Group readings by form.

    A form with fewer terms belongs to the family that has them all: there a coefficient vanishes.
    Any other reading belongs to a family whose form holds on its field: within `degrees`, or at
    most twice as bad as what was read there.
    """
    counts: dict[frozenset[Key], list[NeuronReading]] = {}
    for reading in readings:
        if reading.concept is not None:
            counts.setdefault(frozenset(coefficients_of(reading.concept)), []).append(reading)
    # Longer forms first among equally common ones, so that parts of them join.
    ordered = sorted(counts.items(), key=lambda item: (-len(item[1]), -len(item[0])))
    cores: list[tuple[frozenset[Key], list[NeuronReading]]] = []
    for keys, members in ordered:
        if not any(keys <= core for core, _ in cores):
            cores.append((keys, members))
    forms = [
        common_form([m.concept for m in members if m.concept is not None], members[0].field)
        for _, members in cores
    ]
    joined: list[list[tuple[NeuronReading, FormFit]]] = [[] for _ in forms]
    others: list[str] = []
    for reading in readings:
        place = _home(reading, forms, [len(members) for _, members in cores], degrees)
        if place is None:
            others.append(reading.label)
        else:
            fit = fit_form(forms[place], reading.field, reading.concept)
            joined[place].append((reading, fit))
    found = [_family(form, members) for form, members in zip(forms, joined, strict=True) if members]
    found.sort(key=lambda family: -len(family.labels))
    return Families(tuple(found), tuple(others))


def holds(form: FamilyForm, reading: NeuronReading, degrees: float = MATERIAL_DEGREES) -> bool:
    """Whether a form holds on a reading's field."""
    fit = fit_form(form, reading.field, reading.concept, errors=False)
    own = TIMES_WORSE * reading.misalignment if reading.concept is not None else 0.0
    return fit.degrees <= max(degrees, float(angles_in_degrees(np.array(own))))


def _home(
    reading: NeuronReading, forms: Sequence[FamilyForm], sizes: Sequence[int], degrees: float
) -> int | None:
    """The family of a reading: the most common form that has its terms, or else one that holds."""
    order = sorted(range(len(forms)), key=lambda place: -sizes[place])
    if reading.concept is not None:
        keys = frozenset(coefficients_of(reading.concept))
        exact = [place for place in order if forms[place].keys == keys]
        if exact and sizes[exact[0]] > 1:
            return exact[0]
    return next((place for place in order if holds(forms[place], reading, degrees)), None)


def _family(form: FamilyForm, members: Sequence[tuple[NeuronReading, FormFit]]) -> Family:
    ordered = sorted(members, key=lambda member: member[0].index)
    return Family(
        form,
        tuple(reading.label for reading, _ in ordered),
        np.array([reading.index for reading, _ in ordered]),
        tuple(fit for _, fit in ordered),
    )
