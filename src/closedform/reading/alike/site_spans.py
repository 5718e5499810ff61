"""Which sums over sites span the gradient on a group: at each point the derivative by site i is a
combination of few functions of that site (and its neighbours), with weights common to all sites.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.optimize import minimize_scalar

from closedform.arrays import FloatArray
from closedform.expressions.site_groups import Group
from closedform.networks.flips import two_values
from closedform.reading.alike.site_terms import SiteTerm, terms_for

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

SEPARATE = 0.1
"""Ratio of singular values below which the gradients of the sums at a point are parallel: in an
ordered lattice, those of the magnetisation and of the energy are."""

ALIKE = 0.9
"""Cosine from which two sums' gradients are too much alike for both to be told apart in noise."""


@dataclass(frozen=True)
class Sites:
    """The gradient on the sites of one group.

    Attributes
    ----------
    name, group
        With columns as sites.
    points : ndarray, shape (n_points, n_inputs)
        All inputs.
    gradients : ndarray, shape (n_points, n_sites)
        The group's part of gradients that are 1 long, in inputs divided by their spread.
    """

    name: str
    group: Group
    points: FloatArray
    gradients: FloatArray

    @cached_property
    def values(self) -> FloatArray:
        """The group's inputs."""
        return self.points[:, self.group.columns]

    @cached_property
    def flips(self) -> FloatArray | None:
        """How far each site moves when it is flipped; None unless sites have two values."""
        found = two_values(self.values)
        return None if found is None else sum(found) - 2 * self.values

    def some(self, count: int) -> "Sites":
        """At some of the points, evenly chosen."""
        rows = np.linspace(0, len(self.points) - 1, min(count, len(self.points))).astype(int)
        return Sites(self.name, self.group, self.points[rows], self.gradients[rows])

    def slopes(self, terms: Sequence[SiteTerm]) -> FloatArray:
        """Gradients of sums, shape (n_points, n_sites, n_terms).

        A flip is not a small step: of a function of the sums it also shows the second derivatives,
        which multiply products of changes. They are explained and mean nothing, so they follow the
        terms as columns of their own.
        """
        columns = [term.summed(self.name, self.group).gradient(self.points) for term in terms]
        if self.flips is not None:
            columns += [
                self.flips * columns[a] * columns[b]
                for a in range(len(terms)) for b in range(a, len(terms))
            ]  # fmt: skip
        return np.stack(columns, axis=2)

    def weights(self, terms: Sequence[SiteTerm]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The slope along each sum at each point, (n_points, n_terms), its variance if what is left
        is independent from site to site, infinite where the sums' gradients are parallel, and what
        the sums leave on each site, (n_points, n_sites).
        """
        columns, count = self.slopes(terms), len(terms)
        sizes = np.sqrt((columns**2).mean(axis=(0, 1)))
        sizes[sizes == 0] = 1.0
        inverse = np.linalg.pinv(columns / sizes, rcond=1e-9) / sizes[:, None]
        every = np.einsum("pmn,pn->pm", inverse, self.gradients)
        left = self.gradients - np.einsum("pnm,pm->pn", columns, every)
        freedom = max(columns.shape[1] - columns.shape[2], 1)
        variance = (inverse**2).sum(axis=2) * (left**2).sum(axis=1)[:, None] / freedom
        found, variance = every[:, :count], variance[:, :count]
        if self.flips is not None:
            # A slope is known as well as flips show it, and not the second derivatives.
            first, second = (
                (np.einsum("pnm,pm->pn", columns[:, :, part], every[:, part]) ** 2).sum(axis=1)
                for part in (slice(count), slice(count, None))
            )
            variance += found**2 * (second / np.maximum(first, 1e-9 * second + 1e-300))[:, None]
        values = np.linalg.svd(columns[:, :, :count] / sizes[:count], compute_uv=False)
        variance[values[:, -1] <= SEPARATE * values[:, 0]] = np.inf
        return found, variance, left


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

    @property
    def spare(self) -> tuple[SiteTerm, ...]:
        """What was added for the reading to leave out."""
        return self.terms[self.needed :]


@dataclass
class _Moments:
    """Products of the columns of all terms, point by point: every set of terms is judged from
    these, without another pass over sites.
    """

    sites: Sites
    terms: list[SiteTerm]
    _fits: dict[tuple[SiteTerm, ...], float] = field(default_factory=dict)

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
        ordered = [(a, b) for a in range(count) for b in range(a, count)]
        second = [count + ordered.index((min(p), max(p))) for p in _with_repeats(chosen)]
        return [*chosen, *second]

    def left(self, chosen: Sequence[int]) -> float:
        """Share of the squared gradient that a set leaves, without the worst points."""
        places = self.places(chosen)
        inner = self.products[:, places][:, :, places]
        ridge = 1e-13 * np.trace(inner, axis1=1, axis2=2)[:, None, None] * np.eye(len(places))
        along = self.along[:, places]
        found = np.linalg.solve(inner + ridge + 1e-300 * np.eye(len(places)), along[:, :, None])
        return _share(self.total - (along * found[:, :, 0]).sum(axis=1), self.total)

    def cosine(self, chosen: Sequence[int], other: int) -> float:
        """How much of a term's gradients lies in the span of a set's."""
        inner = self.products[:, chosen][:, :, chosen]
        across = self.products[:, chosen, other]
        ridge = 1e-13 * np.trace(inner, axis1=1, axis2=2)[:, None, None] * np.eye(len(chosen))
        found = np.linalg.solve(inner + ridge + 1e-300 * np.eye(len(chosen)), across[:, :, None])
        share = (across * found[:, :, 0]).sum(axis=1).sum() / self.products[:, other, other].sum()
        return float(np.sqrt(min(max(share, 0.0), 1.0)))


def find_span(sites: Sites, *, may_fit: bool = True) -> Span:
    """The fewest sums that leave little of a group's gradient, and one more.

    may_fit: whether functions with a number inside are tried, which takes most of the time.
    """
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
        found = _shortest([_fitted(few, [terms[p] for p in set_], left)
                           for left, set_ in ranked[:KEPT]])  # fmt: skip
        if best is not None and found.left > best.left / WORTH:
            break
        best = found
        if best.left <= EXACT:
            break
        # Of two sums every pair is looked at: neither need be good alone.
        starts = [set_ for _, set_ in ranked[:KEPT]] if size > 1 else [(p,) for p in moments.fine]
        larger = {tuple(sorted((*s, p))) for s in starts for p in moments.fine if p not in s}
        ranked = [(moments.left(set_), set_) for set_ in larger]
    assert best is not None
    return _with_spare(best, moments)


def _with_spare(span: Span, moments: _Moments) -> Span:
    """One more sum that a reading of a single one can leave out: told apart from the others site by
    site, and over points the one that follows them least, since a network's error in a sum that
    follows another looks like a slope along both.
    """
    terms = [*moments.terms, *span.terms]
    every = _Moments(moments.sites, terms)
    chosen = list(range(len(moments.terms), len(terms)))
    sites = moments.sites
    own = [term.summed(sites.name, sites.group).values(sites.points) for term in span.terms]
    others: list[tuple[float, SiteTerm]] = []
    for place in moments.fine:
        term = terms[place]
        if term.number is None and every.cosine(chosen, place) < ALIKE:
            values = term.summed(sites.name, sites.group).values(sites.points)
            follows = max(abs(float(np.corrcoef(each, values)[0, 1])) for each in own)
            others.append((follows, term))
    if not others:
        return span
    return replace(span, terms=(*span.terms, min(others, key=lambda one: one[0])[1]))


def _fitted(sites: Sites, terms: list[SiteTerm], left: float) -> Span:
    """A set with the numbers inside its functions fitted, one after the other, and written with as
    few digits as serve.
    """
    open_ = [place for place, term in enumerate(terms) if term.number is not None]
    if not open_:
        return Span(tuple(terms), len(terms), left)

    def judged(place: int, number: float) -> float:
        tried = [*terms[:place], replace(terms[place], number=number), *terms[place + 1 :]]
        with np.errstate(all="ignore"):
            over = sites.weights(tried)[2]
        found = _share((over**2).sum(axis=1), (sites.gradients**2).sum(axis=1))
        return found if np.isfinite(found) else 1.0

    for place in open_ * (1 if len(open_) == 1 else 3):
        start = terms[place].number
        assert start is not None
        found = minimize_scalar(
            lambda log, place=place: np.log(judged(place, float(np.exp(log))) + EXACT**2),
            bounds=(np.log(start / 1.5), np.log(start * 1.5)), method="bounded",
            options={"xatol": 1e-7},
        )  # fmt: skip
        terms[place] = replace(terms[place], number=float(np.exp(found.x)))
    for place in open_:
        number = terms[place].number
        assert number is not None
        limit = 1.02 * judged(place, number) + EXACT
        shorter = (float(f"{number:.{digits}g}") for digits in range(1, 13))
        plain = next((short for short in shorter if judged(place, short) <= limit), number)
        terms[place] = replace(terms[place], number=plain)
        left = judged(place, plain)
    return Span(tuple(terms), len(terms), left)


def _shortest(spans: list[Span]) -> Span:
    """The shortest of those that are as good as the best."""
    lowest = min(span.left for span in spans)
    fine = [span for span in spans if span.left <= AS_GOOD * lowest + EXACT]
    return min(fine, key=lambda span: (sum(term.length for term in span.terms), span.left))


def _share(squares: FloatArray, total: FloatArray) -> float:
    """Of the whole, without the twentieth of the points that leaves most."""
    kept = np.argsort(squares)[: max(1, round(0.95 * len(squares)))]
    return float(np.maximum(squares[kept], 0.0).sum() / max(total[kept].sum(), 1e-300))


def _with_repeats(chosen: Sequence[int]) -> list[tuple[int, int]]:
    return [*((place, place) for place in chosen), *combinations(chosen, 2)]
