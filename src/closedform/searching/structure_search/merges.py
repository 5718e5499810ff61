"""Merges: two quantities that enter through one combination, a(x) + b(y) or its exponential."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.tree import Tree, variable
from closedform.field.alignment.comparison import Comparison, prepare
from closedform.field.alignment.tolerances import DEPENDENT
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.forms import Forms, FormTerm, basic_forms, tuned
from closedform.searching.structure_search.profiles import (
    SPLINED,
    Profile,
    left_by_splines,
    profile_beside,
    profiles,
)
from closedform.searching.structure_search.quantities import (
    USUAL_YARDSTICK,
    Data,
    Quantity,
    State,
    first_state,
    substitute,
)
from closedform.searching.structure_search.screening import screen, screened
from closedform.searching.structure_search.writing import fit_plain, written

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

ROUNDS = 2
"""How often each function is tuned again beside the other: splines know slopes roughly."""

FormsOf = Callable[[Quantity], Forms]
"""Makes the forms of a quantity."""


@dataclass(frozen=True, slots=True)
class Merge:
    """A tree over a state's quantities that takes the places of some of them.

    It loses `loss` of the field beyond what the state loses already; a sum of two functions taken
    at random, or the other quantity alone, loses a `typical` amount.
    """

    places: tuple[int, ...]
    tree: Tree
    loss: float
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
    def quantities(self) -> tuple[Quantity, Quantity]:
        """Both."""
        return self.state.quantities[self.first], self.state.quantities[self.second]

    @property
    def slopes(self) -> tuple[FloatArray, FloatArray]:
        """Those of the field along the first and along the second."""
        return self.state.slopes[:, self.first], self.state.slopes[:, self.second]

    @property
    def shares(self) -> tuple[float, float]:
        """How much of the field lies in each; a merge that ignores one of them loses its share."""
        along, across = (float(self.data.weights @ slopes**2) for slopes in self.slopes)
        return along, across

    @property
    def few(self) -> slice:
        """The points that are screened."""
        return screened(len(self.data.weights))

    @property
    def screened(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Both slopes at few points, and their weights."""
        along, across = self.slopes
        weights = self.data.weights[self.few]
        return along[self.few], across[self.few], weights / weights.sum()

    def splined(self, level: float) -> float:
        """What splines may leave over where a function leaves no more than a level."""
        return level + SPLINED * min(self.shares)

    def comparison(self) -> Comparison:
        """The field of two inputs, ready for fits."""
        both = self.quantities
        slopes = np.column_stack(self.slopes)[self.few]
        sizes = np.sqrt((slopes**2).sum(axis=1))
        frames = slopes / np.maximum(sizes, 1e-300)[:, None]
        metric = np.zeros((len(slopes), 2, 2))
        metric[:, 0, 0], metric[:, 1, 1] = (each.lengths[self.few] for each in both)
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
        energy = sum(self.shares)
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
            Merge(places, substitute(tree, over), value * energy, typical) for tree, value in judged
        ]
        return sorted(found, key=lambda merge: self.data.yardstick.of(merge.tree, merge.loss))


def find_merges(pair: Pair, forms: tuple[Forms, Forms], level: float) -> list[Merge]:
    """The best sums of one function each of two quantities."""
    energy = sum(pair.shares)
    if not energy > 0 or not forms[0].forms or not forms[1].forms:
        return []
    # Rough constants need few points; those that look right are fitted on more.
    is_wide = max(len(forms[0].forms), len(forms[1].forms)) > MANY
    every = slice(None, None, 3 if is_wide else 1)
    along, across, weights = (each[every] for each in pair.screened)
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
    return pair.merges(sums, min(float(np.median(losses)), min(pair.shares)), level)


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
    along, across, weights = pair.screened
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
    return pair.merges(sums, min(pair.shares), level)


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


def find_any(pair: Pair, forms_of: FormsOf, level: float) -> list[Merge]:
    """The best sums of one function each of two quantities, if splines say that there are such."""
    both = pair.quantities
    known = profiles(pair.data, both, pair.slopes, pair.splined(level))
    if known is None:
        return []
    yardstick = pair.data.yardstick
    one, other = (
        tuned(forms_of(quantity), quantity, profile.at(pair.few), yardstick)
        for quantity, profile in zip(both, known, strict=True)
    )
    for _ in range(ROUNDS):
        if not one.forms or not other.forms:
            return []
        along, across, weights = pair.screened
        losses, _ = screen(one.slopes, other.slopes, along, across, weights)
        i, j = np.unravel_index(np.argmin(np.nan_to_num(losses, nan=np.inf)), losses.shape)
        beside = (other.slopes[j], one.slopes[i])
        found = (
            profile_beside((along, across), beside[0], weights),
            profile_beside((across, along), beside[1], weights),
        )
        one, other = (
            each if profile is None else tuned(each, quantity, profile, yardstick)
            for each, quantity, profile in zip((one, other), both, found, strict=True)
        )
    return find_merges(pair, (one, other), level)


def find_beside(pair: Pair, forms_of: FormsOf, other: Forms, level: float) -> list[Merge]:
    """The best sums of any function of the first quantity and a plain one of the second."""
    along, across, weights = pair.screened
    found = []
    for number, form in enumerate(other.forms):
        if form.family in OTHERS:
            profile = profile_beside((along, across), other.slopes[number], weights)
            if profile is not None:
                found.append((_left(pair, profile), number, profile))
    left, number, profile = min(found, key=lambda one: one[0], default=(np.inf, 0, None))
    if profile is None or left > pair.splined(level):
        return []
    first = pair.quantities[0]
    own = tuned(forms_of(first), first, profile, pair.data.yardstick)
    return find_merges(pair, (own, other.only((other.forms[number].family,))), level)


def find_with_power(
    pair: Pair, forms_of: FormsOf, powers: tuple[Forms, Forms], level: float
) -> list[Merge]:
    """The best products of a power of the second quantity, any function of the first, and a power
    of that, if one is needed.
    """
    own, other = powers
    along, across, weights = pair.screened
    if not other.forms:
        return []
    profile = profile_beside((along, across), other.slopes[0], weights)
    added = own.slopes[0] if own.forms else None
    if profile is None or _left(pair, profile, added) > pair.splined(level):
        return []
    quantity, yardstick = pair.quantities[0], pair.data.yardstick
    forms = forms_of(quantity)
    merges = find_merges(pair, (tuned(forms, quantity, profile, yardstick), other), level)
    if any(merge.loss < level for merge in merges) or added is None:
        return merges
    best = tuned(forms, quantity, profile, yardstick, added)
    sums = []
    for number in range(len(best.forms)):
        with np.errstate(all="ignore"):
            columns = np.stack([best.slopes[number], added], axis=1) * profile.weights[:, None]
            factors, *_ = np.linalg.lstsq(columns, profile.slopes * profile.weights, rcond=None)
        first, second = factors * other.sizes[0] / (best.sizes[number], own.sizes[0])
        sums.append((other.term(0, 1, 1.0), best.term(number, 0, first), own.term(0, 0, second)))
    return pair.merges(sums, min(pair.shares), level)


def _left(pair: Pair, profile: Profile, added: FloatArray | None = None) -> float:
    first = pair.quantities[0]
    return left_by_splines(profile, first.values[pair.few], first.lengths[pair.few], added)


@cache
def compile_structure() -> None:
    """Call what is compiled once, before a clock starts."""
    points = np.random.default_rng(0).uniform(1, 2, (8, 2))
    directions = points / np.linalg.norm(points, axis=1, keepdims=True)
    data = Data(points, directions, np.ones(2), np.full(8, 1 / 8), ("x", "y"))
    state = first_state(data)
    forms = [basic_forms(quantity, SearchSpace()) for quantity in state.quantities]
    find_merges(Pair(data, state, 0, 1), (forms[0], forms[1]), np.inf)
