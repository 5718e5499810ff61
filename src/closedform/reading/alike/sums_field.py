"""A field in the sums: points are values of the sums and of single inputs, directions what the
gradient on the sites is as a combination of the gradients of the sums.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
from closedform.errors import FieldError
from closedform.expressions.expression import Expression
from closedform.expressions.sites import FormulaOfSums, Group, SiteSum, quantities
from closedform.field.alignment.misalignment import trimmed_mean
from closedform.field.gradient_field import GradientField
from closedform.field.tangent_space import robust_spread
from closedform.networks.flips import two_values
from closedform.reading.alike.site_spans import find_span
from closedform.reading.alike.sites import Sites, SiteTerm

NO_SHARE = 1e-6
"""Share of the squared gradient below which a group does not matter: an angle of 0.06 degrees."""

SURELY = 0.9
"""What two kinds of sites must explain of how sites differ, and how far two halves of the points
must agree on that: they explain 0.99 and more where there are two, and up to 0.8 of what is drawn
at random for each site."""


@dataclass(frozen=True)
class SumsField:
    """A field of many inputs as one of few sums.

    Shares are those of each squared gradient, in inputs divided by their spread.
    """

    field: GradientField  # in the sums and the inputs that are in no group
    sums: tuple[SiteSum, ...]
    alone: tuple[int, ...]  # columns of the others
    inputs: tuple[str, ...]  # all
    outside: FloatArray  # (n_points,): the share outside the gradients of the sums
    # (n_points,): the part of it that is the same at all points: one factor for each site, 1 if
    # sites are alike.
    broken: FloatArray
    # averaged: what the mean over rearrangements of a group has left of the network's broken part.
    # asymmetry: that part itself; 0 if it is not known. of_values: of their variance, the share
    # that is not the mean's.
    averaged: float = 0.0
    asymmetry: float = 0.0
    of_values: float = 0.0
    # Inputs of the smaller of two kinds that are declared as one group; none if there is one kind.
    other_kind: tuple[str, ...] = ()

    def formula(self, expression: Expression) -> FormulaOfSums:
        """An expression of the sums as a function of all inputs, without sums that do not occur."""
        own = expression.rename(self.field.names)
        used = [place for place in range(len(self.sums)) if place in own.tree.variables]
        names = [*(str(self.sums[place]) for place in used), *self.field.names[len(self.sums) :]]
        short = own.rename(names)
        sums = tuple(self.sums[place] for place in used)
        return FormulaOfSums(short.tree, short.names, sums, self.alone, self.inputs)

    def of_own_values(self, share: float) -> float:
        """What explains a share of the field's values, of the network's own."""
        return share * (1 - self.of_values)

    def mean_outside(self, rows: NDArray[np.int64] | None = None) -> float:
        """Outside the sums, without the worst 5% of the points and what a mean over groups left."""
        chosen = np.arange(len(self.outside)) if rows is None else rows
        return max(
            trimmed_mean(self.outside[chosen], self.field.weights[chosen]) - self.averaged, 0.0
        )

    def mean_broken(self) -> float:
        """The part of it that is the same at all points."""
        return trimmed_mean(self.broken, self.field.weights)


def field_of_sums(
    field: GradientField, groups: dict[str, Group], stated: Sequence[SiteSum] = ()
) -> SumsField:
    """Find the sums that span the gradient on each group; the field in these and stated ones."""
    if field.rank != 1 or field.tangent.kind != "none":
        raise FieldError(
            f"Sums over sites are read from the gradient of one neuron in all inputs; this field "
            f"has rank {field.rank} and tangent {field.tangent.kind!r}. Extract it with groups= or "
            f"with tangent='none'."
        )
    usable = field.weights > 0
    scale = np.array(field.scale)
    for group in groups.values():
        # A site that is nearly always ordered has no spread of its own.
        scale[group.columns] = max(float(field.points[:, group.columns].std()), 1e-300)
    directions = field.directions[:, :, 0]
    scaled = directions * scale
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    scaled = np.divide(scaled, lengths, out=np.zeros_like(scaled), where=lengths > 0)
    sums: list[SiteSum] = []
    slopes: list[FloatArray] = []
    variances: list[FloatArray] = []
    outside, broken = np.zeros(len(scaled)), np.zeros(len(scaled))
    other_kind: list[int] = []
    grouped = {column for group in groups.values() for column in group.columns.tolist()}
    alone = tuple(column for column in range(len(field.names)) if column not in grouped)
    for name, given in groups.items():
        group = _with_pairs(given, field.points)
        sites = Sites(name, group, field.points, scaled[:, group.columns])
        if (sites.gradients[usable] ** 2).sum() <= NO_SHARE * usable.sum():
            continue
        latents = None
        if field.latents is not None and len(groups) == 1 and not alone:
            latents = field.latents[usable, 0]
        span = find_span(Sites(name, group, field.points[usable], sites.gradients[usable], latents))
        # A field of one input says nothing: every function of it fits.
        is_one = len(groups) == 1 and span.needed == 1 and not alone
        wanted = span.terms if is_one else span.used
        terms = _with_stated(wanted, [each for each in stated if each.name == name])
        own, variance, left = sites.weights(terms)
        sums += [term.summed(name, group) for term in terms]
        # Back from scaled inputs: slopes of a direction in the user's coordinates.
        factor = lengths / scale[group.columns[0]]
        slopes.append(own * factor)
        variances.append(variance * factor**2)
        outside += (left**2).sum(axis=1)
        factors = _site_factors(sites.gradients - left, left, usable)
        own_broken = _broken(sites.gradients - left, left, usable, factors)
        broken += own_broken
        if trimmed_mean(own_broken, field.weights) > NO_SHARE:
            other_kind += group.columns[_other_kind(factors)].tolist()
    if not sums:
        raise FieldError(
            "The neuron does not depend on any of the groups; read the other inputs with wrt=."
        )
    covectors = np.concatenate([*slopes, directions[:, list(alone)]], axis=1)
    with np.errstate(all="ignore"):
        points = np.stack(quantities(sums, alone, field.points), axis=1)
    is_known = np.asarray(np.isfinite(points).all(axis=1))
    points = np.where(is_known[:, None], points, np.median(points[is_known], axis=0))
    # Where the slopes along the sums vanish, what is left on the sites decides their direction.
    spread = robust_spread(points)
    noise = (np.concatenate(variances, axis=1) * spread[: len(sums)] ** 2).sum(axis=1)
    signal = ((covectors * spread) ** 2).sum(axis=1)
    reliable = np.where(np.isfinite(noise), signal / np.maximum(signal + noise, 1e-300), 0.0)
    if field.slopes is not None:
        covectors = covectors * field.slopes[:, :1]
    names = [*map(str, sums), *(field.names[column] for column in alone)]
    reduced = GradientField.from_arrays(
        points, covectors, latents=field.latents, names=names, tangent="none",
        weights=np.where(is_known, field.weights * reliable, 0.0), notes=field.notes,
        signed=field.is_signed,
    )  # fmt: skip
    mean = field.quality.finding("averaged-over-groups")
    averaged, asymmetry, of_values = (
        0.0 if mean is None else mean.data[key] for key in ("left", "broken", "of_values")
    )
    return SumsField(
        reduced, tuple(sums), alone, field.names, outside, broken, averaged, asymmetry, of_values,
        # A mean over rearrangements has mixed the kinds.
        tuple(field.names[column] for column in other_kind if mean is None),
    )  # fmt: skip


def _with_pairs(group: Group, points: FloatArray) -> Group:
    """A group with neighbours where it needs some; consecutive sites serve."""
    # Of spins there is only one sum over sites, and a reading needs something to leave out.
    if len(group.pairs) or two_values(points[:, group.columns]) is None:
        return group
    return Group(group.sites, shape=(len(group.sites),))


def _with_stated(terms: Sequence[SiteTerm], stated: Sequence[SiteSum]) -> list[SiteTerm]:
    """Terms with those that a user's formula holds."""
    texts = {str(term.expression) for term in terms}
    more = [SiteTerm(str(each.term), over_pairs=each.is_over_pairs) for each in stated]
    return [*terms, *(term for term in more if term.text not in texts)]


def _site_factors(explained: FloatArray, left: FloatArray, usable: NDArray[np.bool_]) -> FloatArray:
    """(2, n_sites): for each half of the points the factor that fits best what is left."""
    rows = np.flatnonzero(usable)
    found = []
    for half in (rows[::2], rows[1::2]):
        sizes = (explained[half] ** 2).sum(axis=0)
        found.append((explained[half] * left[half]).sum(axis=0) / np.where(sizes > 0, sizes, 1.0))
    return np.stack(found)


def _broken(
    explained: FloatArray, left: FloatArray, usable: NDArray[np.bool_], factors: FloatArray
) -> FloatArray:
    """What a factor for each site, from the other half of the points, explains of what is left."""
    found = np.zeros(len(left))
    rows = np.flatnonzero(usable)
    for others, own in zip((rows[1::2], rows[::2]), factors, strict=True):
        after = left[others] - own * explained[others]
        found[others] = (left[others] ** 2).sum(axis=1) - (after**2).sum(axis=1)
    return found


def _other_kind(factors: FloatArray) -> NDArray[np.bool_]:
    """Which sites are the fewer of two kinds, if there are two."""
    # Kinds that one half of the points shows must explain the factors of the other half.
    first, second = factors - factors.mean(axis=1, keepdims=True)
    count, shared = len(first), float(first @ second)
    order = np.argsort(first)
    sizes = np.arange(1, count)
    # Of all divisions by size the one that leaves the least spread within the kinds.
    between = np.cumsum(first[order])[:-1] ** 2 * (1 / sizes + 1 / (count - sizes))
    is_lower = np.zeros(count, dtype=bool)
    is_lower[order[: int(between.argmax()) + 1]] = True
    lower, upper = int(is_lower.sum()), int((~is_lower).sum())
    explained = float(first[is_lower].sum() * second[is_lower].sum()) * (1 / lower + 1 / upper)
    agreement = shared / max(float(np.linalg.norm(first) * np.linalg.norm(second)), 1e-300)
    if explained < SURELY * shared or agreement < SURELY:
        return np.zeros(count, dtype=bool)
    return is_lower if lower <= upper else ~is_lower
