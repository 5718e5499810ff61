"""Small fields: what does not merge is read by the other engines, in the quantities that are
left.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.polynomial import legendre

from closedform.arrays import FloatArray
from closedform.basics.progress import Progress, Snapshot
from closedform.errors import FieldError
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.expressions.tree import Tree
from closedform.field.alignment.tolerances import ROUNDING
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Clock
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.quantities import Data, State, substitute

DEGREES = {2: 6, 3: 4}
"""Total degree of the polynomials that describe how a direction turns with two or three
quantities.
"""


GAP = 20.0
"""A smallest input that has so many times less of the field than the next one is tried as one that
does not matter.
"""

WAVES = ("cos", "sin")
MOST_WAVED = 4
"""Quantities up to which products with waves are added to the library."""


def inputs_that_matter(data: Data, level: float) -> list[int]:
    """The inputs that seem to matter: those above the widest gap between the inputs' shares of
    the field.

    Noise gives all inputs that do not matter about the same share.
    """
    shares = data.weights @ data.directions**2
    if level == ROUNDING:
        return [column for column, share in enumerate(shares) if share > ROUNDING]
    order = np.argsort(shares)
    gaps = (shares[order[1:]] + ROUNDING) / (shares[order[:-1]] + ROUNDING)
    widest = int(gaps.argmax())
    is_wide = gaps[widest] > GAP and len(order) - widest - 1 > 1
    # What an input that does not matter has of the field is noise, so it loses no more than a
    # merge.
    is_noise = shares[order[: widest + 1]].sum() < level * (widest + 1)
    dropped = set(order[: widest + 1].tolist()) if is_wide and is_noise else set()
    return [column for column in range(len(order)) if column not in dropped]


def reduced_field(
    data: Data, state: State, places: tuple[int, ...] | None = None
) -> GradientField | None:
    """The field over a state's quantities, or over some of them; None if nothing is left to
    compare.
    """
    chosen = tuple(range(state.size)) if places is None else places
    quantities = [state.quantities[place] for place in chosen]
    points = np.column_stack([quantity.values for quantity in quantities])
    gradients = np.column_stack(
        [
            state.slopes[:, place] / quantity.lengths
            for place, quantity in zip(chosen, quantities, strict=True)
        ]
    )
    energy = (state.slopes[:, list(chosen)] ** 2).sum(axis=1)
    fine = np.isfinite(points).all(axis=1) & np.isfinite(gradients).all(axis=1) & (energy > 0)
    if fine.mean() < 0.9 or (points[fine].max(axis=0) == points[fine].min(axis=0)).any():
        return None
    # A direction is known the better, the more of the field lies in these quantities.
    weights = data.weights[fine] * energy[fine]
    names = [f"q{place}" for place in chosen]
    try:
        return GradientField.from_arrays(
            points[fine],
            gradients[fine],
            names=names,
            tangent="none",
            weights=weights * len(weights) / weights.sum(),
        )
    except FieldError:
        return None


def in_inputs(expression: Expression, state: State) -> Tree:
    """A formula over quantities named q0, q1 and so on, in the user's inputs."""
    parts = [state.quantities[int(name[1:])].tree for name in expression.names]
    return substitute(expression.tree, parts)


def interferences(names: Sequence[str], space: SearchSpace) -> list[Expression]:
    """Products of two quantities, or their root, with a wave of a third, which are rare in
    libraries and common in physics.
    """
    found = []
    for first, second in combinations(names, 2):
        for third in (name for name in names if name not in (first, second)):
            texts = [
                f"{factor}*{wave}({third})"
                for factor in (f"{first}*{second}", f"sqrt({first}*{second})")
                for wave in WAVES
            ]
            found += [parse(text, list(names)) for text in texts]
    return (
        [one for one in found if space.over(names).allows_inside(one.tree, names)]
        if len(names) <= MOST_WAVED
        else []
    )


def unexplained(data: Data, state: State, places: tuple[int, ...]) -> float:
    """The share of a partial gradient's direction that a smooth function of these quantities alone
    leaves over.

    The unsigned direction, as the matrix n n^T, is fitted by polynomials on half of the points and
    judged on the others.
    """
    slopes = state.slopes[:, list(places)]
    energy = np.maximum((slopes**2).sum(axis=1), 1e-300)
    units = slopes / np.sqrt(energy)[:, None]
    rows, columns = np.triu_indices(len(places))
    targets = units[:, rows] * units[:, columns] * np.where(rows == columns, 1.0, np.sqrt(2.0))
    design = _polynomials(np.column_stack([state.quantities[place].values for place in places]))
    weights = np.sqrt(data.weights * energy)[:, None]
    fitted, judged = np.arange(len(design))[::2], np.arange(len(design))[1::2]
    solution, *_ = np.linalg.lstsq(
        (design * weights)[fitted], (targets * weights)[fitted], rcond=1e-10
    )
    left = ((targets - design @ solution) * weights)[judged]
    mean = np.average(targets, axis=0, weights=weights[:, 0] ** 2)
    whole = ((targets - mean) * weights)[judged]
    return float((left**2).sum() / max((whole**2).sum(), 1e-300))


def promising_sets(data: Data, state: State) -> list[tuple[int, ...]]:
    """Pairs and triples, smaller than the whole, by how well their direction is explained by
    themselves.
    """
    sets = [
        places
        for size in (2, 3)
        if size < state.size
        for places in combinations(range(state.size), size)
    ]
    return sorted(sets, key=lambda places: unexplained(data, state, places))


def _polynomials(values: FloatArray) -> FloatArray:
    """Products of Legendre polynomials of ranks, which are spread evenly whatever the values
    are.
    """
    n_points, n_inputs = values.shape
    ranks = 2 * np.argsort(np.argsort(values, axis=0), axis=0) / (n_points - 1) - 1
    degree = DEGREES[n_inputs]
    single = legendre.legvander(ranks, degree)
    powers = [p for p in np.ndindex(*(degree + 1,) * n_inputs) if sum(p) <= degree]
    return np.column_stack(
        [np.prod([single[:, k, p[k]] for k in range(n_inputs)], axis=0) for p in powers]
    )


@dataclass(frozen=True, slots=True)
class OnlyTime:
    """Tells that a search goes on, without the formulas of an engine that sees other inputs than
    the user's.
    """

    progress: Progress
    clock: Clock  # of the whole search
    step: str

    def show(self, snapshot: Snapshot) -> None:
        """Pass on how far the search is."""
        self.progress.show(Snapshot(self.step, min(self.clock.used, 1.0)))

    def close(self) -> None:
        """One engine is done; the search is not."""
