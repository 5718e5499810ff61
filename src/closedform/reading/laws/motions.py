"""What is known of a motion, and how much a function changes along it.

Two kinds of evidence say the same of a law g. A flow says that grad g is perpendicular to the
velocity at each point; an orbit, that g has one value at all its points. For a sum of terms both
are linear in the coefficients: the sum of the terms' changes vanishes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.expressions.kernel import FINE, ZERO_GRADIENT, values_and_gradients
from closedform.expressions.tape import compile_tapes
from closedform.expressions.tree import Tree
from closedform.field.alignment.tolerances import SAME
from closedform.field.gradient_field import GradientField
from closedform.field.tangent_space import TangentSpace
from closedform.judge.systematic import MOST_MEDIANS

FEW_ORBITS = 10  # fewer than these are too few curves to search for exact sums

CHUNK_BYTES = 64_000_000
"""Gradients of so many bytes are held at once."""


@dataclass(frozen=True, slots=True)
class NeededNoise:
    """The noise that would explain how much a formula changes along orbits."""

    variance: float  # of every input, if all are equally noisy; in squared spreads
    shares: FloatArray  # (n_inputs,): what each input contributes to it; their sum is 1


def noise_needed(values: FloatArray, gradients: FloatArray) -> NeededNoise:
    """The noise of the inputs that would cause the changes along orbits."""
    n_places = values.shape[1]
    with np.errstate(all="ignore"):
        squares = gradients**2
        # Of a deviation from the mean of the orbit's places, each of which has noise of its own.
        caused = (1 - 2 / n_places) * squares + squares.mean(axis=1, keepdims=True) / n_places
        whole = caused.sum(axis=2)
        deviations = np.abs(values - values.mean(axis=1, keepdims=True))
        ratios = np.divide(
            deviations, np.sqrt(whole), out=np.zeros_like(whole), where=deviations > 0
        )
        most = MOST_MEDIANS * float(np.median(ratios))
        calm = np.minimum(ratios, most) if most > 0 else ratios
        shares = np.nanmean((caused / whole[:, :, None]).reshape(-1, caused.shape[2]), axis=0)
    return NeededNoise(float(np.mean(calm**2)), shares)


def explained_share(one: NeededNoise, others: Iterable[NeededNoise]) -> float:
    """How much of a formula's squared change noise can explain, between 0 and 1."""
    # No formula changes less than by noise. Each bounds a sum of the inputs' variances, weighted
    # with its shares; the largest weighted sum for the formula in question is a linear programme.
    if not one.variance > 0:
        return 1.0
    bounds = [one, *others]
    variances = np.array([bound.variance / one.variance for bound in bounds])
    shares = np.array([bound.shares for bound in bounds])
    fine = np.isfinite(variances) & np.isfinite(shares).all(axis=1)
    if not fine[0]:
        return 1.0
    found = linprog(-one.shares, A_ub=shares[fine], b_ub=variances[fine], bounds=(0, None))
    return float(np.clip(-found.fun, 0.0, 1.0)) if found.success else 1.0


@dataclass(frozen=True, slots=True)
class TermChanges:
    """What terms do along a motion."""

    # (n_rows, n_terms): how much each term changes, in a step of one spread of the inputs, or
    # within an orbit.
    changes: FloatArray
    # (n_terms, n_terms): second moments of the terms' gradients: what noise of the points or
    # velocities of one spread would add to those of the changes.
    lengths: FloatArray
    values: FloatArray  # (n_points, n_terms)
    kept: NDArray[np.int64]  # (n_terms,): the terms that are finite everywhere and vary


@dataclass(frozen=True, slots=True)
class Flow:
    """Points and velocities, held as the field across them."""

    field: GradientField  # as `GradientField.from_flow` makes it
    # (n_points, tangent.rank): unit vectors along the motion in scaled tangent coordinates.
    along: FloatArray

    @classmethod
    def of(cls, field: GradientField) -> "Flow":
        """From a field whose rank is one less than its tangent space's, at its usable points."""
        usable = field.subset(np.flatnonzero(field.weights > 0))
        return cls(usable, np.linalg.svd(usable.frames, full_matrices=True)[0][:, :, -1])

    @property
    def points(self) -> FloatArray:
        """All points."""
        return self.field.points

    @property
    def names(self) -> tuple[str, ...]:
        """The inputs."""
        return self.field.names

    @property
    def scale(self) -> FloatArray:
        """Robust spread of each input."""
        return self.field.scale

    @property
    def is_rich(self) -> bool:
        """Whether sums that do not change at all say something, as they do here."""
        return True

    def table(self, trees: Sequence[Tree]) -> TermChanges:
        """Slopes of terms along the motion, weighted so that no few points decide."""
        values, gradients, kept = differentiated(trees, self.points, self.scale)
        coordinates = inside(gradients, self.field.tangent)
        sizes = np.sqrt(np.einsum("knr,knr->kn", coordinates, coordinates))
        sizes /= np.maximum(np.median(sizes, axis=1, keepdims=True), 1e-300)
        per_point = np.sqrt(np.mean(np.minimum(sizes, 10.0) ** 2, axis=0))
        weights = np.sqrt(self.field.weights) / np.maximum(per_point, 1e-300)
        changes = np.einsum("knr,nr->nk", coordinates, self.along) * weights[:, None]
        flat = (coordinates * weights[:, None]).reshape(len(kept), -1)
        return TermChanges(changes, flat @ flat.T / len(weights), values.T, kept)

    def changes(self, concept: Expression) -> FloatArray:
        """Cosines between gradient and motion: 0 everywhere for a law."""
        with np.errstate(all="ignore"):
            gradients = self.field.project(concept.rename(self.names).gradient(self.points))
            lengths = np.linalg.norm(gradients, axis=1)
            return np.einsum("nr,nr->n", gradients, self.along) / lengths

    def changes_modulo(self, concept: Expression, known: Sequence[Expression]) -> FloatArray:
        """The same of what a gradient has outside those of known functions."""
        units, *others = (
            unit_gradients(one.rename(self.names), self.points, self.scale, self.field.tangent)
            for one in (concept, *known)
        )
        left = beyond(units, others)
        lengths = np.linalg.norm(left, axis=1)
        lengths = np.maximum(lengths, np.median(lengths))
        return np.einsum("nr,nr->n", left, self.along) / lengths

    def split(self, rng: np.random.Generator) -> tuple["Flow", "Flow"]:
        """Two thirds of the points, and the rest."""
        first, second = two_thirds(len(self.points), rng)
        return (
            Flow(self.field.subset(first), self.along[first]),
            Flow(self.field.subset(second), self.along[second]),
        )


@dataclass(frozen=True, slots=True)
class Orbits:
    """Points that are known to lie on one orbit each: trajectories, or pairs."""

    groups: FloatArray  # (n_orbits, n_places, n_inputs)
    names: tuple[str, ...]
    scale: FloatArray  # (n_inputs,)

    @property
    def points(self) -> FloatArray:
        """All points, orbit by orbit."""
        return self.groups.reshape(-1, self.groups.shape[2])

    @property
    def is_rich(self) -> bool:
        """The same: on a few curves nearly every sum of many terms can be made constant."""
        return len(self.groups) >= FEW_ORBITS

    def table(self, trees: Sequence[Tree]) -> TermChanges:
        """How terms deviate from their mean over each orbit."""
        values, gradients, kept = differentiated(trees, self.points, self.scale)
        flat = gradients.reshape(len(kept), -1)
        within = values.reshape(len(kept), *self.groups.shape[:2])
        within = within - within.mean(axis=2, keepdims=True)
        if self.groups.shape[1] == 2:
            within = within[:, :, :1]  # the second point of a pair deviates by the same
        count = len(self.points)
        return TermChanges(within.reshape(len(kept), -1).T, flat @ flat.T / count, values.T, kept)

    def changes(self, concept: Expression) -> FloatArray:
        """Deviations from the mean over each orbit, over the typical length of the gradient."""
        values, gradients = self._followed(concept)
        with np.errstate(all="ignore"):
            within = values - values.mean(axis=1, keepdims=True)
            return within.ravel() / np.sqrt(np.mean(np.sum(gradients**2, axis=2)))

    def needed_noise(self, concept: Expression, known: Sequence[Expression] = ()) -> NeededNoise:
        """The noise of the points that would explain a function's changes modulo known ones."""
        values, gradients = self._followed(concept)
        if known:
            others = [self._followed(one) for one in known]
            slopes = np.stack([slope.mean(axis=1) for _, slope in others], axis=2)
            weights = np.linalg.pinv(slopes) @ gradients.mean(axis=1)[:, :, None]
            for place, (value, slope) in enumerate(others):
                values = values - weights[:, place] * value
                gradients = gradients - weights[:, place, :, None] * slope
        return noise_needed(values, gradients)

    def _followed(self, concept: Expression) -> tuple[FloatArray, FloatArray]:
        """Values and scaled gradients at each place of each orbit."""
        formula = concept.rename(self.names)
        with np.errstate(all="ignore"):
            values = formula(self.points).reshape(self.groups.shape[:2])
            return values, (formula.gradient(self.points) * self.scale).reshape(self.groups.shape)

    def split(self, rng: np.random.Generator) -> tuple["Orbits", "Orbits"]:
        """Two thirds of the orbits, and the rest; a single orbit is cut in time."""
        if len(self.groups) < 3:
            cut = self.groups.shape[1] * 2 // 3
            halves = self.groups[:, :cut], self.groups[:, cut:]
        else:
            first, second = two_thirds(len(self.groups), rng)
            halves = self.groups[first], self.groups[second]
        return replace(self, groups=halves[0]), replace(self, groups=halves[1])


Motion = Flow | Orbits
"""Evidence of a motion."""


def two_thirds(count: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], ...]:
    """Two thirds of so many places, at random, and the rest; both ascending."""
    order = rng.permutation(count)
    return np.sort(order[: count * 2 // 3]), np.sort(order[count * 2 // 3 :])


def differentiated(
    trees: Sequence[Tree], points: FloatArray, scale: FloatArray
) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
    """Values and scaled gradients of terms that are finite and vary, and their places."""
    chunk = max(1, CHUNK_BYTES // (8 * points.size))
    values, gradients, kept = [], [], []
    for start in range(0, len(trees), chunk):
        some = list(trees[start : start + chunk])
        found, slopes, status = values_and_gradients(compile_tapes(some), points)
        fine = ((status == FINE) | (status == ZERO_GRADIENT)).all(axis=1)
        fine &= np.isfinite(slopes).all(axis=(1, 2)) & (np.ptp(found, axis=1) > 0)
        values.append(found[fine])
        gradients.append(slopes[fine] * scale)
        kept.append(np.flatnonzero(fine) + start)
    return np.concatenate(values), np.concatenate(gradients), np.concatenate(kept)


def inside(gradients: FloatArray, tangent: TangentSpace) -> FloatArray:
    """Scaled gradients in the tangent space's coordinates, shape (n_terms, n_points, r)."""
    basis = tangent.basis
    if basis is None:
        return gradients
    if basis.ndim == 2:
        return gradients @ basis
    return np.einsum("knd,ndr->knr", gradients, basis)


INDEPENDENT = 0.03
"""Least median sine of the angle between a gradient and the span of others. What is found twice
from noisy data differs by less, and what is worth calling another law by more. The median, because
independent functions have parallel gradients somewhere, and dependent ones ill-conditioned spans.
"""

N_POINTS = 400
"""Gradients are compared at so many points."""


def unit_gradients(
    concept: Expression, points: FloatArray, scale: FloatArray, tangent: TangentSpace | None = None
) -> FloatArray:
    """Gradients of unit length in scaled (tangent) coordinates; 0 where there is none."""
    with np.errstate(all="ignore"):
        gradients = concept.gradient(points)
        columns = gradients * scale if tangent is None else tangent.coordinates(gradients, scale)
        units = columns / np.linalg.norm(columns, axis=1, keepdims=True)
    return np.where(np.isfinite(units), units, 0.0)


def beyond(units: FloatArray, known: Sequence[FloatArray]) -> FloatArray:
    """The parts of unit vectors, shape (n, r), outside the span of others of the same shape."""
    if not known:
        return units
    spans, sizes, _ = np.linalg.svd(np.stack(known, axis=2), full_matrices=False)
    spans = spans * (sizes > SAME)[:, None, :]
    return units - np.einsum("nrk,nk->nr", spans, np.einsum("nrk,nr->nk", spans, units))


def is_new(units: FloatArray, known: Sequence[FloatArray]) -> bool:
    """Whether a function is independent of others, by their gradients."""
    left = np.linalg.norm(beyond(units, known), axis=1)
    return float(np.median(left)) > INDEPENDENT
