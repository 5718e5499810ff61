"""Which sums over sites span the gradient on a group: at each point the derivative by site i is a
combination of few functions of that site (and its neighbours), with weights common to all sites.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, combinations_with_replacement

import numpy as np
from scipy.optimize import minimize_scalar

from closedform.expressions.complexity import description_length
from closedform.judge.confidence import weighing
from closedform.judge.witnesses import VALUE_FLOOR
from closedform.reading.alike.sites import Sites, SiteTerm, kept_share, terms_for

MOST_POINTS = 150
"""Points that the sums are found on: each says as much as it has sites."""

MOST_SUMS = 3
"""Of one group: a formula of more sums than that is not found at the points that a field has."""

KEPT = 12
"""Sets of each size that are continued, and whose numbers are fitted."""

WORTH = 4.0
"""By how much one more sum must reduce what is left of the gradient's square, half of it in
degrees: less is a network's own error in the shape of another function."""

AS_GOOD = 2.0
"""Sets that leave up to so much more than the best of their size are as good, and the shortest of
them is taken, for the same reason."""

EXACT = 1e-12
"""Share of the gradient's square that is rounding: single precision leaves more in a network."""

ALIKE = 0.9
"""Cosine from which two sums' gradients are too much alike for both to be told apart in noise."""


@dataclass(frozen=True)
class Span:
    """Sums that span a group's gradient."""

    terms: tuple[SiteTerm, ...]  # needed ones first
    needed: int  # how many of them reduce what is left by a factor
    left: float  # share of the squared gradient that they leave, of what the group holds

    @property
    def used(self) -> tuple[SiteTerm, ...]:
        """Those that are needed."""
        return self.terms[: self.needed]


@dataclass
class _Moments:
    """Products of the columns of all terms, point by point: every set of terms is judged from
    these, without another pass over sites.
    """

    sites: Sites
    terms: list[SiteTerm]

    def __post_init__(self) -> None:
        with np.errstate(all="ignore"):
            columns = self.sites.slopes(self.terms)
        count = len(self.terms)
        fine = np.isfinite(columns).all(axis=(0, 1)) & (np.abs(columns).max(axis=(0, 1)) < 1e100)
        sizes = np.sqrt((np.where(fine, columns, 0.0) ** 2).mean(axis=(0, 1)))
        fine &= sizes > 0
        columns = np.where(fine, columns / np.where(sizes > 0, sizes, 1.0), 0.0)
        self.fine = [place for place in range(count) if fine[place]]
        self.products = np.einsum("pnm,pnk->pmk", columns, columns, optimize=True)
        self.along = np.einsum("pnm,pn->pm", columns, self.sites.gradients, optimize=True)
        self.total = (self.sites.gradients**2).sum(axis=1)

    def places(self, chosen: Sequence[int]) -> list[int]:
        """Columns of a set of terms, with those of a flip's second order."""
        if self.sites.flips is None:
            return list(chosen)
        count = len(self.terms)
        ordered = list(combinations_with_replacement(range(count), 2))
        pairs = [*((place, place) for place in chosen), *combinations(chosen, 2)]
        return [*chosen, *(count + ordered.index((min(p), max(p))) for p in pairs)]

    def left(self, chosen: Sequence[int]) -> float:
        """Share of the squared gradient that a set leaves, without the worst points."""
        places = self.places(chosen)
        return kept_share(self.total - self._inside(places, self.along[:, places]), self.total)

    def _inside(self, places: Sequence[int], along: np.ndarray) -> np.ndarray:
        """At each point, the square of the part in the span of some columns."""
        inner = self.products[:, places][:, :, places]
        ridge = 1e-13 * np.trace(inner, axis1=1, axis2=2)[:, None, None] * np.eye(len(places))
        found = np.linalg.solve(inner + ridge + 1e-300 * np.eye(len(places)), along[:, :, None])
        return (along * found[:, :, 0]).sum(axis=1)

    def cosines(self, chosen: Sequence[int], other: int) -> tuple[float, float]:
        """How much of a term's gradients lies in the span of a set's: of all, and typically."""
        inside = self._inside(chosen, self.products[:, chosen, other])
        own = self.products[:, other, other]
        shares = [inside.sum() / own.sum(), np.median(inside / np.maximum(own, 1e-300))]
        whole, typical = np.sqrt(np.clip(shares, 0.0, 1.0)).tolist()
        return whole, typical


def find_span(sites: Sites, *, may_fit: bool = True) -> Span:
    """The fewest sums that leave little of a group's gradient, and one more."""
    # Fitting numbers inside functions takes most of the time.
    few = sites.some(MOST_POINTS)
    terms = [one for one in terms_for(few.values, few.group) if may_fit or one.number is None]
    moments = _Moments(few, terms)
    ranked: list[tuple[float, tuple[int, ...]]] = [
        (moments.left([place]), (place,)) for place in moments.fine
    ]
    best: Span | None = None
    for size in range(1, MOST_SUMS + 1):
        if not ranked:
            break
        ranked.sort()
        fitted = [_fitted([terms[p] for p in set_], few.share) for set_ in _unlike(ranked, terms)]
        lowest = min(span.left for span in fitted)
        found = _likeliest(fitted, sites)
        if best is not None:
            is_better = sites.latents is None or _score(found, sites) < _score(best, sites)
            if lowest > best.left / WORTH or not is_better:
                break
        best = found
        if best.left <= EXACT:
            break
        # Of two sums every pair is looked at: neither need be good alone.
        starts = [set_ for _, set_ in ranked[:KEPT]] if size > 1 else [(p,) for p in moments.fine]
        larger = {tuple(sorted((*s, p))) for s in starts for p in moments.fine if p not in s}
        ranked = [(moments.left(set_), set_) for set_ in larger]
    assert best is not None
    if sites.latents is not None and best.left > EXACT:
        terms = _fitted(best.terms, sites.values_left).terms
        best = Span(terms, best.needed, few.share(terms))
    return _with_spare(best, moments)


def _unlike(
    ranked: Sequence[tuple[float, tuple[int, ...]]], terms: Sequence[SiteTerm]
) -> list[tuple[int, ...]]:
    """The best sets, one for each set of functions: numbers inside start from their best value."""
    found: dict[tuple[str, ...], tuple[int, ...]] = {}
    for _, set_ in ranked:
        found.setdefault(tuple(terms[place].text for place in set_), set_)
    return list(found.values())[:KEPT]


def _with_spare(span: Span, moments: _Moments) -> Span:
    """With one more sum, which the reading of a single one can leave out."""
    # It has to differ site by site at most points, and over points it is the one that follows the
    # others least: a network's error in a sum that follows another looks like a slope along both.
    terms = [*moments.terms, *span.terms]
    every = _Moments(moments.sites, terms)
    chosen = list(range(len(moments.terms), len(terms)))
    sites = moments.sites
    own = [term.summed(sites.name, sites.group).values(sites.points) for term in span.terms]
    others: list[tuple[float, SiteTerm]] = []
    for place in moments.fine:
        term = terms[place]
        whole, typical = every.cosines(chosen, place)
        if term.number is None and whole < ALIKE:
            values = term.summed(sites.name, sites.group).values(sites.points)
            follows = max(abs(float(np.corrcoef(each, values)[0, 1])) for each in own)
            others.append((max(follows, typical), term))
    if not others:
        return span
    return replace(span, terms=(*span.terms, min(others, key=lambda one: one[0])[1]))


def _fitted(terms: Sequence[SiteTerm], left: Callable[[Sequence[SiteTerm]], float]) -> Span:
    """A set with the numbers inside its functions fitted one by one, in as few digits as serve."""
    found = list(terms)
    open_ = [place for place, term in enumerate(found) if term.number is not None]

    def judged(place: int, number: float) -> float:
        with np.errstate(all="ignore"):
            share = left(
                [*found[:place], replace(found[place], number=number), *found[place + 1 :]]
            )
        return share if np.isfinite(share) else 1.0

    for place in open_ * (1 if len(open_) == 1 else 3):
        start = found[place].number
        assert start is not None
        fit = minimize_scalar(
            lambda log, place=place: np.log(judged(place, float(np.exp(log))) + EXACT**2),
            bounds=(np.log(start / 1.5), np.log(start * 1.5)), method="bounded",
            options={"xatol": 1e-7},
        )  # fmt: skip
        found[place] = replace(found[place], number=float(np.exp(fit.x)))
    for place in open_:
        number = found[place].number
        assert number is not None
        limit = 1.02 * judged(place, number) + EXACT
        shorter = (float(f"{number:.{digits}g}") for digits in range(1, 13))
        plain = next((short for short in shorter if judged(place, short) <= limit), number)
        found[place] = replace(found[place], number=plain)
    return Span(tuple(found), len(found), left(found))


def _likeliest(spans: list[Span], sites: Sites) -> Span:
    """The best by both witnesses; by directions alone, the shortest of those that are as good."""
    lowest = min(span.left for span in spans)
    if sites.latents is not None and lowest > EXACT:
        return min(spans, key=lambda span: _score(span, sites))
    fine = [span for span in spans if span.left <= AS_GOOD * lowest + EXACT]
    return min(fine, key=lambda span: (sum(term.length for term in span.terms), span.left))


def _score(span: Span, sites: Sites) -> float:
    """Nats, as formulas are weighed, by both witnesses and by length."""
    # Values tell functions apart that gradients do not. One more sum costs a sign and a number.
    numbers = weighing(has_values=True)
    lefts = np.array([span.left + EXACT, sites.values_left(span.terms) + VALUE_FLOOR])
    lengths = sum(description_length(term.expression.tree) + 3 for term in span.terms)
    return float(np.dot(numbers.most, np.log(lefts))) + numbers.price * lengths
