"""What sources of gradients hand on: points, Jacobians, latents, and what was decided."""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray, frozen
from closedform.errors import ShapeError
from closedform.networks.neuron import Neuron
from closedform.networks.options import Options
from closedform.networks.rows import Rows
from closedform.networks.wrt import column_names, held_values, make_blocks, points_of

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

    Attributes
    ----------
    points : ndarray, shape (n_points, n_inputs)
        Where the network was evaluated.
    jacobians : ndarray, shape (n_points, n_latents, n_inputs)
        Derivatives of the latents with respect to the inputs.
    latents : ndarray, shape (n_points, n_latents)
        Values of the latents.
    notes : tuple of str
        Plain sentences that say what was decided.
    errors : ndarray, shape (n_points, n_latents, n_inputs), or None
        Estimated size of the error of each derivative, for finite differences and for smoothing.
    names : tuple of str or None
        Names of the inputs, where the data carried them.
    held : ndarray, shape (n_points, n_held), or None
        The inputs that are not differentiated, where they differ.

    Examples
    --------
    >>> samples = Samples([[1.0, 2.0]], [[[2.0, 4.0]]], [[5.0]])
    >>> samples.jacobians.shape
    (1, 1, 2)
    """

    points: FloatArray
    jacobians: FloatArray
    latents: FloatArray
    notes: tuple[str, ...] = ()
    errors: FloatArray | None = None
    names: tuple[str, ...] | None = None
    held: FloatArray | None = None

    def __post_init__(self) -> None:
        for field in ("points", "jacobians", "latents"):
            object.__setattr__(self, field, frozen(getattr(self, field)))
        if self.errors is not None:
            object.__setattr__(self, "errors", frozen(self.errors))
        shape = self.jacobians.shape
        if self.points.ndim != 2 or self.latents.ndim != 2 or len(shape) != 3:
            found = (self.points.shape, shape, self.latents.shape)
            raise ShapeError(f"Samples need shapes (n, d), (n, k, d) and (n, k); got {found}.")
        if shape != (len(self.points), self.latents.shape[1], self.points.shape[1]) or len(
            self.latents
        ) != len(self.points):
            found = (self.points.shape, shape, self.latents.shape)
            raise ShapeError(
                f"Points, Jacobians and latents do not belong together: shapes {found}."
            )
        if self.errors is not None and self.errors.shape != shape:
            raise ShapeError(f"Errors have shape {self.errors.shape}; Jacobians have {shape}.")
        if self.names is not None and len(self.names) != self.points.shape[1]:
            raise ShapeError(
                f"{len(self.names)} names for {self.points.shape[1]} inputs: give one name "
                f"per input."
            )


class Source:
    """A network with its neurons and data chosen, ready to be evaluated at its points or near them.

    Attributes
    ----------
    points : ndarray, shape (n_points, n_inputs)
        The chosen points.
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
        raise NotImplementedError

    def holding(self, places: NDArray[np.int64]) -> "Source":
        """The same where inputs that are not differentiated have the values of other points."""
        other = copy(self)
        parts = {key: part[places] for key, part in self._rows.parts.items()}
        other._rows = replace(self._rows, parts=parts)
        return other

    def values(self, points: FloatArray) -> FloatArray:
        """Latents alone, shape (n_points, n_latents), at points as in `evaluate`."""
        return self.evaluate(points).latents

    def _note(self, sentence: str | None) -> None:
        if sentence:
            self._notes[sentence] = None

    def _batches(self, count: int, size: int) -> Iterator[np.ndarray]:
        """Places of the points of each pass: even batches, since a last one of a single point would
        meet networks that squeeze.
        """
        edges = np.linspace(0, count, -(-count // size) + 1).astype(int)
        return (np.arange(start, stop) for start, stop in pairwise(edges))

    def _gathered(self, points: FloatArray, pieces: list[tuple[FloatArray, ...]]) -> Samples:
        """Latents, Jacobians and perhaps errors of all passes."""
        latents, jacobians, *errors = (np.concatenate(part) for part in zip(*pieces, strict=True))
        names = column_names(self._rows, self._blocks)
        notes, error = tuple(self._notes), errors[0] if errors else None
        return Samples(points, jacobians, latents, notes, error, names, self._held)
