"""A theory: a formula with free constants, or any function of the inputs, as a fit sees it."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.errors import ClosedformError, ExpressionError
from closedform.expressions.complexity import FITTED
from closedform.expressions.expression import Expression
from closedform.expressions.kernel import values_and_gradients
from closedform.expressions.operators import CONSTANT_COST
from closedform.expressions.parse import names_in, parse
from closedform.expressions.printing import check_names
from closedform.expressions.tape import TapeBatch, compile_tapes
from closedform.expressions.tree import Token, Tree, Variable, constant, variable
from closedform.field.alignment.tolerances import LARGEST_FITTED
from closedform.judge.neighbours.made_forms import with_term
from closedform.networks.extract import extract_samples

Formula = str | Expression | Callable[..., Any]
"""What a theory may be given as."""

Free = Sequence[str] | Mapping[str, float | Sequence[float] | None]
"""Names of free constants, or for each where to start, or that and its bounds."""

FREE_COST = FITTED + CONSTANT_COST
"""What a free constant adds to a description: its node, and the digits that are fitted."""

_DIFFERENCE = 1e-6  # of a constant, by which it is moved to see what it does


class TheoryError(ClosedformError, ValueError):
    """A theory, or a free constant, that cannot be used."""


@dataclass(frozen=True, slots=True)
class FreeConstant:
    """A constant that is fitted."""

    name: str
    start: float = 1.0  # where the fit begins, among other places
    low: float = -LARGEST_FITTED  # bounds that it must keep
    high: float = LARGEST_FITTED

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Further places to begin: even between bounds, or about the start over two decades."""
        if self.high - self.low < LARGEST_FITTED:
            return rng.uniform(self.low, self.high, count)
        size = np.exp(rng.normal(0.0, 1.2, count)) * (abs(self.start) or 1.0)
        return np.clip(size * rng.choice([-1.0, 1.0], count), self.low, self.high)


@dataclass(frozen=True, slots=True, eq=False)
class Theory:
    """A function of inputs and free constants."""

    name: str
    names: tuple[str, ...]  # the inputs
    constants: tuple[FreeConstant, ...]  # those that occur
    tree: Tree  # over the inputs, then the constants, then the function if there is one
    function: "FunctionColumn | None" = None  # what the expression language cannot say
    stated: str = ""  # as it was given

    @property
    def numbers(self) -> FloatArray:
        """Where the constants begin."""
        return np.array([one.start for one in self.constants])

    @property
    def free_length(self) -> float:
        """What the free constants alone add to a description."""
        return FREE_COST * len(self.constants)

    def started(self, numbers: FloatArray) -> "Theory":
        """The theory with its constants beginning elsewhere."""
        pairs = zip(self.constants, numbers.tolist(), strict=True)
        return replace(self, constants=tuple(replace(one, start=x) for one, x in pairs))

    def at(self, numbers: FloatArray, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values (n_points,) and gradients (n_points, n_inputs) with these constants."""
        count, n_inputs = len(points), len(self.names)
        columns = [points, np.tile(numbers, (count, 1))]
        slopes = np.zeros((count, n_inputs))
        if self.function is not None:
            known = dict(zip((one.name for one in self.constants), numbers.tolist(), strict=True))
            column, slopes = self.function.at(points, known)
            columns.append(column[:, None])
        with np.errstate(all="ignore"):
            values, gradients, _ = values_and_gradients(
                _tape(self.tree), np.ascontiguousarray(np.column_stack(columns))
            )
            own = gradients[0][:, :n_inputs]
            if self.function is not None:
                own = own + gradients[0][:, -1:] * slopes
        return values[0], own

    def differences(self, numbers: FloatArray) -> FloatArray:
        """Steps by which each constant is moved to see what it does."""
        return _DIFFERENCE * np.maximum(np.abs(numbers), _DIFFERENCE)

    def evaluate(self, numbers: FloatArray, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values and gradients, and those with each constant moved; see `fitting.Adjustable`."""
        steps = np.vstack([np.zeros(len(numbers)), np.diag(self.differences(numbers))])
        found = [self.at(numbers + step, points) for step in steps]
        return np.stack([v for v, _ in found]), np.stack([g for _, g in found])

    def moved(self, numbers: FloatArray, step: FloatArray) -> FloatArray | None:
        """The constants after a step, inside their bounds."""
        new = numbers + step
        if not np.isfinite(new).all():
            return None
        return np.clip(new, [one.low for one in self.constants], [o.high for o in self.constants])

    def written(self, numbers: FloatArray) -> Expression | None:
        """The formula with these constants; None for a function."""
        if self.function is not None:
            return None
        return Expression(self._filled(numbers.tolist()), self.names)

    def corrected(self, term: Tree, start: float, *, is_factor: bool) -> "Theory":
        """The theory with one more term, or with its exponential as a factor, times a constant."""
        place = len(self.names) + len(self.constants)
        tokens = tuple(
            Variable(token.index + 1)
            if isinstance(token, Variable) and token.index >= place
            else token
            for token in self.tree.tokens
        )
        tree = with_term(Tree(tokens), variable(place), term, is_factor=is_factor)
        further = FreeConstant("_correction", start)
        return replace(self, constants=(*self.constants, further), tree=tree)

    def _filled(self, numbers: Sequence[float]) -> Tree:
        first = len(self.names)
        tokens: list[Token] = []
        for token in self.tree.tokens:
            is_constant = isinstance(token, Variable) and 0 <= token.index - first < len(numbers)
            place = token.index - first if isinstance(token, Variable) else 0
            # A zero may stand for a number in any place, and a number that is too small for none.
            tokens.append(constant(float(numbers[place])).root if is_constant else token)
        return Tree(tuple(tokens))


@lru_cache(maxsize=64)
def _tape(tree: Tree) -> TapeBatch:
    """A fit asks hundreds of times for the same one."""
    return compile_tapes([tree])


class FunctionColumn:
    """A Python function of the inputs, and of those free constants that are its arguments."""

    # Gradients come from torch or JAX if it is written in them, else from finite differences. What
    # was asked last is kept: most constants of a fit do not enter it.

    def __init__(self, function: Callable[..., Any], label: str, free: Sequence[str]) -> None:
        self.function, self.label = function, label
        self.arguments = tuple(name for name in _parameters(function) if name in free)
        self._last: tuple[Any, tuple[float, ...], tuple[FloatArray, FloatArray]] | None = None

    def at(self, points: FloatArray, known: Mapping[str, float]) -> tuple[FloatArray, FloatArray]:
        """Values (n_points,) and gradients (n_points, n_inputs)."""
        numbers = tuple(known[name] for name in self.arguments)
        last = self._last
        if last is not None and last[0] is points and last[1] == numbers:
            return last[2]
        keywords = dict(zip(self.arguments, numbers, strict=True))
        samples = extract_samples(
            lambda x: self.function(x, **keywords), points, 0, max_points=None, rng=0
        )
        found = samples.latents[:, 0], samples.jacobians[:, 0, :]
        self._last = points, numbers, found
        return found


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # some compiled functions have no signature
        return ()


def read_free(free: Free) -> tuple[FreeConstant, ...]:
    """The free constants, checked."""
    if isinstance(free, str):
        free = [free]
    given: Mapping[str, Any] = free if isinstance(free, Mapping) else dict.fromkeys(free)
    check_names(list(given))
    return tuple(_free_constant(name, where) for name, where in given.items())


def _free_constant(name: str, where: Any) -> FreeConstant:
    if where is None:
        return FreeConstant(name)
    numbers = np.atleast_1d(np.asarray(where, dtype=np.float64))
    if numbers.shape not in ((1,), (3,)) or not np.isfinite(numbers).all():
        raise TheoryError(
            f"The free constant {name!r} is given as {where!r}; pass where to start, or (start, "
            f"low, high)."
        )
    start, *bounds = numbers.tolist()
    low, high = bounds or (-LARGEST_FITTED, LARGEST_FITTED)
    if not low <= start <= high or low == high:
        raise TheoryError(
            f"The free constant {name!r} starts at {start:g}, which must lie between its bounds, "
            f"{low:g} and {high:g}."
        )
    return FreeConstant(name, start, low, high)


def read_theories(
    theories: Mapping[str, Formula], names: Sequence[str], free: Free = ()
) -> tuple[Theory, ...]:
    """Theories by their names, over the inputs; constants that occur in none are refused."""
    if not isinstance(theories, Mapping) or not theories:
        raise TheoryError(
            "There is no theory; pass a dictionary from names to formulas, such as "
            "{'harmonic': 'x**2 + v**2'}."
        )
    constants = read_free(free)
    twice = [one.name for one in constants if one.name in names]
    if twice:
        raise TheoryError(
            f"The free constant {twice[0]!r} is an input too; rename it in the formulas."
        )
    read = tuple(
        _read_theory(str(name), formula, tuple(names), constants)
        for name, formula in theories.items()
    )
    used = {one.name for theory in read for one in theory.constants}
    idle = [one.name for one in constants if one.name not in used]
    if idle:
        raise TheoryError(
            f"The free constant {idle[0]!r} occurs in no theory; remove it from free=, or use it."
        )
    return read


def _read_theory(
    name: str, formula: Formula, names: tuple[str, ...], constants: tuple[FreeConstant, ...]
) -> Theory:
    if isinstance(formula, str | Expression):
        text = str(formula)
        occurring = names_in(text) if isinstance(formula, str) else list(formula.names)
        own = tuple(one for one in constants if one.name in occurring)
        labels = [*names, *(one.name for one in own)]
        unknown = [word for word in occurring if word not in labels]
        if unknown and isinstance(formula, str):
            raise TheoryError(
                f"The theory {name!r}, {text}, names {unknown[0]!r}, which is neither an input "
                f"({', '.join(names)}) nor listed as a free constant. Correct the name, or add it "
                f"to free=."
            )
        try:
            read = parse(formula, labels) if isinstance(formula, str) else formula.rename(labels)
        except ExpressionError as error:
            raise TheoryError(f"The theory {name!r} cannot be read: {error}") from error
        return Theory(name, names, own, read.tree, None, text)
    if not callable(formula):
        raise TheoryError(
            f"The theory {name!r} is a {type(formula).__name__}; pass text, an Expression, or a "
            f"function of an array of inputs."
        )
    column = FunctionColumn(formula, name, [one.name for one in constants])
    own = tuple(one for one in constants if one.name in column.arguments)
    called = ", ".join(["inputs", *column.arguments])
    stated = f"{getattr(formula, '__name__', 'function')}({called})"
    return Theory(name, names, own, variable(len(names) + len(own)), column, stated)
