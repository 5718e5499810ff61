"""Quantities: combinations of inputs that take the place of the inputs, and how much of the field
they explain.

With quantities q_1 ... q_k, g = F(q_1, ..., q_k) holds where the field's direction lies in the span
of their gradients. What lies outside is lost, at every point, whatever F is. So the loss of a state
is a lower bound of the misalignment of every formula that can be written in its quantities, and the
loss of the last state, with one quantity, is that formula's own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.complexity import complexity
from closedform.expressions.kernel import FINE, values_and_gradients
from closedform.expressions.printing import to_text
from closedform.expressions.tape import compile_tapes
from closedform.expressions.tree import Token, Tree, Variable, apply, variable
from closedform.field.alignment.tolerances import ROUNDING
from closedform.field.gradient_field import GradientField
from closedform.searching.engine import Combination, Decomposition

USABLE = 0.95
"""Share of the points at which a quantity must be finite and have a slope."""

STEEPEST = 1e140
"""Slopes beyond this are taken as infinite: their squares would overflow."""

NATS = 0.7
"""What a unit of complexity costs, as a natural logarithm of likelihood."""


@dataclass(frozen=True, slots=True)
class Yardstick:
    """Measures how long descriptions of a field are: what a formula costs to write, and what it
    leaves over at `effective` independent points. Losses far below the `floor` are alike: rounding,
    noise, or a network's bias.

    Examples
    --------
    >>> long_and_exact, short = Yardstick(40, 1e-3)([1e-4, 1e-3], [30, 5])
    >>> bool(short < long_and_exact)
    True
    """

    effective: int = 200
    floor: float = ROUNDING

    def __call__(self, loss: FloatArray | float, cost: FloatArray | float) -> FloatArray:
        """How many nats it takes to describe a field by a form and what it leaves over."""
        return self.effective / 2 * np.log(np.asarray(loss) + self.floor) + NATS * np.asarray(cost)

    def of(self, tree: Tree, loss: float) -> float:
        """The same for one formula."""
        return float(self(loss, complexity(tree)))

    def relative_to(self, energy: float) -> "Yardstick":
        """The same for losses that are shares of an energy."""
        return Yardstick(self.effective, self.floor / energy)


USUAL_YARDSTICK = Yardstick()
"""For fields that are exact, as far as is known."""

BIASED_YARDSTICK = Yardstick(effective=40)
"""For networks: neighbouring points have the same bias, so a field counts as few."""


@dataclass(frozen=True, slots=True)
class Data:
    """Points and directions of a field of one latent, where they are usable."""

    points: FloatArray  # (n_points, n_inputs)
    directions: FloatArray  # the same; unit vectors in scaled coordinates
    scale: FloatArray  # (n_inputs,)
    weights: FloatArray  # (n_points,); they sum to 1
    names: tuple[str, ...]
    yardstick: Yardstick = USUAL_YARDSTICK

    @classmethod
    def of(cls, field: GradientField, most: int, rng: np.random.Generator) -> "Data":
        """The usable points of a field, or so many of them."""
        chosen = np.flatnonzero(field.weights > 0)
        if len(chosen) > most:
            chosen = np.sort(rng.choice(chosen, most, replace=False))
        weights = field.weights[chosen]
        return cls(
            field.points[chosen], field.frames[chosen, :, 0], field.scale, weights / weights.sum(),
            field.names
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Quantity:
    """A combination of inputs, and the `parents` whose place it took: none for an input.

    `misalignment` is that of the partial gradient on its parents, with an interval of 95%.
    """

    tree: Tree  # in the user's inputs
    values: FloatArray  # (n_points,)
    units: FloatArray  # (n_points, n_inputs): the gradient in scaled coordinates, of length 1 or 0
    lengths: FloatArray  # (n_points,): the gradient's length
    parents: tuple["Quantity", ...] = ()
    misalignment: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @cached_property
    def complexity(self) -> int:
        """The tree's."""
        return complexity(self.tree)


@dataclass(frozen=True, eq=False)
class State:
    """Quantities, the field's direction as a combination of their unit gradients, and the mean
    squared length of what it leaves over.
    """

    quantities: tuple[Quantity, ...]
    slopes: FloatArray  # (n_points, n_quantities)
    loss: float

    @property
    def size(self) -> int:
        """Number of quantities."""
        return len(self.quantities)

    @cached_property
    def complexity(self) -> int:
        """Of all quantities together."""
        return sum(quantity.complexity for quantity in self.quantities)

    @property
    def key(self) -> frozenset[Tree]:
        """The same for states of the same quantities."""
        return frozenset(quantity.tree for quantity in self.quantities)

    def with_quantity(self, data: Data, new: Quantity, without: Sequence[int]) -> "State":
        """The state with some quantities replaced by one."""
        kept = [quantity for place, quantity in enumerate(self.quantities) if place not in without]
        return make_state(data, (*kept, new))

    def descendant(self, data: Data, new: Quantity, places: Sequence[int]) -> Quantity:
        """A quantity that takes the place of some, with them as its parents and how well it
        explains their slopes.
        """
        parents = tuple(self.quantities[place] for place in places)
        units = np.stack([parent.units for parent in parents], axis=2)
        gram = np.einsum("ndi,ndj->nij", units, units) + 1e-14 * np.eye(len(parents))
        own = np.linalg.solve(gram, np.einsum("ndi,nd->ni", units, new.units)[:, :, None])[:, :, 0]
        own = own / np.maximum(np.linalg.norm(own, axis=1, keepdims=True), 1e-300)
        slopes = self.slopes[:, list(places)]
        energy = (slopes**2).sum(axis=1)
        lost = np.maximum(energy - (slopes * own).sum(axis=1) ** 2, 0.0)
        total = max(float(data.weights @ energy), 1e-300)
        value = float(data.weights @ lost) / total
        error = 1.96 * float(np.sqrt(((data.weights * (lost - value * energy)) ** 2).sum())) / total
        return replace(
            new, parents=parents, misalignment=(value, max(value - error, 0.0), value + error)
        )


def make_state(data: Data, quantities: tuple[Quantity, ...]) -> State:
    """Project the field's directions on the span of the quantities' gradients."""
    units = np.stack([quantity.units for quantity in quantities], axis=1)
    gram = np.einsum("nid,njd->nij", units, units)
    # A sliver on the diagonal: where two gradients are parallel the smaller solution is as good as
    # any.
    gram[:, np.arange(len(quantities)), np.arange(len(quantities))] += 1e-14
    along = np.einsum("nid,nd->ni", units, data.directions)
    slopes = np.linalg.solve(gram, along[:, :, None])[:, :, 0]
    left = data.directions - np.einsum("ni,nid->nd", slopes, units)
    losses = np.minimum(np.einsum("nd,nd->n", left, left), 1.0)
    return State(quantities, slopes, float(losses @ data.weights))


def first_state(data: Data, columns: Sequence[int] | None = None) -> State:
    """The inputs, or some of them, as they are."""
    chosen = range(len(data.names)) if columns is None else columns
    found = [make_quantity(data, variable(column)) for column in chosen]
    return make_state(data, tuple(quantity for quantity in found if quantity is not None))


def make_quantity(data: Data, tree: Tree) -> Quantity | None:
    """A combination at the data's points; None where it cannot be used."""
    return make_quantities(data, [tree])[0]


def make_quantities(data: Data, trees: Sequence[Tree]) -> list[Quantity | None]:
    """Several combinations in one call."""
    if not trees:
        return []
    values, gradients, status = values_and_gradients(compile_tapes(trees), data.points)
    found: list[Quantity | None] = []
    for tree, value, gradient, state in zip(trees, values, gradients, status, strict=True):
        with np.errstate(all="ignore"):
            scaled = gradient * data.scale
            lengths = np.sqrt(np.einsum("nd,nd->n", scaled, scaled))
        fine = (
            (state == FINE)
            & (lengths < STEEPEST)
            & (lengths > 1 / STEEPEST)
            & (np.abs(value) < STEEPEST)
        )
        if float(data.weights[fine].sum()) < USABLE:
            found.append(None)
            continue
        units = np.where(fine[:, None], scaled, 0.0) / np.where(fine, lengths, 1.0)[:, None]
        middle = float(np.median(value[fine]))
        found.append(
            Quantity(tree, np.where(fine, value, middle), units, np.where(fine, lengths, 1.0))
        )
    return found


def decompose(data: Data, state: State, unused: Sequence[str]) -> Decomposition:
    """A state as the user sees it."""
    found = tuple(_combination(data, quantity) for quantity in state.quantities)
    return Decomposition(found, tuple(unused), state.loss)


def _combination(data: Data, quantity: Quantity) -> Combination:
    parts = tuple(_combination(data, parent) for parent in quantity.parents)
    inputs = tuple(data.names[column] for column in sorted(quantity.tree.variables))
    return Combination(to_text(quantity.tree, data.names), inputs, *quantity.misalignment, parts)


def substitute(tree: Tree, parts: Sequence[Tree]) -> Tree:
    """A tree with other trees in the places of its inputs."""

    def leaf(token: Token) -> Tree:
        return parts[token.index] if isinstance(token, Variable) else Tree((token,))

    return tree.fold(leaf, apply)
