"""Additive separability: whether the concept is a function of a sum whose parts have no input in
common.

If g = phi(a(x) + b(y)), the directions are those of a(x) + b(y), which is linear in unknown
coefficients as soon as a and b are written in polynomials. So the test is the term search's
eigenproblem with a polynomial basis for each part, fitted on half of the points and judged on the
other half. There is no ratio and no logarithm of slopes in it, which would be infinite where a
slope vanishes. The fit also gives the slopes of a and of b, each up to one common factor, so that
each part can be searched for by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.polynomial import legendre

from closedform.arrays import FloatArray
from closedform.expressions.tree import Tree, Variable
from closedform.field.alignment.eigen import fit_coefficients
from closedform.field.alignment.misalignment import point_misalignment
from closedform.field.gradient_field import GradientField
from closedform.searching.evolution.summands import summands

SEPARABLE = 1e-5
"""Held-out misalignment below which a field is separable. Noise hides this, and then nothing is
said.
"""

DEGREES = {1: 32, 2: 12, 3: 6}
"""Total degree of the polynomials of parts of one, two and three inputs; with many inputs 16 for
one.
"""

MOST_SPLIT = 4
"""With more inputs only the separation of every input from all others is tried, and only up to
`MOST_INPUTS`.
"""

MOST_INPUTS = 8

N_POINTS = 600


@dataclass(frozen=True, slots=True)
class Separation:
    """Parts without common inputs.

    Attributes
    ----------
    names : tuple of str
    blocks : tuple of tuple of int
        The inputs of each part, by column.
    slopes : ndarray, shape (n_points, n_inputs)
        Gradient of the sum at the field's points.
    misalignment : float
        Of the polynomial sum, at points that were not used for fitting it.
    """

    names: tuple[str, ...]
    blocks: tuple[tuple[int, ...], ...]
    slopes: FloatArray
    misalignment: float

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        letters = "abcdefghijklmnopqrstuvwxyz"
        parts = [
            f"{letters[k % 26]}({', '.join(self.names[j] for j in block)})"
            for k, block in enumerate(self.blocks)
        ]
        return (
            f"The concept is a function of {' + '.join(parts)}; each part is also searched for "
            f"by itself."
        )

    @property
    def others(self) -> str:
        """The input that stands for all other parts while one is searched for."""
        name = "others"
        while name in self.names:
            name += "_"
        return name

    def part(self, field: GradientField, index: int, rng: np.random.Generator) -> GradientField:
        """The field of one part plus an input that stands for all others: a direction in one input
        alone says nothing.
        """
        block = list(self.blocks[index])
        slopes = self.slopes[:, block]
        lengths = np.linalg.norm(slopes * field.scale[block], axis=1)
        size = float(np.median(lengths[field.weights > 0]))
        others = rng.uniform(-1, 1, field.n_points)
        points = np.column_stack([field.points[:, block], others])
        gradients = np.column_stack([slopes, np.full(field.n_points, max(size, 1e-300))])
        names = [*(self.names[j] for j in block), self.others]
        return GradientField.from_arrays(
            points, gradients, names=names, tangent="none", weights=field.weights
        )


def find_separation(field: GradientField) -> Separation | None:
    """The finest split of the inputs into parts whose functions add up; None if there is none.

    Examples
    --------
    >>> points = np.random.default_rng(0).uniform(-1, 1, (600, 3))
    >>> slopes = np.column_stack([np.cos(points[:, 0]), points[:, 2], points[:, 1]])
    >>> found = find_separation(GradientField.from_arrays(points, slopes, names=["x", "y", "z"]))
    >>> found.sentence
    'The concept is a function of a(x) + b(y, z); each part is also searched for by itself.'
    """
    n_inputs = len(field.names)
    usable = np.flatnonzero(field.weights > 0)
    if (
        field.tangent.kind != "none"
        or field.rank > 1
        or not 2 <= n_inputs <= MOST_INPUTS
        or len(usable) < 100
    ):
        return None
    whole = tuple((column,) for column in range(n_inputs))
    found = _try(field, usable, whole)
    if found is not None or n_inputs > MOST_SPLIT:
        return found
    splits = [split for split in _halves(n_inputs) if _try(field, usable, split) is not None]
    finest = _common(splits, n_inputs)
    for blocks in [finest, *splits]:
        if len(blocks) > 1 and (found := _try(field, usable, blocks)) is not None:
            return found
    return None


def parts_of(trees: Sequence[Tree], column: int) -> list[Tree]:
    """The summands that do not hold the input of a column, of expressions in which it stands by
    itself if at all.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> found = parts_of(
    ...     [parse("sin(2*x) + 3*w - x", ["x", "w"]).tree, parse("x*w", ["x", "w"]).tree], 1
    ... )
    >>> found == [parse("sin(2*x)", ["x"]).tree, parse("x").tree]
    True
    """
    found: dict[Tree, None] = {}
    for tree in trees:
        terms = summands(tree)
        mixed = [
            term
            for term in terms
            if column in term.variables and not isinstance(term.root, Variable)
        ]
        if not mixed:
            found.update(dict.fromkeys(term for term in terms if column not in term.variables))
    return list(found)


def _try(
    field: GradientField, usable: np.ndarray, blocks: tuple[tuple[int, ...], ...]
) -> Separation | None:
    """Fit a sum of polynomials on half of the points, and judge it on the others."""
    some = usable[:: -(-len(usable) // N_POINTS)]
    fitted, judged = some[::2], some[1::2]
    low, high = field.points[usable].min(axis=0), field.points[usable].max(axis=0)
    basis = [exponents for block in blocks for exponents in _exponents(block, len(field.names))]
    if 2 * len(basis) > len(fitted) * len(field.names):
        return None
    try:
        fit = fit_coefficients(
            _jacobian(field.points[fitted], low, high, basis) * field.scale[:, None],
            field.frames[fitted],
            field.weights[fitted],
        )
    except np.linalg.LinAlgError:
        return None
    slopes = np.zeros_like(field.points)
    slopes[usable] = _jacobian(field.points[usable], low, high, basis) @ fit.coefficients
    lost = point_misalignment(slopes[judged] * field.scale, field.frames[judged])
    value = float(np.average(lost, weights=field.weights[judged]))
    return Separation(field.names, blocks, slopes, value) if value < SEPARABLE else None


def _exponents(block: tuple[int, ...], n_inputs: int) -> list[tuple[int, ...]]:
    """Degrees in each input of the polynomials of one part."""
    degree = min(DEGREES[len(block)], 32 if n_inputs < MOST_SPLIT else 16)
    kept = []
    for powers in product(range(degree + 1), repeat=len(block)):
        if 0 < sum(powers) <= degree:
            row = [0] * n_inputs
            for column, power in zip(block, powers, strict=True):
                row[column] = power
            kept.append(tuple(row))
    return kept


def _jacobian(
    points: FloatArray, low: FloatArray, high: FloatArray, basis: list[tuple[int, ...]]
) -> FloatArray:
    """Gradients of products of Legendre polynomials, shape (n_points, n_inputs, n_basis)."""
    spread = np.maximum(high - low, 1e-300)
    inside = (2 * points - low - high) / spread
    most = max(max(row) for row in basis)
    values = legendre.legvander(inside, most)
    rises = np.zeros_like(values)
    for degree in range(1, most + 1):
        rises[..., degree] = legendre.legval(inside, legendre.legder(np.eye(most + 1)[degree]))
    rises *= (2 / spread)[:, None]
    rows = np.array(basis)
    result = np.empty((len(points), points.shape[1], len(basis)))
    for column in range(points.shape[1]):
        factors = [
            (rises if other == column else values)[:, other,
             rows[:, other]] for other in range(points.shape[1])
        ]  # fmt: skip
        result[:, column] = np.prod(factors, axis=0)
    return result


def _halves(n_inputs: int) -> list[tuple[tuple[int, ...], ...]]:
    """All splits of the inputs into two parts."""
    found = []
    for size in range(1, n_inputs):
        for rest in combinations(range(1, n_inputs), size):
            found.append((tuple(column for column in range(n_inputs) if column not in rest), rest))
    return found


def _common(
    splits: Sequence[tuple[tuple[int, ...], ...]], n_inputs: int
) -> tuple[tuple[int, ...], ...]:
    """The inputs that no split separates."""
    sides: dict[tuple[bool, ...], list[int]] = {}
    for column in range(n_inputs):
        sides.setdefault(tuple(column in split[0] for split in splits), []).append(column)
    return tuple(tuple(columns) for columns in sides.values())
