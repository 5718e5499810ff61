"""Find a formula in an index: the same concept, the same up to constants, and the nearest ones."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from closedform.canonical.equivalence.same_concept import same_concept
from closedform.errors import DomainError
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.sweeping.atlas.concept_index import ConceptIndex, Entry, entry_of
from closedform.sweeping.atlas.input_profile import InputProfile, profile_at
from closedform.sweeping.atlas.matching import (
    Comparison,
    common_points,
    compare_formulas,
    fits_with_other_constants,
    matched,
)

Kind = Literal["exact", "constants", "nearest"]
KINDS: tuple[Kind, ...] = ("exact", "constants", "nearest")

COMPARED = 40
"""Formulas with the nearest fingerprints whose directions are compared. A formula whose constants
are 2% off is among the nearest ten of a thousand."""

NEAR = 0.1
"""Distance of fingerprints beyond which formulas are compared only to tell the nearest: constants
that are 2% off move one by 0.02 at most, in 99 of 100."""

FITTED_DEGREES = 15.0
"""Formulas farther away are not fitted: other constants hardly turn a direction by so much without
being found by their law."""

MOST_OF_LAW = 200
"""Formulas of one law that are compared; there may be thousands that differ in their constants."""


@dataclass(frozen=True, slots=True)
class Match:
    """A formula of the index beside the one that is looked for."""

    kind: Kind
    number: int  # in the index
    formula: str
    degrees: float | None  # between directions; None where they are not comparable
    inputs: tuple[tuple[str, str], ...]  # which of its inputs is which of the asked formula's
    is_confirmed: bool = False  # by `closedform.same_concept`


def find(
    index: ConceptIndex, formula: str | Expression, *, count: int = 10, confirm: bool = True
) -> list[Match]:
    """Formulas of an index, those of the same concept first, then those with other constants, then
    the nearest.

    Parameters
    ----------
    index : ConceptIndex
    formula : str or Expression
    count : int
        How many of the nearest are given.
    confirm : bool
        Whether `closedform.same_concept` must confirm exact matches; those that it does not are
        among the nearest.

    Examples
    --------
    >>> index = ConceptIndex()
    >>> index.add_entries(map(entry_of, ("m*v**2", "x + 3*y", "sin(x)*y")))
    >>> [(match.kind, match.formula) for match in find(index, "2*log(b) + log(a)", count=1)]
    [('exact', 'm*v**2'), ('nearest', 'x + 3*y')]
    """
    asked = entry_of(formula)
    found: dict[int, Match] = {}
    by_law = index.with_law(asked.key.law_id)[:MOST_OF_LAW]
    numbers = [*index.with_key(asked.key.id)[:MOST_OF_LAW], *by_law]
    wanted = count + len(numbers)
    for profile in asked.profiles:
        near = index.nearest(profile.vector, COMPARED)
        numbers += [n for rank, (n, gap) in enumerate(near) if gap < NEAR or rank < wanted]
    for number in dict.fromkeys(numbers):
        match = _match(asked, number, index, is_of_law=number in by_law, confirm=confirm)
        if match is not None:
            found[number] = match
    ordered = sorted(found.values(), key=lambda match: (KINDS.index(match.kind), _far(match)))
    near = [match for match in ordered if match.kind == "nearest"][:count]
    return [match for match in ordered if match.kind != "nearest"] + near


def _far(match: Match) -> tuple[float, int]:
    return 360.0 if match.degrees is None else match.degrees, match.number


def _match(
    asked: Entry, number: int, index: ConceptIndex, *, is_of_law: bool, confirm: bool
) -> Match | None:
    for profile in asked.profiles:
        own, beside = described(index.texts[number], profile.span)
        if beside is None:
            continue
        compared = compare_formulas(asked.formula, own, (profile, beside))
        if compared is not None:
            break
    else:
        return None
    inputs = tuple(
        (name, asked.formula.names[place])
        for name, place in zip(own.names, compared.order, strict=True)
    )
    kind, confirmed = _kind(asked, own, compared, is_of_law=is_of_law, confirm=confirm)
    return Match(kind, number, index.texts[number], compared.degrees, inputs, confirmed)


@lru_cache(maxsize=4096)
def described(text: str, span: int) -> tuple[Expression, InputProfile | None]:
    """A formula of the index and its profile at a span; those that are near one question are near
    the next.
    """
    own = parse(text)
    return own, profile_at(own, span)


def _kind(
    asked: Entry, own: Expression, compared: Comparison, *, is_of_law: bool, confirm: bool
) -> tuple[Kind, bool]:
    """What two formulas are to each other, and whether it is confirmed."""
    if compared.is_exact:
        if not confirm:
            return "exact", False
        same = _is_same(asked.formula, own, compared.order)
        return ("exact", True) if same else ("nearest", False)
    if is_of_law:
        return "constants", False
    fits = compared.degrees < FITTED_DEGREES and fits_with_other_constants(
        asked.formula, own, compared.order
    )
    return ("constants", False) if fits else ("nearest", False)


def _is_same(first: Expression, second: Expression, order: tuple[int, ...]) -> bool:
    one = matched(first, order)
    other = Expression(second.tree, one.names)
    points = common_points(one, other)
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
