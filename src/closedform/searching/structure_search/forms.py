"""Functions of one quantity, to be added up: plain ones and logarithms, whose sums are products.

A quantity is known up to an invertible map, its offset and factor included. So the functions have
constants inside: a few values of each are tried, and the ones that look right are fitted. Where
the slopes are known that a function must have, `tuned` finds its constants by regression, of all
forms at once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.complexity import complexity
from closedform.expressions.evaluate import evaluate
from closedform.expressions.kernel import BAD_VALUE, values_and_gradients
from closedform.expressions.parse import parse
from closedform.expressions.tape import TapeBatch, compile_tapes, join_tapes, node_positions
from closedform.expressions.tree import Constant, Tree, constant, variable
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.form_families import (
    ANY_POWER,
    BASIC,
    COMPOSED,
    INVERSE,
    PLAIN,
    POWERS,
    ROOTS,
    SPECIAL,
    WIDER,
    composed,
    starting_values,
    with_ones,
)
from closedform.searching.structure_search.profiles import Profile
from closedform.searching.structure_search.quantities import (
    STEEPEST,
    Quantity,
    Yardstick,
    substitute,
)
from closedform.searching.structure_search.screening import screened

STARTS, TUNED, KEPT = 2, 14, 30
"""Starts of each family, steps of their constants, and forms that are kept."""

LOOK, NEAR = 4, 120
"""Steps after which so many of the starts are followed."""

STEP = 1e-6
"""Of a constant whose effect is measured, as a share of it."""

TOO_STEEP = 1e100
"""In the place of slopes that are not finite, and the largest typical slope; squares are finite."""

DAMPING, EASED = 1e-2, 10.0
"""Of the first step, and what it is divided by after a good one, and multiplied by after others."""


@dataclass(frozen=True, slots=True)
class Form:
    """A function of one quantity; of a logarithm the tree is the argument."""

    tree: Tree
    is_log: bool
    free: tuple[int, ...]  # positions of the constants to be fitted
    cost: int  # complexity, and a little more for logarithms of anything but the quantity itself
    family: str  # the text that has names in the places of constants

    def values(self, quantity: FloatArray) -> FloatArray:
        """At values of the quantity."""
        found = evaluate(self.tree, quantity[:, None])
        with np.errstate(all="ignore"):
            return np.log(np.abs(found)) if self.is_log else found


@dataclass(frozen=True, slots=True)
class FormTerm:
    """A form of the quantity in a place, times a coefficient."""

    form: Form
    place: int
    coefficient: float
    sign: int  # of the form's values; 0 if it changes


@dataclass(frozen=True, slots=True)
class Forms:
    """Forms, with holes for their constants b and c, at the values of a quantity.

    Slopes are derivatives times the length of the quantity's gradient, each divided by its typical
    size. A sign is that of the tree's values: 0 if it changes, and then no broken power exists.
    """

    forms: tuple[Form, ...]
    constants: tuple[tuple[float, float], ...]
    slopes: FloatArray  # (n_forms, n_screened)
    sizes: FloatArray  # (n_forms,)
    signs: np.ndarray  # (n_forms,)

    @property
    def costs(self) -> FloatArray:
        """Of each form."""
        return np.array([form.cost for form in self.forms], dtype=float)

    @property
    def have_constants(self) -> np.ndarray:
        """Which forms have constants inside."""
        return np.array([bool(form.free) for form in self.forms])

    def only(self, families: Sequence[str]) -> "Forms":
        """Those of some families."""
        kept = [place for place, form in enumerate(self.forms) if form.family in families]
        return Forms(
            tuple(self.forms[place] for place in kept),
            tuple(self.constants[place] for place in kept),
            self.slopes[kept],
            self.sizes[kept],
            self.signs[kept],
        )

    def joined(self, other: "Forms") -> "Forms":
        """These and others."""
        return Forms(
            self.forms + other.forms,
            self.constants + other.constants,
            np.vstack([self.slopes, other.slopes]),
            np.concatenate([self.sizes, other.sizes]),
            np.concatenate([self.signs, other.signs]),
        )

    def term(self, number: int, place: int, coefficient: float) -> FormTerm:
        """A form times a coefficient, of the quantity in a place."""
        return FormTerm(self.form(number), place, coefficient, int(self.signs[number]))

    def form(self, number: int) -> Form:
        """A form with its constants."""
        return _form(self.forms[number].family, *self.constants[number])

    def nearest(
        self,
        slopes: FloatArray,
        most: int,
        weights: FloatArray | float = 1.0,
        *,
        may_turn: bool = False,
        powers: Sequence[float] = (),
    ) -> Iterator[tuple[Form, int, float]]:
        """The forms whose slopes are most like given ones, one of each family and power, with the
        sign of their values and the factor that fits: so many with constants inside, which come
        near anything, and as many without. `may_turn` allows logarithms of what changes its sign;
        with `powers` only logarithms count, and the factor is one of these.
        """
        # Some slopes are steep beyond what can be squared; such forms are far from any other.
        with np.errstate(all="ignore"):
            target, own = slopes * weights, self.slopes * weights
            along, sizes = own @ target, (own**2).sum(axis=1)
            factors = along / sizes
            if powers:
                allowed = np.array(powers)
                far = np.abs(allowed - (factors / self.sizes)[:, None])
                factors = allowed[np.nan_to_num(far, nan=np.inf).argmin(axis=1)] * self.sizes
            left = 1 - factors * (2 * along - factors * sizes) / (target @ target)
        if not np.isfinite(target).all() or not np.abs(target).max() > 0:
            return
        left = np.where(np.isfinite(left), left, np.inf)
        seen: dict[bool, set[object]] = {False: set(), True: set()}
        for number in np.argsort(left, kind="stable").tolist():
            form, sign = self.forms[number], int(self.signs[number])
            if left[number] == np.inf:
                return
            power = float(factors[number] / self.sizes[number]) if powers else None
            alike, shape = seen[bool(form.free)], (form.tree, form.is_log, power)
            if shape in alike or len(alike) == most:
                continue
            if (form.is_log and sign == 0 and not may_turn) or (powers and not form.is_log):
                continue
            alike.add(shape)
            yield self.form(number), sign, float(factors[number] / self.sizes[number])


def basic_forms(quantity: Quantity, space: SearchSpace) -> Forms:
    """The basic forms of a quantity that the space allows."""
    return evaluated([(text, 0.0, 0.0) for text in BASIC if _allowed(text, space)], quantity)


def wider_forms(quantity: Quantity, space: SearchSpace, *, any_power: bool = False) -> Forms:
    """The basic forms, and those with constants inside; `any_power` adds those of a fitted power,
    which come near anything.
    """
    chosen = [(text, 0.0, 0.0) for text in BASIC if _allowed(text, space)]
    values = quantity.values
    families: list[tuple[Sequence[tuple[str, str]], FloatArray]] = [(WIDER, values)]
    families.append(([(composed(text, "x"), grid) for text, grid in (*SPECIAL, *ROOTS)], values))
    if values.min() > 0 or values.max() < 0:
        inverse = [(composed(text, "1/x"), grid) for text, grid in ROOTS]
        families.append(([*INVERSE, *inverse], 1 / values))
    if any_power and values.min() > 0:
        families.append((ANY_POWER, values))
    for power_text, power in POWERS:
        if values.min() > 0 or power in (2.0, 3.0) or (power == int(power) and values.max() < 0):
            inner = [(composed(text, power_text), grid) for text, grid in (*COMPOSED, *SPECIAL)]
            with np.errstate(over="ignore", divide="ignore"):
                raised = values**power
            if np.isfinite(raised).all():
                families.append((inner, raised))
    for family, inner_values in families:
        with np.errstate(all="ignore"):
            grids = starting_values(inner_values)
        for text, grid in family:
            if _allowed(text, space):
                chosen += [(text, b, c) for b, c in grids[grid] if max(abs(b), abs(c)) < STEEPEST]
    return evaluated(chosen, quantity)


def rival_forms(quantity: Quantity, space: SearchSpace) -> Forms:
    """The wider forms, and those of them whose constants are 1 or -1: what people write mostly has
    no others.
    """
    wider = wider_forms(quantity, space)
    families = [*PLAIN, *(composed(text, power) for power, _ in POWERS for text, _ in COMPOSED)]
    texts = dict.fromkeys(plain for text in families for plain in with_ones(text))
    kept = [(text, 0.0, 0.0) for text in texts if text not in BASIC and _allowed(text, space)]
    return wider.joined(evaluated(kept, quantity))


@cache
def _shape(text: str) -> tuple[Form, tuple[int, ...]]:
    """A family with holes for its constants, and which constant each hole takes."""
    tree = parse(text.removeprefix("log: "), names=["x", "b", "c", "p"]).tree
    holes = tuple(place for place, token in enumerate(tree.tokens) if token in _SYMBOLS)
    is_log = text.startswith("log: ")
    numbers = substitute(tree, [variable(0), *(constant(0.37) for _ in _SYMBOLS)])
    cost = complexity(numbers) + (2 if is_log and tree.size > 1 else 0)
    which = tuple(_SYMBOLS.index(tree.tokens[place]) % 2 for place in holes)
    return Form(tree, is_log, holes, cost, text), which


def _form(text: str, b: float, c: float) -> Form:
    shape, which = _shape(text)
    if not shape.free:
        return shape
    tokens = list(shape.tree.tokens)
    for place, number in zip(shape.free, which, strict=True):
        tokens[place] = Constant(Fraction(repr(float((b, c)[number]))))
    return replace(shape, tree=Tree(tuple(tokens)))


_SYMBOLS = tuple(variable(column).root for column in (1, 2, 3))
"""The constants b, c and p; p stands for a power and takes the place of b."""


@cache
def _tape(text: str) -> tuple[TapeBatch, list[tuple[int, int]]]:
    """The tape of a family, and for every hole its node and its constant."""
    tree = _form(text, 0.37, 0.73).tree
    nodes = node_positions(tree)
    shape, which = _shape(text)
    holes = [(nodes[place], constant) for place, constant in zip(shape.free, which, strict=True)]
    return compile_tapes([tree]), holes


@lru_cache(maxsize=64)
def _batch(families: tuple[str, ...]) -> tuple[TapeBatch, np.ndarray, np.ndarray, np.ndarray]:
    """Tapes of many families, and for every hole its node, its family's number and its constant."""
    batch = join_tapes([_tape(text)[0] for text in families])
    holes = [
        (int(batch.starts[number]) + node, number, which)
        for number, text in enumerate(families)
        for node, which in _tape(text)[1]
    ]
    nodes, numbers, constants = np.array(holes, dtype=np.int64).reshape(-1, 3).T
    return batch, nodes, numbers, constants


def _allowed(text: str, space: SearchSpace) -> bool:
    tree = _form(text, 0.37, 0.73).tree
    return space.allows_inside(tree, ["x"]) or tree.size == 1


def evaluated(chosen: Sequence[tuple[str, float, float]], quantity: Quantity) -> Forms:
    """Forms by their families and constants b and c, without those that are not finite at the
    quantity's values.
    """
    constants = np.array([(b, c) for _, b, c in chosen]).reshape(-1, 2)
    values, slopes, status = _form_slopes([text for text, _, _ in chosen], constants, quantity)
    forms = [_shape(text)[0] for text, _, _ in chosen]
    with np.errstate(all="ignore"):
        slopes = np.where(np.isfinite(slopes) & (status != BAD_VALUE), slopes, np.inf)
        bad = (np.abs(slopes) > STEEPEST).mean(axis=1)
        sizes = np.median(np.abs(slopes), axis=1)
    fine = (bad < 0.01) & (sizes > 1 / TOO_STEEP) & (sizes < TOO_STEEP)
    kept = np.flatnonzero(fine).tolist()
    with np.errstate(over="ignore"):
        scaled = np.nan_to_num(np.clip(slopes[kept] / sizes[kept, None], -1e6, 1e6))
    signs = np.where(values[kept].min(axis=1) > 0, 1, np.where(values[kept].max(axis=1) < 0, -1, 0))
    return Forms(
        tuple(forms[place] for place in kept),
        tuple((chosen[place][1], chosen[place][2]) for place in kept),
        scaled,
        sizes[kept],
        signs,
    )


def _form_slopes(
    families: Sequence[str], constants: FloatArray, quantity: Quantity
) -> tuple[FloatArray, FloatArray, np.ndarray]:
    """Values, derivatives times the length of the quantity's gradient, and status of each form, at
    some of the quantity's values; of a logarithm its argument's values.
    """
    few = screened(len(quantity.values))
    batch, nodes, owners, which = _batch(tuple(families))
    numbers = batch.numbers.copy()
    numbers[nodes] = constants[owners, which]
    values, gradients, status = values_and_gradients(
        batch.with_numbers(numbers), np.ascontiguousarray(quantity.values[few, None])
    )
    is_log = np.array([_shape(text)[0].is_log for text in families], dtype=bool)
    with np.errstate(all="ignore"):
        slopes = gradients[:, :, 0]
        slopes = np.where(is_log[:, None], slopes / values, slopes) * quantity.lengths[few]
    return values, slopes, status


def tuned(
    forms: Forms,
    quantity: Quantity,
    profile: Profile,
    yardstick: Yardstick,
    added: FloatArray | None = None,
    *,
    by_values: bool = False,
) -> Forms:
    """The forms that describe a profile best, one of each family, with the constants that fit; any
    multiple of slopes that are given may be added to a form's. `by_values`: the profile is of
    values, not of slopes, and so are the forms'.
    """
    weights = profile.weights
    target = profile.slopes * weights
    if added is not None:
        added = added * weights / np.linalg.norm(added * weights)
        target = target - (target @ added) * added
    size = np.linalg.norm(target)
    if not (np.isfinite(size) and size > 0) or not forms.forms:
        return forms.only(())
    unit = target / size

    def fitted(own: FloatArray) -> FloatArray:
        """Slopes as unit vectors, without what may be added."""
        with np.errstate(all="ignore"):
            own = np.nan_to_num(own * weights, nan=TOO_STEEP, posinf=TOO_STEEP, neginf=-TOO_STEEP)
            if added is not None:
                own = own - (own @ added)[:, None] * added
            return np.nan_to_num(own / np.linalg.norm(own, axis=1, keepdims=True))

    def shown(families: Sequence[str], constants: FloatArray) -> FloatArray:
        values, slopes, _ = _form_slopes(families, constants, quantity)
        if not by_values:
            return slopes
        is_log = np.array([_shape(text)[0].is_log for text in families], dtype=bool)
        with np.errstate(all="ignore"):
            return np.where(is_log[:, None], np.log(np.abs(values)), values)

    starts = forms.slopes
    if by_values:
        starts = shown([form.family for form in forms.forms], np.array(forms.constants))
    numbers = [*_best_starts(forms, np.abs(fitted(starts) @ unit))]
    families = [forms.forms[number].family for number in numbers]
    constants = np.array([forms.constants[number] for number in numbers])

    def off(families: list[str], trial: FloatArray) -> FloatArray:
        """What each form leaves of the profile, with the factor that fits."""
        with np.errstate(all="ignore"):
            own = fitted(shown(families, trial))
            return unit - (own @ unit)[:, None] * own

    has = np.array([[which in _shape(family)[1] for which in (0, 1)] for family in families])
    smallest = 1e-3 * np.abs(constants)
    left = off(families, constants)
    losses, damping = (left**2).sum(axis=1), np.full(len(numbers), DAMPING)
    for turn in range(TUNED if has.any() else 0):
        if turn == LOOK:
            # Steps are dear: what is far off by now is left out.
            near = np.sort(np.argsort(losses, kind="stable")[:NEAR])
            families = [families[k] for k in near]
            constants, has, smallest, left, losses, damping = (
                each[near] for each in (constants, has, smallest, left, losses, damping)
            )
        steps = STEP * np.maximum(np.abs(constants), smallest) * has
        slopes = np.stack(
            [(off(families, constants + steps * np.eye(2)[k]) - left) / STEP for k in (0, 1)],
            axis=1,
        )
        moments = slopes @ slopes.transpose(0, 2, 1)
        toward = np.einsum("fkn,fn->fk", slopes, left)
        diagonal = np.einsum("fkk->fk", moments)
        diagonal *= 1 + damping[:, None]
        diagonal += 1e-30
        with np.errstate(all="ignore"):
            # A step changes no constant by more than its own size.
            moved = np.clip(np.nan_to_num(-np.linalg.solve(moments, toward[:, :, None])), -1, 1)
        trial = constants + moved[:, :, 0] * steps / STEP
        new = off(families, trial)
        lost = (new**2).sum(axis=1)
        is_better = lost < losses
        constants = np.where(is_better[:, None], trial, constants)
        left = np.where(is_better[:, None], new, left)
        losses = np.where(is_better, lost, losses)
        damping = np.clip(np.where(is_better, damping / EASED, damping * EASED), 1e-12, 1e6)
    energy = float(size**2)
    costs = np.array([_shape(family)[0].cost for family in families], dtype=float)
    order = np.argsort(yardstick(losses * energy, costs), kind="stable")
    best = {families[k]: k for k in order[::-1]}
    kept = sorted(best.values(), key=order.tolist().index)[:KEPT]
    return evaluated([(families[k], *constants[k].tolist()) for k in kept], quantity)


def _best_starts(forms: Forms, met: FloatArray) -> Iterator[int]:
    """The constants of each family from which most of the profile is met."""
    taken: dict[str, int] = {}
    for number in np.argsort(-met, kind="stable").tolist():
        family = forms.forms[number].family
        taken[family] = taken.get(family, 0) + 1
        if taken[family] <= STARTS:
            yield number
