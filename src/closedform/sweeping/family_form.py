"""The form of a concept: its terms without their coefficients, and a fit of these in one gauge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

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
from closedform.judge.alignment import angles_in_degrees
from closedform.judge.regions import divide

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
