"""What sources of gradients hand on: points, Jacobians, latents, and what was decided."""

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray, frozen
from closedform.errors import ShapeError, first_line
from closedform.networks.neuron import Neuron
from closedform.networks.options import Options
from closedform.networks.rows import Key, Rows, own_copy
from closedform.networks.wrt import column_names, held_values, make_blocks, points_of

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
    """Values and gradients of k latents at n points, in the user's coordinates.

    Examples
    --------
    >>> samples = Samples([[1.0, 2.0]], [[[2.0, 4.0]]], [[5.0]])
    >>> samples.jacobians.shape
    (1, 1, 2)
    """

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
        batches = self._batches(len(points), size or self._options.batch_size)
        return [run(points, places) for places in batches]

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

    def _batches(self, count: int, size: int) -> Iterator[np.ndarray]:
        """Places of the points of each pass: even batches, since a last one of a single point would
        meet networks that squeeze.
        """
        edges = np.linspace(0, count, -(-count // size) + 1).astype(int)
        return (np.arange(start, stop) for start, stop in pairwise(edges))
