"""Whether two formulas are the same concept: one is an invertible function of the other on the
domain.

They are when all 2x2 minors of their gradients vanish (modulo stated constants), neither is
constant, and the gradients point the same way, or opposite ways, on the whole domain. Vanishing
minors alone make them dependent, like x and x**2.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from closedform.arrays import FloatArray
from closedform.basics.keywords import checked_keywords
from closedform.basics.randomness import as_generator
from closedform.canonical import domain as domains
from closedform.canonical.parallel import ZERO, check_precision, compare_at, parallel_is_proved
from closedform.canonical.tolerances import DEFAULT_BOX, PARALLEL_DIGITS, PRECISE_POINTS
from closedform.errors import DomainError
from closedform.expressions.constraint import Constraint, parse_constraint
from closedform.expressions.expression import Expression
from closedform.expressions.parse import names_in, parse, sort_names
from closedform.field.alignment.misalignment import point_misalignment
from closedform.field.alignment.tolerances import SAME
from closedform.field.neighborhoods import evenly_spaced

T = TypeVar("T")
Status = Literal["proved", "numerical", "within errors", "different"]


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Whether two formulas are the same concept, and why.

    It is true in a boolean context when they are.

    Attributes
    ----------
    status : str
        ``proved`` (parallel gradients proved by SymPy), ``numerical`` (parallel to 40 digits at
        random points), or ``different``. `Interpretation.same_as` also says ``within errors``: the
        same once constants move within their standard errors.
    dependent : bool
        Whether the gradients are parallel everywhere; x and x**2 are dependent and yet different.
    misalignment : float
        Mean misalignment between the two on the domain; 0 is parallel everywhere.
    reason : str
        Why, in a sentence.
    witness : mapping of str to float or None
        A point of the domain that shows a difference.
    seconds : float
        Time taken.
    """

    status: Status
    dependent: bool
    misalignment: float
    reason: str
    witness: Mapping[str, float] | None
    seconds: float

    def __bool__(self) -> bool:
        return self.status != "different"


@checked_keywords
def same_concept(
    a: str | Expression,
    b: str | Expression,
    names: Sequence[str] | None = None,
    *,
    constraints: Sequence[str | Expression | Constraint] = (),
    domain: domains.Domain | None = None,
    points: ArrayLike | None = None,
    time_limit: float = 5.0,
    rng: int | np.random.Generator | None = 0,
) -> Equivalence:
    """Decide whether two formulas are the same concept.

    Parameters
    ----------
    a, b : str or Expression
    names : sequence of str, optional
        The inputs; by default the names that occur.
    constraints : sequence, optional
        Functions that are constant on the data ("A11 + A22"), or equations ("x**2 + y**2 = 1");
        formulas that differ only by these are the same.
    domain : optional
        An interval (low, high) for all inputs, a list of intervals, or a mapping from names; [-2,
        2] by default.
    points : array-like, shape (n_points, n_inputs), optional
        Compare on these points instead.
    time_limit : float
        Seconds that SymPy may take, and as many again for comparing in high precision, by the clock
        and so of the processor too. Drawing points and one comparison of each kind come on top:
        fractions of a second, but seconds with hundreds of terms. Long formulas are compared at
        fewer points.
    rng : seed or Generator
        Chooses the points; the default is fixed, so that the answer is repeatable.

    Returns
    -------
    Equivalence

    Raises
    ------
    DomainError
        If the domain cannot be read, or the two are nowhere finite together on it.

    Examples
    --------
    >>> same_concept("0.173/(v**2 + x**2)", "v**2/2 + x**2/2").status
    'proved'
    >>> same_concept("x + y", "(x + y)**2").dependent
    True
    >>> bool(same_concept("v**2 + exp(x**2)", "v**2 + x**2 + x**4/2"))
    False
    """
    question, generator = _Question(a, b, names, constraints), as_generator(rng)
    found = question.answer(domain, points, time_limit, generator)
    is_default = domain is None and points is None and not constraints
    if found or not is_default or not question.agrees_where_positive(generator):
        return found
    low, high = DEFAULT_BOX
    offer = (
        f"Where every input is positive they are the same, but the default domain is {low:g} to "
        f"{high:g} for each: if your data have no negative inputs, pass them as points=, or "
        f"domain=(0.1, {high:g})."
    )
    return replace(found, reason=f"{found.reason} {offer}")


class _Question:
    """Two formulas over the same inputs, and the steps to an answer."""

    def __init__(
        self,
        a: str | Expression,
        b: str | Expression,
        names: Sequence[str] | None,
        constraints: Sequence,
    ) -> None:
        self.start = time.perf_counter()
        self.names = list(names) if names is not None else _all_names([a, b, *constraints])
        self.a, self.b = (
            e.rename(self.names) if isinstance(e, Expression) else parse(e, self.names)
            for e in (a, b)
        )
        self.constraints = [parse_constraint(constraint, self.names) for constraint in constraints]
        self.points = np.zeros((0, len(self.names)))
        self.misalignment = 1.0
        self.until = self.start

    def answer(
        self,
        domain: domains.Domain | None,
        points: ArrayLike | None,
        seconds: float,
        rng: np.random.Generator,
    ) -> Equivalence:
        """Reject cheaply, then prove, then compare at high precision; last, check the direction."""
        self.until, end = self.start + seconds, self.start + 2 * seconds
        functions = [self.a, self.b]
        for function in (*functions, *(constraint.function for constraint in self.constraints)):
            check_precision(function)
        box = domains.read_box(domain, self.names)
        if points is not None:
            self.points = domains.given(points, functions)
        else:
            self.points = domains.sample(functions, self.constraints, box, rng)
        residuals = self._residuals()
        self.misalignment = float(residuals.mean())
        constant = self._constant()
        if constant is not None:
            return constant
        different = self._not_parallel(residuals)
        if different is not None:
            return different
        began = time.perf_counter()
        proved = parallel_is_proved(
            self.a, self.b, self.constraints, min(seconds, max(end - began, 1e-3))
        )
        # What a busy machine took of the proof's time is not added to the rest.
        self.until = min(self.until + time.perf_counter() - began, end)
        if not proved:
            different = self._angle_at(evenly_spaced(len(self.points), PRECISE_POINTS))
            if different is not None:
                return different
        if points is None and not self.constraints:
            self.points = np.concatenate(
                [self.points, domains.edges(functions, self.points, box, rng, self.until)]
            )
        reversal = self._reversal()
        if reversal is not None:
            return reversal
        status: Status = "proved" if proved else "numerical"
        how = "SymPy proves that the gradients are parallel"
        if not proved:
            how = f"The gradients are parallel to {PARALLEL_DIGITS} digits"
        reason = f"{how}, and they keep one orientation on the domain."
        return Equivalence(status, True, self.misalignment, reason, None, self._seconds())

    def agrees_where_positive(self, rng: np.random.Generator) -> bool:
        """Whether only negative inputs tell the two apart, in floating point; not where the time is
        over.
        """
        if time.perf_counter() > self.until:
            return False
        count = len(self.names)
        box = domains.Box(np.zeros(count), np.full(count, DEFAULT_BOX[1]))
        try:
            self.points = domains.sample([self.a, self.b], (), box, rng)
        except DomainError:
            return False
        return bool(self._residuals().max() < SAME) and self._reversal() is None

    def _gradients(self) -> tuple[FloatArray, FloatArray]:
        """Both gradients in scaled coordinates, in the tangent space of the constraints."""
        scale = self._scale()
        gradients = [formula.gradient(self.points) * scale for formula in (self.a, self.b)]
        if self.constraints:
            slopes = [each.function.gradient(self.points) for each in self.constraints]
            normals = np.stack(slopes, axis=1) * scale
            tangent = _null_space(normals)
            gradients = [np.einsum("ndr,nd->nr", tangent, gradient) for gradient in gradients]
        return gradients[0], gradients[1]

    def _scale(self) -> FloatArray:
        """The spread of each input relative to the largest, which does not depend on units."""
        scale = self.points.std(axis=0)
        return np.where(scale > 0, scale / scale.max(initial=1e-300), 1.0)

    def _residuals(self) -> FloatArray:
        """Misalignment at each point; 0 where the first gradient vanishes."""
        gradient_a, gradient_b = self._gradients()
        norms = np.linalg.norm(gradient_a, axis=1, keepdims=True)
        frames = (gradient_a / np.where(norms > 0, norms, 1.0))[:, :, None]
        return np.where(norms[:, 0] > 0, point_misalignment(gradient_b, frames), 0.0)

    def _constant(self) -> Equivalence | None:
        """Look where a gradient is largest in floating point: if it is zero there, it is zero."""
        for name, function, gradient in zip(
            ("first", "second"), (self.a, self.b), self._gradients(), strict=True
        ):
            largest = np.argsort(np.linalg.norm(gradient, axis=1))[::-1][:8]
            found = (
                compare_at(self.points[index], function, function, self.constraints)
                for index in largest
            )
            is_zero = [direction.zero_a for direction in self._in_time(found) if direction]
            if is_zero and all(is_zero):
                self.misalignment = 1.0
                reason = f"The {name} formula is constant on the domain."
                return self._different(reason, self.points[0])
        return None

    def _not_parallel(self, residuals: FloatArray) -> Equivalence | None:
        """Confirm at high precision the points that look worst in floating point."""
        lengths = [np.linalg.norm(gradient, axis=1) for gradient in self._gradients()]
        comparable = np.where((lengths[0] > 0) & (lengths[1] > 0), residuals, 0.0)
        worst = np.argsort(comparable)[::-1][:5]
        return self._angle_at(worst[comparable[worst] > SAME])

    def _angle_at(self, indices: np.ndarray) -> Equivalence | None:
        """The first of some points at which the gradients differ in high precision."""
        for index in self._in_time(indices):
            sine = self._sine(self.points[index])
            if sine > ZERO:
                degrees = np.degrees(np.arcsin(min(1.0, float(sine) ** 0.5)))
                reason = f"The gradients differ by {degrees:.3g} degrees."
                return self._different(reason, self.points[index], dependent=False)
        return None

    def _in_time(self, items: Iterable[T]) -> Iterator[T]:
        """The first of them, and the others as long as there is time."""
        for place, item in enumerate(items):
            if place and time.perf_counter() > self.until:
                return
            yield item

    def _sine(self, point: FloatArray) -> float:
        direction = compare_at(point, self.a, self.b, self.constraints, self._scale())
        squared = None if direction is None else direction.squared_sine
        return 0.0 if squared is None else squared

    def _reversal(self) -> Equivalence | None:
        """Where the gradients turn from parallel to opposite, or one of them vanishes alone."""
        tangent_a, tangent_b = self._gradients()
        with np.errstate(all="ignore"):
            unit_a = tangent_a / np.linalg.norm(tangent_a, axis=1, keepdims=True)
            unit_b = tangent_b / np.linalg.norm(tangent_b, axis=1, keepdims=True)
            cosines = np.einsum("nr,nr->n", unit_a, unit_b)
        signs = np.where(np.abs(cosines) > 0.5, np.sign(cosines), 0.0)
        main = 1.0 if signs.sum() >= 0 else -1.0
        for index in self._in_time(np.flatnonzero(signs == -main)[:5]):
            direction = compare_at(self.points[index], self.a, self.b, self.constraints)
            if direction is not None and direction.sign == -main:
                reason = "The gradients turn from parallel to opposite."
                return self._different(reason, self.points[index])
        flat = self._flat_region(np.flatnonzero(~np.isfinite(cosines))[:40])
        if flat is not None:
            return flat
        return self._not_monotone(main) if all(c.is_equation for c in self.constraints) else None

    def _flat_region(self, indices: np.ndarray) -> Equivalence | None:
        """Two flat points with one value of a formula and two of the other; one is harmless."""
        found = [
            (index, compare_at(self.points[index], self.a, self.b, self.constraints))
            for index in self._in_time(indices)
        ]
        for (_, first), (index, second) in combinations(
            [(i, d) for i, d in found if d is not None], 2
        ):
            zero_a, zero_b = first.zero_a and second.zero_a, first.zero_b and second.zero_b
            same_a, same_b = first.value_a == second.value_a, first.value_b == second.value_b
            if (zero_b and same_b and not same_a) or (zero_a and same_a and not same_b):
                reason = "One formula is constant where the other is not."
                return self._different(reason, self.points[index])
        return None

    def _not_monotone(self, main: float) -> Equivalence | None:
        """On several pieces each may be fine alone, while values run back from piece to piece."""
        values_a, values_b = self.a(self.points), main * self.b(self.points)
        order = np.argsort(values_a, kind="stable")
        highest = np.maximum.accumulate(values_b[order])
        drops = np.flatnonzero(values_b[order] < highest - SAME * np.abs(highest) - 1e-300)
        for position in self._in_time(drops[:20]):
            low = order[: position + 1][np.argmax(values_b[order[: position + 1]])]
            pair = [
                compare_at(self.points[i], self.a, self.b, self.constraints)
                for i in (low, order[position])
            ]
            if pair[0] is None or pair[1] is None:
                continue
            if pair[0].value_a < pair[1].value_a and main * (pair[1].value_b - pair[0].value_b) < 0:
                reason = "The values are not in one order across the pieces of the domain."
                return self._different(reason, self.points[order[position]])
        return None

    def _different(self, reason: str, point: FloatArray, *, dependent: bool = True) -> Equivalence:
        witness = {name: float(x) for name, x in zip(self.names, point, strict=True)}
        return Equivalence(
            "different", dependent, self.misalignment, reason, witness, self._seconds()
        )

    def _seconds(self) -> float:
        return time.perf_counter() - self.start


def _all_names(parts: Sequence[str | Expression | Constraint]) -> list[str]:
    found: list[str] = []
    for part in parts:
        if isinstance(part, str):
            names = [name for side in part.replace("==", "=").split("=") for name in names_in(side)]
        else:
            names = list((part.function if isinstance(part, Constraint) else part).names)
        found += [name for name in names if name not in found]
    return sort_names(found)


def _null_space(normals: FloatArray) -> FloatArray:
    """Orthonormal bases, shape (n_points, n_inputs, r), of what is orthogonal to the normals.

    Where normals depend on each other the basis has fewer useful directions; r is the same for all
    points.
    """
    _, sizes, rows = np.linalg.svd(normals, full_matrices=True)
    rank = int(np.median((sizes > SAME * sizes.max(axis=1, keepdims=True)).sum(axis=1)))
    return np.swapaxes(rows[:, rank:, :], 1, 2)
