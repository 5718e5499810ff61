"""Networks of inputs that are alike: derivatives by inputs with two values, and averages over the
group.

A derivative at a spin is taken between its values, where no data lies: the change of the output
when the spin is flipped takes its place. And a network is rarely as symmetric as its data: padding,
stride and the weights that training has left at random differ between sites. The mean of its
gradients at copies of a point that the group makes (permutations, or shifts of a lattice) is the
gradient of the network's symmetric part.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
from closedform.expressions.sites import Group, GroupsLike, as_groups, names_with_groups
from closedform.field.findings import Finding
from closedform.networks.samples import Samples, Source

COPIES, CHANGES = (2, 8), 800
"""Fewest and most copies of a point for the mean over a group, two to see what is broken, and
changes of a site that a slope along a sum rests on in all. What they leave of the broken part is
known and taken off."""

MOST_EVALUATIONS, MOST_FLIPPED = 4_000_000, 2000
"""Of a network, for flips, and points that sites are flipped at: how sure an answer is grows with
the points, as it does for other fields."""

SYMMETRIC = 1e-10
"""Share of the variance of a network's values that a rearrangement may change if the network is
symmetric: single precision changes less."""

ALIKE_IN_SIZE = 2.0
"""Ratio of the variances of two parts of a network's error that count as of one size: of nine
classifiers of spins, what is not even varies 0.02 to 1.3 times as much as what differs by site."""

FLIPPED = (
    "{count} inputs take two values, {low:g} and {high:g}: in place of derivatives, the field "
    "holds the change of the output when one of them is flipped, per change of the input."
)
"""The note about two-valued inputs."""


def two_values(values: FloatArray) -> tuple[float, float] | None:
    """The two values that all entries have; None if there are more, or one."""
    low, high = float(values.min()), float(values.max())
    is_so = low < high and bool(((values == low) | (values == high)).all())
    return (low, high) if is_so else None


def columns_of_groups(
    points: FloatArray, groups: GroupsLike, names: Sequence[str] | None
) -> dict[str, Group]:
    """Groups with columns as sites."""
    labels = names_with_groups(groups, points.shape[1]) if names is None else names
    return as_groups(groups, labels)


def points_to_flip(points: FloatArray, groups: Mapping[str, Group]) -> int | None:
    """At how many points two-valued sites are flipped; None if there are no such sites."""
    sites = sum(len(columns) for columns in _flipped(points, groups).values())
    copies = copies_for(groups)
    return min(MOST_FLIPPED, MOST_EVALUATIONS // (copies * sites)) if sites else None


def copies_for(groups: Mapping[str, Group]) -> int:
    """Rearrangements of each point that gradients are averaged over."""
    fewest = min(len(group.sites) for group in groups.values())
    return min(max(COPIES[0], -(-CHANGES // fewest)), COPIES[1])


def alike_samples(
    source: Source, groups: Mapping[str, Group], rng: np.random.Generator
) -> tuple[Samples, tuple[Finding, ...]]:
    """Values and gradients of the network, averaged over the groups; and over an exchange of two
    values at all sites, if the network hardly feels it.
    """
    points, flipped = source.points, _flipped(source.points, groups)
    turned = [column for columns in flipped.values() for column in columns]
    samples = source.evaluate(points)
    slopes = [_with_flips(source, points, samples.latents, samples.jacobians, flipped)]
    values = [samples.latents]
    moved = source.values(points[:, _rearranged_columns(groups, points.shape[1], rng)])
    change = float((moved - samples.latents).var())
    parity = _parity(source, samples.latents, change, flipped)
    is_broken = change > SYMMETRIC * samples.latents.var()
    for turn in range(1, copies_for(groups) if is_broken else 1):
        order = _rearranged_columns(groups, points.shape[1], rng)
        moved = np.ascontiguousarray(points[:, order])
        is_exchanged = parity != 0 and turn % 2 == 1
        if is_exchanged:
            moved = _exchanged(moved, flipped)
        there = source.evaluate(moved)
        back = np.empty_like(slopes[0])
        back[:, :, order] = _with_flips(source, moved, there.latents, there.jacobians, flipped)
        if is_exchanged:
            back *= parity
            back[:, :, turned] *= -1
        slopes.append(back)
        values.append(parity * there.latents if is_exchanged else there.latents)
    notes = [
        FLIPPED.format(count=len(columns), low=low, high=high)
        for columns in flipped.values()
        for low, high in [two_values(points[:, columns]) or (0.0, 0.0)]
    ]
    told = [Finding("two-valued-inputs", "info", note, {"groups": list(flipped)}) for note in notes]
    if is_broken:
        told.append(_averaged(slopes, values))
        notes.append(told[-1].message)
    return replace(
        samples, latents=np.mean(values, axis=0), jacobians=np.mean(slopes, axis=0),
        notes=(*samples.notes, *notes),
    ), tuple(told)  # fmt: skip


def _rearranged_columns(
    groups: Mapping[str, Group], count: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    order = np.arange(count)
    for group in groups.values():
        order[group.columns] = group.columns[rearranged(group, rng)]
    return order


def rearranged(group: Group, rng: np.random.Generator) -> NDArray[np.int64]:
    """An order of the sites that leaves neighbours neighbours: shifts and reflections of a periodic
    lattice, reflections of another, any order without neighbours, none where they are listed.
    """
    count = len(group.sites)
    if group.neighbours is not None:
        return np.arange(count)
    if group.shape is None:
        return rng.permutation(count)
    places = np.arange(count).reshape(group.shape)
    for axis, length in enumerate(group.shape):
        if group.periodic:
            places = np.roll(places, rng.integers(length), axis)
        if rng.integers(2):
            places = np.flip(places, axis)
    return places.ravel()


def _flipped(points: FloatArray, groups: Mapping[str, Group]) -> dict[str, list[int]]:
    """Columns of the groups whose inputs take the same two values."""
    columns = {name: group.columns.tolist() for name, group in groups.items()}
    return {name: own for name, own in columns.items() if two_values(points[:, own]) is not None}


def _exchanged(points: FloatArray, flipped: Mapping[str, list[int]]) -> FloatArray:
    """Points with the two values exchanged at all sites."""
    moved = np.array(points)
    for columns in flipped.values():
        moved[:, columns] = sum(two_values(points[:, columns]) or ()) - points[:, columns]
    return moved


def _parity(
    source: Source, values: FloatArray, change: float, flipped: Mapping[str, list[int]]
) -> int:
    """1 if the network is even under an exchange of the two values at all sites, -1 if it is odd, 0
    if neither: up to a part of the size of `change`, the variance that a rearrangement leaves.
    """
    if not flipped:
        return 0
    there = source.values(_exchanged(source.points, flipped))
    # A difference has twice the variance of a part that is drawn anew, and four times that of one
    # that changes its sign.
    most = ALIKE_IN_SIZE * 2 * change
    return int((there - values).var() <= most) - int((there + values).var() <= most)


def _with_flips(
    source: Source,
    points: FloatArray,
    latents: FloatArray,
    jacobians: FloatArray,
    flipped: Mapping[str, list[int]],
) -> FloatArray:
    """Jacobians whose columns of two-valued inputs are changes under flips."""
    jacobians, moved = np.array(jacobians), np.array(points)
    for columns in flipped.values():
        total = sum(two_values(points[:, columns]) or ())
        for column in columns:
            moved[:, column] = total - points[:, column]
            steps = moved[:, column] - points[:, column]
            jacobians[:, :, column] = (source.values(moved) - latents) / steps[:, None]
            moved[:, column] = points[:, column]
    return jacobians


def _averaged(slopes: Sequence[FloatArray], values: Sequence[FloatArray]) -> Finding:
    """What the copies do not share, from how far they scatter."""
    broken, count = _share(slopes), len(slopes)
    own_way = _share([copy - copy.mean(axis=0) for copy in values])
    degrees = float(np.degrees(np.arcsin(np.sqrt(broken))))
    # Of the mean's square, what scatter is left in it.
    left = broken / count / (1 - broken + broken / count)
    said = (
        f"The network is not quite symmetric under exchanges of alike inputs: {degrees:.2g} "
        f"degrees of its gradient and {own_way:.2g} of its values' variance change. What is read "
        f"are means over {count} rearrangements."
    )
    data = {
        "broken_degrees": degrees, "broken": broken, "left": left, "copies": count,
        "of_values": own_way,
    }  # fmt: skip
    return Finding("averaged-over-groups", "info" if broken < 0.25 else "warning", said, data)


def _share(copies: Sequence[FloatArray]) -> float:
    """Share of the mean square that is not the same in all copies."""
    whole = np.stack(copies)
    scatter = whole.var(axis=0, ddof=1).sum()
    return float(min(scatter / max((whole**2).mean(axis=0).sum(), 1e-300), 1.0))
