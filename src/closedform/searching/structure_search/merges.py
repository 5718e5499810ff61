"""Merges: two quantities that enter through one combination, a(x) + b(y) or its exponential."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.complexity import complexity
from closedform.expressions.tree import Tree, variable
from closedform.field.alignment.comparison import Comparison, prepare
from closedform.field.alignment.tolerances import DEPENDENT
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.forms import Forms, FormTerm, basic_forms
from closedform.searching.structure_search.quantities import Data, State, first_state, substitute
from closedform.searching.structure_search.screening import screen, screened
from closedform.searching.structure_search.writing import fit_plain, written
from closedform.searching.structure_search.yardstick import USUAL_YARDSTICK

REFINED, KEPT = 30, 4
"""Sums of each pair whose constants are fitted, and those that are kept."""

ROUGH, FACTOR_ONLY, ROUNDED = 0.05, 2.0, 1e-9
"""What a sum may lose before its constants are fitted: a share of the energy; without constants
inside about what it may lose in the end."""

MANY = 100
"""Forms of a quantity from which on they are screened on a third of the points."""

OTHERS = ("x", "x**2", "1/x", "sqrt(x)", "exp(x)", "exp(-x)", "log: x")
"""What the other quantity may enter by where the first enters by a sum of two functions, or by one
whose slopes have poles."""


@dataclass(frozen=True, slots=True)
class Merge:
    """A combination of some quantities of a state.

    Attributes
    ----------
    places : tuple of int
        The quantities that it takes the place of.
    tree : Tree
        Over all quantities of the state.
    loss : float
        What of the field it leaves over, beside what the state leaves over already.
    energy : float
        How much of the field lies in these quantities.
    typical : float
        What a sum of two functions taken at random leaves over, or the other quantity alone.
    """

    places: tuple[int, ...]
    tree: Tree
    loss: float
    energy: float
    typical: float

    def evidence(self, level: float) -> float:
        """How much less than a sum taken at random it loses, as a logarithm; losses far below the
        level are alike.
        """
        return float(np.log((self.typical + level / 2) / (self.loss + level / 2)))


@dataclass(frozen=True, slots=True)
class Pair:
    """Two quantities of a state as a field of two inputs."""

    data: Data
    state: State
    first: int
    second: int

    @property
    def along(self) -> FloatArray:
        """Slopes of the first."""
        return self.state.slopes[:, self.first]

    @property
    def across(self) -> FloatArray:
        """Slopes of the second."""
        return self.state.slopes[:, self.second]

    @property
    def energy(self) -> float:
        """How much of the field lies in both."""
        return float(self.data.weights @ (self.along**2 + self.across**2))

    @property
    def weaker(self) -> float:
        """How much of the field lies in the one that has less: a merge that ignores it loses no
        more.
        """
        return float(min(self.data.weights @ self.along**2, self.data.weights @ self.across**2))

    @property
    def few(self) -> slice:
        """The points that are screened."""
        return screened(len(self.data.weights))

    def comparison(self) -> Comparison:
        """The field of two inputs, ready for fits."""
        both = [self.state.quantities[self.first], self.state.quantities[self.second]]
        slopes = np.column_stack([self.along, self.across])[self.few]
        sizes = np.sqrt((slopes**2).sum(axis=1))
        frames = slopes / np.maximum(sizes, 1e-300)[:, None]
        metric = np.zeros((len(slopes), 2, 2))
        metric[:, 0, 0], metric[:, 1, 1] = (both[0].lengths[self.few], both[1].lengths[self.few])
        points = np.column_stack([quantity.values[self.few] for quantity in both])
        weights = self.data.weights[self.few] * sizes**2
        return prepare(points, frames[:, :, None], tangent=metric, weights=weights)

    def merges(
        self, sums: Sequence[Sequence[FormTerm]], typical: float, level: float
    ) -> list[Merge]:
        """Sums as merges, constants fitted; the shortest descriptions first."""
        return self.fitted([draft for terms in sums for draft in written(terms)], typical, level)

    def fitted(
        self, drafts: Sequence[tuple[Tree, tuple[int, ...]]], typical: float, level: float
    ) -> list[Merge]:
        """Trees and the positions of their constants as merges."""
        if not drafts:
            return []
        energy = self.energy
        judged = fit_plain(
            [tree for tree, _ in drafts],
            [free for _, free in drafts],
            self.comparison(),
            KEPT,
            level / energy,
            self.data.yardstick.relative_to(energy),
        )
        over = [variable(self.first), variable(self.second)]
        places = self.first, self.second
        found = [
            Merge(places, substitute(tree, over), value * energy, energy, typical)
            for tree, value in judged
        ]
        return sorted(
            found, key=lambda merge: float(self.data.yardstick(merge.loss, complexity(merge.tree)))
        )


def find_merges(pair: Pair, forms: tuple[Forms, Forms], level: float) -> list[Merge]:
    """The best sums of one function each of two quantities."""
    energy = pair.energy
    if not energy > 0 or not forms[0].forms or not forms[1].forms:
        return []
    # Rough constants need few points; those that look right are fitted on more.
    is_wide = max(len(forms[0].forms), len(forms[1].forms)) > MANY
    every = slice(None, None, 3 if is_wide else 1)
    along, across, weights = (
        each[pair.few][every] for each in (pair.along, pair.across, pair.data.weights)
    )
    losses, factors = screen(
        forms[0].slopes[:, every], forms[1].slopes[:, every], along, across, weights / weights.sum()
    )
    losses = np.where(np.isfinite(losses), losses, energy)
    lengths = pair.data.yardstick(losses, np.add.outer(forms[0].costs, forms[1].costs))
    # Constants inside are known roughly, the factor is known well: what can be judged already need
    # not be fitted.
    is_rough = np.logical_or.outer(forms[0].have_constants, forms[1].have_constants)
    lengths[
        losses
        > np.where(is_rough, max(ROUGH * energy, level), FACTOR_ONLY * level + ROUNDED * energy)
    ] = np.inf
    ranked = np.argsort(lengths, axis=None)[: int(np.isfinite(lengths).sum())]
    sums = []
    for i, j in _one_of_each(ranked, forms):
        factor = float(factors[i, j] * forms[0].sizes[i] / forms[1].sizes[j])
        sums.append((forms[0].term(i, 0, 1.0), forms[1].term(j, 1, factor)))
    return pair.merges(sums, min(float(np.median(losses)), pair.weaker), level)


def _one_of_each(ranked: np.ndarray, forms: tuple[Forms, Forms]) -> list[tuple[int, int]]:
    """The first of each pair of families, as far as they are fitted."""
    found: dict[tuple[str, str], tuple[int, int]] = {}
    for i, j in zip(*np.divmod(ranked[: 40 * REFINED], len(forms[1].forms)), strict=True):
        families = forms[0].forms[i].family, forms[1].forms[j].family
        found.setdefault(families, (int(i), int(j)))
        if len(found) == REFINED:
            break
    return list(found.values())


def find_doubles(pair: Pair, forms: Forms, other: Forms, level: float) -> list[Merge]:
    """The best sums of two functions of the first quantity and one of the second.

    Where b(y) is given, the slope of a(x) is known as a value: a' = b'*along/across. So a' is an
    ordinary regression, weighted such that what it leaves over is the loss.
    """
    along, across = pair.along[pair.few], pair.across[pair.few]
    weights = pair.data.weights[pair.few] / pair.data.weights[pair.few].sum()
    lengths = np.sqrt(along**2 + across**2)
    if not (lengths > 0).all() or len(forms.forms) < 2:
        return []
    target = along * np.abs(across) / lengths * np.sqrt(weights)
    ranked: list[tuple[float, int, int, int, tuple[float, float]]] = []
    other = other.only(OTHERS)
    for number, slope in enumerate(other.slopes):
        with np.errstate(all="ignore"):
            factor = across * np.abs(across) / (slope * lengths) * np.sqrt(weights)
        if not np.isfinite(factor).all():
            continue
        ranked += _best_two(forms, forms.slopes * factor, target, int(other.costs[number]), number)
    ranked.sort()
    sums, families = [], set()
    for _, i, j, number, (first, second) in ranked:
        family = forms.forms[i].family, forms.forms[j].family, other.forms[number].family
        if family not in families and len(sums) < REFINED:
            families.add(family)
            size = other.sizes[number]
            terms = (
                forms.term(i, 0, first * size / forms.sizes[i]),
                forms.term(j, 0, second * size / forms.sizes[j]),
            )
            sums.append((other.term(number, 1, 1.0), *terms))
    return pair.merges(sums, pair.weaker, level)


def _best_two(
    forms: Forms, columns: FloatArray, target: FloatArray, cost: int, number: int
) -> list[tuple[float, int, int, int, tuple[float, float]]]:
    """The shortest descriptions of a target by two columns."""
    with np.errstate(all="ignore"):
        sizes = np.sqrt((columns**2).sum(axis=1))
        units = np.nan_to_num(columns / sizes[:, None])
    gram, along = units @ units.T, units @ target
    free = 1 - gram**2
    with np.errstate(all="ignore"):
        gain = (
            along[:, None] ** 2 + along[None, :] ** 2 - 2 * gram * np.outer(along, along)
        ) / free
    losses = np.where(free > DEPENDENT, np.maximum(target @ target - gain, 0.0), np.inf)
    lengths = USUAL_YARDSTICK(losses, np.add.outer(forms.costs, forms.costs) + cost)
    lengths[np.tril_indices(len(lengths))] = np.inf
    found = []
    for place in np.argpartition(lengths, 2 * REFINED, axis=None)[: 2 * REFINED]:
        i, j = (int(index) for index in np.unravel_index(place, lengths.shape))
        if np.isfinite(lengths[i, j]):
            first = float((along[i] - gram[i, j] * along[j]) / free[i, j] / sizes[i])
            second = float((along[j] - gram[i, j] * along[i]) / free[i, j] / sizes[j])
            found.append((float(lengths[i, j]), i, j, number, (first, second)))
    return found


@cache
def compile_structure() -> None:
    """Call what is compiled once, before a clock starts."""
    points = np.random.default_rng(0).uniform(1, 2, (8, 2))
    directions = points / np.linalg.norm(points, axis=1, keepdims=True)
    data = Data(points, directions, np.ones(2), np.full(8, 1 / 8), ("x", "y"))
    state = first_state(data)
    forms = [basic_forms(quantity, SearchSpace()) for quantity in state.quantities]
    find_merges(Pair(data, state, 0, 1), (forms[0], forms[1]), np.inf)
