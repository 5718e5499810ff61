"""Functions of one quantity, to be added up: plain ones and logarithms, whose sums are products.

A quantity is known up to an invertible map, its offset and factor included. So the functions have
constants inside: a few values of each are tried, and the ones that look right are fitted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.complexity import complexity
from closedform.expressions.kernel import BAD_VALUE, values_and_gradients
from closedform.expressions.parse import parse
from closedform.expressions.tape import TapeBatch, compile_tapes, node_positions
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
    with_ones,
)
from closedform.searching.structure_search.quantities import STEEPEST, Quantity, substitute
from closedform.searching.structure_search.screening import screened

MOST_BATCHES = 64
"""Compiled lists of families that are kept."""

WAVES = (1.5, 3.0, 4.5, 6.0, 8.0, 10.0, 12.5, 15.0, 18.0, 22.0)
"""Angles that sines and cosines run through over the range of a quantity."""


@dataclass(frozen=True, slots=True)
class Form:
    """A function of one quantity.

    Attributes
    ----------
    tree : Tree
        In one variable; of a logarithm its argument.
    is_log : bool
    free : tuple of int
        Positions of the constants to be fitted.
    cost : int
        Complexity, and a little more for a logarithm of anything but the quantity itself.
    family : str
        What it is without its constants.
    """

    tree: Tree
    is_log: bool
    free: tuple[int, ...]
    cost: int
    family: str


@dataclass(frozen=True, slots=True)
class FormTerm:
    """A form of the quantity in a place, times a coefficient; `sign` is that of the form's values,
    0 if it changes.
    """

    form: Form
    place: int
    coefficient: float
    sign: int


@dataclass(frozen=True, slots=True)
class Forms:
    """Forms at the values of a quantity.

    Attributes
    ----------
    forms : tuple of Form
        With holes for their constants.
    constants : tuple of (float, float)
        What b and c of each are.
    slopes : ndarray, shape (n_forms, n_screened)
        Their derivatives times the length of the quantity's gradient, each divided by its typical
        size.
    sizes : ndarray, shape (n_forms,)
        What they were divided by.
    signs : ndarray of int, shape (n_forms,)
        The sign of the tree's values; 0 if it changes, and then it cannot be raised to a broken
        power.
    """

    forms: tuple[Form, ...]
    constants: tuple[tuple[float, float], ...]
    slopes: FloatArray
    sizes: FloatArray
    signs: np.ndarray

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
        near anything, and as many without.

        Weights say how much each point counts; `may_turn` allows logarithms of what changes its
        sign. With `powers` only logarithms count, and the factor is one of these.
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
            grids = _grids(inner_values)
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


def _grids(values: FloatArray) -> dict[str, list[tuple[float, float]]]:
    """Values of b and c to start from, in the quantity's own size."""
    low, high = (float(number) for number in np.quantile(values, (0.16, 0.84)))
    spread = max((high - low) / 2, 1e-300)
    low, high = values.min(), values.max()
    rates = [(sign * size / spread, 0.0) for size in (0.2, 0.6, 1.5, 4.0) for sign in (1, -1)]
    # Arguments without units mostly have the factor 1.
    plain = [(sign, 0.0) for sign in (1.0, -1.0) if 0.05 < spread < 20]
    rates += plain
    waves = plain[:1] + [(size / max(high - low, 1e-300), 0.0) for size in WAVES]
    inside = [(0.0, -float(np.quantile(values, share))) for share in (0.2, 0.5, 0.8)]
    within = np.log(np.quantile(np.abs(values), (0.1, 0.3, 0.5, 0.7, 0.9))) * -1.0
    beyond = [(0.0, -low + size * spread) for size in (0.1, 0.6, 2.5)]
    above = [(0.0, -high - size * spread) for size in (0.1, 0.6, 2.5)]
    outside = [
        (0.0, number)
        for size in (0.05, 0.2, 0.35, 1.0, 1.6, 5.0)
        for number in (-low + size * spread, -high - size * spread)
    ]
    typical = float(np.median(values**2))
    squares = [(0.0, size * typical) for size in (0.2, 1.0, 4.0)]
    squares += [
        (0.0, -(low**2 if low > 0 else 0.0) * 0.8),
        (0.0, -(max(low**2, high**2)) * 1.3),
        (0.0, -0.5 * typical),
    ]
    size = max(abs(low), abs(high))
    return {
        "none": [(0.0, 0.0)],
        "rates": rates,
        "waves": waves,
        "some waves": waves[:1] + waves[1::2],
        "phases": [(b, c) for b, _ in waves[1:7] for c in (0.8, 2.3)],
        "poles": [*inside, *beyond, *above],
        "many poles": [*inside, *beyond, *above, *outside],
        "beyond": beyond,
        "squares": squares,
        "rises": [(size / spread, 0.0) for size in (0.2, 0.4, 0.8, 1.6)] + plain[:1],
        "opposite": [(size / spread, -size / spread) for size in (0.3, 0.8, 2.0)],
        "powered": [
            (power, float(np.power(c * size, power)))
            for power in (3.0, 4.0, 6.0, 1.5)
            for c in (abs(low) / size, 0.3, 0.5, 0.8)
        ],
        "shifts": [(0.0, -low + size * max(abs(low), spread)) for size in (0.5, 1.0, 2.0)],
        "powers": [(power, 0.0) for power in (0.25, 0.75, 1.5, 2.5, 4.0, -0.25, -0.5, -1.5, -3.0)],
        "offsets": [(b, c) for b, _ in rates for c in (-1.0, 1.0)],
        "logarithms": [(0.0, c) for c in (-2.0, -0.5, 0.7, 2.0, *within)],
        "ripples": [(b, c) for b, _ in waves[:6] for c in (-1.3, 0.6, 1.3)],
        "scaled powers": [
            (power, sign * float(np.power(size, -power)))
            for power in (-2.0, -0.5, 0.5, 1.5)
            for sign in (1, -1)
        ],
        "scaled rises": [
            (power, rate / spread) for power in (0.6, 1.5, 2.5) for rate in (0.4, 1.0, 2.5)
        ],
        "roots": [(0.0, c * np.sqrt(size)) for c in (-0.5, 0.15, 0.5, 1.5)],
        "quartics": [(0.0, size * typical * typical) for size in (0.2, 1.0, 4.0)],
        "resonances": [(size * spread * spread, c) for _, c in inside for size in (0.03, 0.3)],
        "mirrors": [(0.0, 1.2 * size), (0.0, 2.5 * size)],
    }


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


@lru_cache(maxsize=MOST_BATCHES)
def _batch(families: tuple[str, ...]) -> tuple[TapeBatch, np.ndarray, np.ndarray, np.ndarray]:
    """Tapes of many families, and for every hole its node, its family's number and its constant."""
    trees = [_form(text, 0.37, 0.73).tree for text in families]
    batch = compile_tapes(trees)
    holes = [
        (int(batch.starts[number]) + node_positions(tree)[place], number, which)
        for number, (text, tree) in enumerate(zip(families, trees, strict=True))
        for place, which in zip(_shape(text)[0].free, _shape(text)[1], strict=True)
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
    values, slopes, status = form_slopes([text for text, _, _ in chosen], constants, quantity)
    forms = [_shape(text)[0] for text, _, _ in chosen]
    with np.errstate(all="ignore"):
        slopes = np.where(np.isfinite(slopes) & (status != BAD_VALUE), slopes, np.inf)
        bad = (np.abs(slopes) > STEEPEST).mean(axis=1)
        sizes = np.median(np.abs(slopes), axis=1)
    fine = (bad < 0.01) & (sizes > 1e-100) & (sizes < 1e100)
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


def form_slopes(
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


def constants_of(family: str) -> set[int]:
    """Which of b and c a family has, as 0 and 1."""
    return set(_shape(family)[1])


def cost_of(family: str) -> int:
    """What a form costs, whatever its constants are."""
    return _shape(family)[0].cost
