"""Measuring a field: its noise, ranks and shares, and inputs that say nothing new on the data."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from closedform.arrays import FloatArray
from closedform.field.findings import Finding, Quality, Redundancy, find
from closedform.field.neighborhoods import (
    count_distinct,
    directional_noise,
    evenly_spaced,
    looked_at,
    polynomial_design,
)
from closedform.field.tangent import affine_spectrum
from closedform.field.tangent_space import RowSpaces, TangentSpace
from closedform.field.tolerances import AFFINE, CONSTANT_INPUT, UNEXPLAINED


def assess(
    points: FloatArray,
    names: tuple[str, ...],
    scale: FloatArray,
    tangent: TangentSpace,
    rows: RowSpaces,
    weights: FloatArray,
) -> Quality:
    """Measure a field and say what it means. Noise, redundant inputs and the spans of norms are
    estimated on at most `MOST_LOOKED_AT` points; everything else comes from all.
    """
    usable, sample = weights > 0, looked_at(len(points))
    some = points[sample]
    distinct = np.unique(some / scale, axis=0, return_index=True)[1]
    n_distinct = len(distinct) if len(some) == len(points) else count_distinct(points)
    chosen = np.sort(sample[distinct[usable[sample[distinct]]]])
    degrees, resolution = measured_noise(chosen, points, scale, rows.frames, tangent)
    norms = rows.norms[sample][(rows.is_finite & ~rows.is_zero)[sample]]
    quality = Quality(
        names=names,
        n_points=len(points),
        n_usable=int(usable.sum()),
        n_latents=rows.n_latents,
        rank=rows.cut.rank,
        spectrum=tuple(rows.spectrum.tolist()),
        rank_gap=rows.cut.gap,
        is_rank_ambiguous=rows.cut.is_ambiguous,
        zero_share=float(rows.is_zero.mean()),
        nonfinite_share=float((~rows.is_finite).mean()),
        low_rank_share=float(rows.is_low.mean()),
        undefined_share=0.0 if tangent.is_defined is None else float((~tangent.is_defined).mean()),
        norm_orders=float(np.log10(np.divide(*np.quantile(norms, [0.95, 0.05]))))
        if len(norms)
        else 0.0,
        tangent_kind=tangent.kind,
        tangent_rank=tangent.rank,
        local_rank=tangent.local_rank,
        input_shares=_shares(tangent.ambient(rows.frames), weights),
        scales=tuple(scale.tolist()),
        constant=tuple(names[column] for column in constant_inputs(points)),
        redundant=redundant_inputs(some, scale, names),
        duplicate_share=1.0 - n_distinct / len(points),
        noise_degrees=degrees,
        noise_resolution_degrees=resolution,
    )
    return replace(quality, findings=(*category_findings(points, names), *find(quality)))


def measured_noise(
    chosen: NDArray[np.intp],
    points: FloatArray,
    scale: FloatArray,
    frames: FloatArray,
    tangent: TangentSpace,
) -> tuple[float | None, float | None]:
    """The noise of directions at some points in degrees, and the least that can be told there."""
    noise = (
        directional_noise(points[chosen] / scale, frames[chosen], tangent.subset(chosen))
        if len(chosen)
        else None
    )
    return (None, None) if noise is None else (noise.degrees, noise.resolution_degrees)


def _shares(vectors: FloatArray, weights: FloatArray) -> tuple[float, ...]:
    """Each input's share of the energy of directions (n_points, n_inputs, rank)."""
    if not weights.any():
        return (0.0,) * vectors.shape[1]
    energies = np.einsum("n,ndk,ndk->d", weights, vectors, vectors)
    return tuple((energies / (weights.sum() * vectors.shape[2])).tolist())


_SAMPLE = 100  # points at which an input is predicted from the others
_MOST_INPUTS = 16  # with more, neighbours are too far to predict anything, and the look takes long


def constant_inputs(points: FloatArray) -> list[int]:
    """Columns that do not vary beyond rounding."""
    largest = np.abs(points).max(axis=0)
    varies = np.ptp(points, axis=0) > CONSTANT_INPUT * largest
    return [int(column) for column in np.flatnonzero(~varies)]


def redundant_inputs(
    points: FloatArray, scale: FloatArray, names: Sequence[str]
) -> tuple[Redundancy, ...]:
    """Find inputs that are affine combinations, or (of up to 16 inputs) other functions, of the
    others.
    """
    constant = set(constant_inputs(points))
    varying = [column for column in range(points.shape[1]) if column not in constant]
    if len(points) <= len(varying) or len(varying) < 2:
        return ()
    chosen, spread, labels = points[:, varying], scale[varying], [names[c] for c in varying]
    affine = _affine(chosen, spread, labels)
    follows = {redundancy.name for redundancy in affine}
    free = [column for column, label in enumerate(labels) if label not in follows]
    functions = _functions(chosen[:, free] / spread[free], [labels[column] for column in free])
    return (*affine, *functions)


def _affine(points: FloatArray, scale: FloatArray, names: list[str]) -> list[Redundancy]:
    spectrum, directions = affine_spectrum(points, scale)
    normals = directions[:, spectrum <= AFFINE]
    if normals.shape[1] == 0:
        return []
    solved = _last_independent_rows(normals)
    kept = [column for column in range(len(names)) if column not in solved]
    coefficients = np.linalg.lstsq(normals[solved].T, normals[kept].T, rcond=None)[0]
    found = []
    for row, column in zip(coefficients, solved, strict=True):
        others = tuple(
            names[kept[index]]
            for index in np.flatnonzero(np.abs(row) > 1e-3 * np.abs(row).max(initial=0.0))
        )
        found.append(Redundancy(names[column], others, is_affine=True))
    return found


def _last_independent_rows(normals: FloatArray) -> list[int]:
    """As many rows as columns, the last independent ones: people list what they vary first."""
    chosen: list[int] = []
    basis = np.zeros((0, normals.shape[1]))
    for least in (0.05, 1e-9):
        for row in reversed(range(len(normals))):
            left = normals[row] - basis.T @ (basis @ normals[row])
            length = np.linalg.norm(left)
            if row not in chosen and len(chosen) < normals.shape[1] and length > least:
                chosen.append(row)
                basis = np.vstack([basis, left / length])
    return sorted(chosen)


def _functions(scaled: FloatArray, names: list[str]) -> list[Redundancy]:
    unique = np.unique(scaled, axis=0)
    n_inputs, count = len(names), 3 * len(names)
    if not 2 <= n_inputs <= _MOST_INPUTS or len(unique) < max(50, 4 * count):
        return []
    sample = evenly_spaced(len(unique), _SAMPLE)
    variances = unique.var(axis=0)
    found: list[Redundancy] = []
    others = list(range(n_inputs))
    for column in reversed(range(n_inputs)):
        predictors = [other for other in others if other != column]
        if not predictors:
            break
        left = _unexplained(unique, sample, column, predictors, count)
        if left < UNEXPLAINED * variances[column]:
            known = tuple(names[other] for other in predictors)
            found.append(Redundancy(names[column], known, is_affine=False))
            others = predictors
    return found[::-1]


def _unexplained(
    points: FloatArray, sample: np.ndarray, column: int, predictors: list[int], count: int
) -> float:
    """Mean squared error of predicting a column from neighbours in the predictors alone."""
    inputs = points[:, predictors]
    neighbors = np.asarray(KDTree(inputs).query(inputs[sample], count + 1)[1])[:, 1:]
    steps = inputs[neighbors] - inputs[sample, None, :]
    design = polynomial_design(steps, degree=1)
    coefficients = np.linalg.pinv(design, rcond=1e-8) @ points[neighbors, column][:, :, None]
    return float(((coefficients[:, 0, 0] - points[sample, column]) ** 2).mean())


def find_categories(points: FloatArray) -> tuple[tuple[int, ...], ...]:
    """Groups of one-hot columns."""
    is_binary = ((points == 0) | (points == 1)).all(axis=0) & (np.ptp(points, axis=0) > 0)
    groups: list[list[int]] = []
    for column in np.flatnonzero(is_binary).tolist():
        is_one = points[:, column] == 1
        home = next((group for group in groups if not points[is_one][:, group].any()), None)
        if home is None:
            groups.append([column])
        else:
            home.append(column)
    return tuple(
        tuple(group)
        for group in groups
        if len(group) > 1 and (points[:, group].sum(axis=1) == 1).all()
    )


def category_findings(points: FloatArray, names: Sequence[str]) -> tuple[Finding, ...]:
    """One finding for each category, with what to type."""
    found = find_categories(points)
    inside = {column for group in found for column in group}
    others = [name for column, name in enumerate(names) if column not in inside]
    held = f", or hold them: wrt={others!r}" if others else ""
    return tuple(
        Finding(
            "one-hot-inputs",
            "warning",
            f"{', '.join(names[column] for column in group)} look like one category: exactly one "
            f"of them is 1 at each point, so a gradient with respect to them means nothing. Read "
            f"one at a time, on the points where it is 1{held}.",
            {"names": [names[column] for column in group]},
        )
        for group in found
    )
