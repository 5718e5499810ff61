"""Find a formula in an index: the same concept, the same up to constants, and the nearest ones."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from closedform.canonical.same_concept import same_concept
from closedform.errors import DomainError
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.sweeping.atlas.concept_index import ConceptIndex, Entry, entry_of
from closedform.sweeping.atlas.matching import (
    Comparison,
    compare_formulas,
    fits_with_other_constants,
    matched,
)
from closedform.sweeping.atlas.probe_points import InputProfile, profile_at

Kind = Literal["exact", "constants", "nearest"]
KINDS: tuple[Kind, ...] = ("exact", "constants", "nearest")

COMPARED = 24
"""Formulas with the nearest fingerprints whose directions are compared. A formula whose constants
are 2% off is among the nearest ten of a thousand."""

NEAR = 0.1
"""Distance of fingerprints beyond which formulas are compared only to tell the nearest: constants
that are 2% off move one by 0.02 at most, in 99 of 100."""

FITTED_DEGREES = 15.0
"""Formulas farther away are not fitted: other constants hardly turn a direction by so much without
being found by their law."""

MOST_FITTED = 6
"""Formulas whose constants are fitted, the nearest first: each takes some hundredths of a second.
"""

MOST_OF_LAW = 50
"""Formulas of one law that are compared; there may be thousands that differ in their constants."""


@dataclass(frozen=True, slots=True)
class Match:
    """A formula of the index beside the one that is looked for."""

    kind: Kind
    number: int  # in the index
    formula: str
    degrees: float  # between directions
    inputs: tuple[tuple[str, str], ...]  # which of its inputs is which of the asked formula's
    is_confirmed: bool = False  # by `closedform.same_concept`


def find(
    index: ConceptIndex, formula: str | Expression, *, count: int = 10, confirm: bool = True
) -> list[Match]:
    """Formulas of an index, those of the same concept first, then those with other constants, then
    the nearest.

    count: how many of the nearest are given.
    confirm: whether `closedform.same_concept` must confirm exact matches; those that it does not
        are among the nearest.

    Examples
    --------
    >>> texts = ("m*v**2", "x + 3*y", "sin(x)*y")
    >>> index = ConceptIndex(entry_of(text).concept for text in texts)
    >>> [(match.kind, match.formula) for match in find(index, "2*log(b) + log(a)", count=1)]
    [('exact', 'm*v**2'), ('nearest', 'x + 3*y')]
    """
    asked = entry_of(formula)
    by_law = index.by_law.get(asked.key.law_id, [])[:MOST_OF_LAW]
    numbers = [*index.by_key.get(asked.key.id, [])[:MOST_OF_LAW], *by_law]
    wanted = count + len(numbers)
    for profile in asked.profiles:
        near = index.nearest(profile.vector, COMPARED)
        numbers += [n for rank, (n, gap) in enumerate(near) if gap < NEAR or rank < wanted]
    compared = {
        number: found
        for number in dict.fromkeys(numbers)
        if (found := _compared(asked, index.concepts[number].form)) is not None
    }
    order = sorted(compared, key=lambda number: (compared[number][1].misalignment, number))
    is_law = set(by_law)
    fitted = [n for n in order if n not in is_law and not compared[n][1].is_exact][:MOST_FITTED]
    found = []
    for number in order:
        own, comparison = compared[number]
        kind, confirmed = _kind(
            asked.key.form, own, comparison, is_of_law=number in is_law,
            is_fitted=number in fitted, confirm=confirm,
        )  # fmt: skip
        pairs = zip(own.names, comparison.order, strict=True)
        inputs = tuple((name, asked.key.form.names[place]) for name, place in pairs)
        text = index.concepts[number].form
        found.append(Match(kind, number, text, comparison.degrees, inputs, confirmed))
    matches = [match for kind in KINDS[:-1] for match in found if match.kind == kind]
    return matches + [match for match in found if match.kind == KINDS[-1]][:count]


def _compared(asked: Entry, text: str) -> tuple[Expression, Comparison] | None:
    """A formula of the index beside the asked one; None where no span suits both."""
    for profile in asked.profiles:
        own, beside = described(text, profile.span)
        found = beside and compare_formulas(asked.key.form, own, (profile, beside))
        if found:
            return own, found
    return None


@lru_cache(maxsize=4096)
def described(text: str, span: int) -> tuple[Expression, InputProfile | None]:
    """A formula of the index and its profile at a span; those that are near one question are near
    the next.
    """
    own = parse(text)
    return own, profile_at(own, span)


def _kind(
    asked: Expression,
    own: Expression,
    compared: Comparison,
    *,
    is_of_law: bool,
    is_fitted: bool,
    confirm: bool,
) -> tuple[Kind, bool]:
    """What two formulas are to each other, and whether it is confirmed."""
    if compared.is_exact:
        is_said = confirm and _is_same(asked, own, compared.order)
        return ("exact" if is_said or not confirm else "nearest"), is_said
    if is_of_law:
        return "constants", False
    is_near = is_fitted and compared.degrees < FITTED_DEGREES
    fits = is_near and fits_with_other_constants(asked, own, compared.order)
    return ("constants" if fits else "nearest"), False


def _is_same(first: Expression, second: Expression, order: tuple[int, ...]) -> bool:
    one, other, points = matched(first, second, order)
    if points is None:
        return False
    # On one side of a pole: 1/(x - y) is a function of x - y on each side, and not across.
    values = other(points)
    positive = points[values > 0]
    try:
        asked = positive if len(positive) > len(points) / 2 else points[values <= 0]
        return bool(same_concept(one, other, points=asked, time_limit=1.0))
    except DomainError:
        return False
