"""Neurons that need no search: those without a gradient, and those that grow in the same directions
as an earlier one.
"""

import math
from dataclasses import dataclass

import numpy as np

from closedform.arrays import FloatArray
from closedform.field.tangent_space import TangentSpace
from closedform.field.tolerances import DEAD_SHARE, FLAT, SINGLE_PRECISION

PROJECTIONS, ORDER_PROJECTIONS = 4, 2
"""Random projections of directions, and of the order of values, by which neurons are compared."""

SAME_ORDER = 1e-3
"""Shares of the points by which the order of two neurons' values may differ, for values that are
nearly equal.
"""

DIGITS = 10
"""Of what is stored: far below what is compared, which makes files smaller."""

_SEED = 20260101


@dataclass(frozen=True, slots=True)
class Likeness:
    """A short description of a neuron's field, the same for every increasing or decreasing function
    of the neuron.
    """

    zero_share: float  # points without a usable gradient
    directions: tuple[float, ...]
    """Random projections of the unit directions, over the square root of the number of points."""
    order: tuple[float, ...]  # the same of the values' ranks
    n_inputs: int = 0  # inputs that move the neuron anywhere; 0 where it was not counted

    @property
    def is_dead(self) -> bool:
        """Whether the neuron hardly moves on this data."""
        return self.zero_share >= DEAD_SHARE

    def matches(self, other: "Likeness") -> bool:
        """Whether both neurons encode the same concept, as far as the data can tell."""
        gap = max(abs(a - b) for a, b in zip(self.directions, other.directions, strict=True))
        swaps = max(abs(a - b) for a, b in zip(self.order, other.order, strict=True))
        return (
            gap <= SINGLE_PRECISION
            and swaps <= SAME_ORDER
            and abs(self.zero_share - other.zero_share) < 1e-9
        )


def describe(
    jacobians: FloatArray, latents: FloatArray, tangent: TangentSpace, scale: FloatArray
) -> list[Likeness]:
    """Descriptions of several neurons at the same points, from jacobians of shape (n_neurons,
    n_points, n_inputs) and latents of shape (n_neurons, n_points).
    """
    n_points = latents.shape[1]
    rng = np.random.default_rng(_SEED)
    for_directions = rng.normal(size=(PROJECTIONS, n_points * tangent.rank)) / np.sqrt(n_points)
    for_order = rng.normal(size=(ORDER_PROJECTIONS, n_points)) / np.sqrt(n_points)
    found = []
    for gradients, values in zip(jacobians, latents, strict=True):
        with np.errstate(all="ignore"):
            coordinates = tangent.coordinates(gradients, scale)
            norms = np.linalg.norm(coordinates, axis=1)
        usable = np.isfinite(norms) & (norms > FLAT)
        units = np.where(usable[:, None], coordinates / np.where(usable, norms, 1.0)[:, None], 0.0)
        directions = for_directions @ units.ravel()
        # A decreasing function turns every direction round: the largest projection is taken as
        # positive.
        sign = 1.0 if directions[np.argmax(np.abs(directions))] >= 0 else -1.0
        places = np.argsort(np.argsort(np.where(np.isfinite(values), values, 0.0), kind="stable"))
        ranks = (places + 0.5) / n_points - 0.5
        order = for_order @ (ranks * usable)
        found.append(
            Likeness(
                round(float(1 - usable.mean()), DIGITS),
                _plain(sign * directions),
                _plain(sign * order),
                _count_inputs(gradients * scale, usable),
            )
        )
    return found


def _count_inputs(slopes: FloatArray, usable: np.ndarray) -> int:
    """Inputs whose part of the gradient is more than single precision's rounding somewhere."""
    sizes = np.abs(slopes[usable])
    largest = sizes.max(axis=1, keepdims=True, initial=0.0)
    return int((sizes > SINGLE_PRECISION * largest).any(axis=0).sum())


class Likenesses:
    """The descriptions seen so far, by a cell of their first number."""

    def __init__(self) -> None:
        self._cells: dict[int, list[tuple[Likeness, str]]] = {}

    def find(self, likeness: Likeness) -> str | None:
        """The first neuron that matches, or None."""
        cell = self._cell(likeness)
        for near in (cell - 1, cell, cell + 1):
            for known, name in self._cells.get(near, ()):
                if likeness.matches(known):
                    return name
        return None

    def add(self, likeness: Likeness, name: str) -> None:
        """Remember a neuron."""
        self._cells.setdefault(self._cell(likeness), []).append((likeness, name))

    def _cell(self, likeness: Likeness) -> int:
        return math.floor(likeness.directions[0] / SINGLE_PRECISION)


def _plain(values: FloatArray) -> tuple[float, ...]:
    """Rounded, as they are stored."""
    return tuple(round(float(value), DIGITS) for value in values)
