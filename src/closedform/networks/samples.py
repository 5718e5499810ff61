"""What sources of gradients hand on: points, Jacobians, latents, and what was decided."""

import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

from closedform.arrays import FloatArray, frozen
from closedform.basics.randomness import as_generator
from closedform.errors import ShapeError, first_line
from closedform.field.tangent_space import TangentSpace, robust_spread
from closedform.field.tolerances import NOISE_DEGREES
from closedform.networks.neuron import Neuron
from closedform.networks.options import Options, column_names, held_values, make_blocks, points_of
from closedform.networks.rows import Key, Rows, own_copy
from closedform.networks.tolerances import MAX_RADIUS

T = TypeVar("T")

PROBED = 8
"""Points of the trial pass that finds out how a network behaves."""

VARIES = (
    "The network answers differently each time it is called (random numbers, dropout, or a state "
    "that changes): each value is that of one draw, and a formula may fit the chance in it. Switch "
    "it off, or choose a neuron before it."
)
"""The note about networks that are not functions."""


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Values and gradients of k latents at n points, in the user's coordinates."""

    points: FloatArray  # shape (n_points, n_inputs)
    jacobians: FloatArray  # shape (n_points, n_latents, n_inputs)
    latents: FloatArray  # shape (n_points, n_latents)
    notes: tuple[str, ...] = ()  # what was decided
    errors: FloatArray | None = None
    """Estimated size of the error of each derivative, for finite differences and for smoothing."""
    names: tuple[str, ...] | None = None  # of the inputs, where the data carried them
    held: FloatArray | None = None
    """The inputs that are not differentiated, shape (n_points, n_held), where they differ."""

    def __post_init__(self) -> None:
        for field in ("points", "jacobians", "latents"):
            object.__setattr__(self, field, frozen(getattr(self, field)))
        if self.errors is not None:
            object.__setattr__(self, "errors", frozen(self.errors))
        found = (self.points.shape, self.jacobians.shape, self.latents.shape)
        shape = (*found[0][:1], *found[2][1:], *found[0][1:])
        if [len(each) for each in found] != [2, 3, 2] or found[1:] != (shape, shape[:2]):
            raise ShapeError(
                f"Samples need shapes (n, d), (n, k, d) and (n, k), with the same n, k and d; got "
                f"{found}."
            )
        if self.errors is not None and self.errors.shape != shape:
            raise ShapeError(f"Errors have shape {self.errors.shape}; Jacobians have {shape}.")
        if self.names is not None and len(self.names) != self.points.shape[1]:
            raise ShapeError(
                f"{len(self.names)} names for {self.points.shape[1]} inputs: give one name "
                f"per input."
            )


class Source:
    """A network with its neurons and data chosen, ready to be evaluated at its points, of shape
    (n_points, n_inputs), or near them.
    """

    def __init__(
        self,
        model: Any,
        rows: Rows,
        neurons: tuple[Neuron, ...],
        options: Options,
        notes: tuple[str, ...] = (),
    ) -> None:
        self._model, self._rows, self._neurons, self._options = model, rows, neurons, options
        self._blocks = make_blocks(rows, options.wrt)
        self.points = points_of(rows, self._blocks)
        self._held = held_values(rows, self._blocks)
        # A dictionary keeps the notes in order and each of them once.
        self._notes = dict.fromkeys((*notes, *rows.notes))

    def evaluate(self, points: FloatArray) -> Samples:
        """Latents and Jacobians at points that belong, row by row, to the chosen ones."""
        pieces = self._passes(points, self._differentiate)
        latents, jacobians, *errors = (np.concatenate(part) for part in zip(*pieces, strict=True))
        names = column_names(self._rows, self._blocks)
        error = errors[0] if errors else None
        notes = tuple(self._notes)
        return Samples(points, jacobians, latents, notes, error, names, self._held)

    def holding(self, places: NDArray[np.int64]) -> "Source":
        """The same where inputs that are not differentiated have the values of other points."""
        other = copy(self)
        parts = {key: part[places] for key, part in self._rows.parts.items()}
        other._rows = replace(self._rows, parts=parts)
        return other

    def values(self, points: FloatArray) -> FloatArray:
        """Latents alone, shape (n_points, n_latents), at points as in `evaluate`."""
        return self.evaluate(points).latents

    def _differentiate(self, points: FloatArray, places: np.ndarray) -> tuple[FloatArray, ...]:
        """Latents, Jacobians and perhaps their errors at some of the points."""
        raise NotImplementedError

    def _passes(
        self, points: FloatArray, run: Callable[[FloatArray, np.ndarray], T], size: int = 0
    ) -> list[T]:
        """What a function of points and places gives, batch by batch."""
        count = -(-len(points) // (size or self._options.batch_size))
        # Even batches, since a last one of a single point would meet networks that squeeze.
        edges = np.linspace(0, len(points), count + 1).astype(int)
        return [run(points, np.arange(start, stop)) for start, stop in pairwise(edges)]

    def _fixed(self, count: int) -> dict[Key, Any]:
        """The arguments that stay the same, for a batch of this size."""
        fixed = (self._options.fixed or {}).items()
        return {key: value(count) if callable(value) else own_copy(value) for key, value in fixed}

    def _note_own_precision(self, error: Exception) -> None:
        self._note(
            f"Evaluated in the network's own precision: it does not run in float64 "
            f"({first_line(error)})."
        )

    def _note(self, sentence: str | None) -> None:
        if sentence:
            self._notes[sentence] = None


def smooth_samples(
    source: Source,
    samples: Samples,
    *,
    radius: float,
    draws: int = 16,
    rng: int | np.random.Generator | None = None,
    scale: FloatArray | None = None,
    tangent: TangentSpace | None = None,
) -> Samples:
    """Average the Jacobian over a Gaussian ball around each point, whose radius is a share of the
    spread; `errors` are then the standard errors of the means.
    """
    if not 0 < radius <= MAX_RADIUS:
        raise ValueError(
            f"radius={radius} is out of range: it is a share of the spread, above 0 and at "
            f"most {MAX_RADIUS}."
        )
    if draws < 2 or draws % 2:
        raise ValueError(
            f"draws={draws}: draws come in pairs, so an even number of at least 2 is needed."
        )
    points = samples.points
    scale = robust_spread(points) if scale is None else scale
    space = TangentSpace("none", points.shape[1]) if tangent is None else tangent
    generator = as_generator(rng)
    pairs = draws // 2
    mean = np.zeros(samples.jacobians.shape)
    squares = np.zeros(samples.jacobians.shape)
    for pair in range(1, pairs + 1):
        step = radius * space.displacements(generator.normal(size=(len(points), space.rank)), scale)
        both = (
            source.evaluate(points + step).jacobians + source.evaluate(points - step).jacobians
        ) / 2
        # Welford's update: the variance of close numbers, without cancellation.
        change = both - mean
        mean += change / pair
        squares += change * (both - mean)
    errors = np.sqrt(squares / max(pairs - 1, 1) / pairs)
    inside = " inside the tangent space" if space.kind != "none" else ""
    note = (
        f"Gradients are means over {draws} draws{inside}, of radius {radius:g} of the spread of "
        f"each input."
    )
    return replace(samples, jacobians=mean, notes=(*samples.notes, note), errors=errors)


FEWEST_ALIKE = 50
"""Points that have to share the values of the held inputs for phi to be fitted among them: a spline
has seven numbers at least, and a third of the points are kept from it."""

ALIKE, MOST_KINDS = 300, 5
"""Where hardly any points share held values, the nearest of a few stand for them: one for so many
points, so that phi is known as well as in a field of that size, and at most so many."""

RARE = 0.1
"""Share of the points whose held values may be rarer than `FEWEST_ALIKE`. They are left out."""

HELD_VARY = (
    "Inputs that are not differentiated keep the values of each point, which differ: a concept of "
    "them too would look different there. The values of the neuron depend on them as well, so that "
    "they are left out, and whether phi is monotone cannot be tested. Give the held inputs one "
    "value, or a few, to test it."
)
"""Said of a field whose points differ in inputs that it does not hold."""


@dataclass(frozen=True, slots=True, eq=False)
class Comparable:
    """Values of a latent that phi can be fitted to, within each label."""

    latents: FloatArray | None  # shape (n_points, n_latents)
    labels: NDArray[np.int64] | None = None
    """Which values the held inputs have at each point, from 0 on; -1 for rare ones, which do not
    count. None where they do not differ.
    """
    notes: tuple[str, ...] = ()  # what to say of it


def comparable_latents(source: Source, samples: Samples) -> Comparable:
    """The latents as they are, or as far as phi can be fitted to them where inputs are held."""
    if samples.held is None:
        return Comparable(samples.latents)
    # Several latents are functions of several concepts.
    found = group_held(samples.held) if samples.latents.shape[1] == 1 else None
    if found is None:
        return Comparable(None, None, (HELD_VARY,))
    labels, places = found
    count, rare = labels.max() + 1, int((labels < 0).sum())
    if places is None:
        latents = samples.latents
        said = f"Inputs that are not differentiated have {count} different values."
    else:
        latents = _moved_latents(source, samples, places)
        said = (
            "Inputs that are not differentiated keep the values of each point. The neuron's own "
            f"values are taken with the nearest of {count} of these."
        )
    if latents is None:
        return Comparable(None, None, (HELD_VARY,))
    said += " The concept has to be the same for each; phi may differ, and is tested within each."
    said += f" {rare} points with rarer ones do not count." if rare else ""
    return Comparable(latents, labels, (said,))


def group_held(values: FloatArray) -> tuple[NDArray[np.int64], NDArray[np.int64] | None] | None:
    """Labels of points that share held values. Where hardly any do, labels of points with near
    ones, and the point whose values stand for those of each. None if there are too few points.
    """
    exact = np.unique(values, axis=0, return_inverse=True)[1].reshape(-1)
    labels = _common(exact)
    if labels is not None:
        return labels, None
    count = min(len(values) // ALIKE, MOST_KINDS)
    if count < 1 or not np.isfinite(values).all():
        return None
    scaled = values / robust_spread(values)
    starts = scaled[np.random.default_rng(0).choice(len(scaled), count, replace=False)]
    # An empty cell does no harm: there is one value less.
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        centres, found = kmeans2(scaled, starts, minit="matrix")
    nearest = np.array([((scaled - centre) ** 2).sum(axis=1).argmin() for centre in centres])
    labels = _common(found)
    return None if labels is None else (labels, nearest[found].astype(np.int64))


def _moved_latents(
    source: Source, samples: Samples, places: NDArray[np.int64]
) -> FloatArray | None:
    """Latents with the held inputs of other points, if directions stay what they are: otherwise the
    network is asked about inputs that it does not know, or about no common concept.
    """
    moved = source.holding(places).evaluate(samples.points)
    scale = robust_spread(samples.points)
    here, there = ((one.jacobians * scale)[:, 0] for one in (samples, moved))
    with np.errstate(all="ignore"):
        lengths = np.linalg.norm(here, axis=1) * np.linalg.norm(there, axis=1)
        cosines = np.abs((here * there).sum(axis=1)) / lengths
    angles = np.degrees(np.arccos(np.clip(cosines[np.isfinite(cosines)], 0.0, 1.0)))
    is_same = len(angles) > 0 and float(np.median(angles)) <= NOISE_DEGREES
    return moved.latents if is_same and np.isfinite(moved.latents).all() else None


def _common(labels: NDArray[np.integer]) -> NDArray[np.int64] | None:
    """Labels that enough points share, from 0 on, and -1 for the others; None if these are many."""
    counts = np.bincount(labels)
    is_common = counts >= FEWEST_ALIKE
    if counts[~is_common].sum() > RARE * len(labels):
        return None
    return np.where(is_common, np.cumsum(is_common) - 1, -1)[labels].astype(np.int64)
