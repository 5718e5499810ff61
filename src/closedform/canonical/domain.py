"""Points on which two formulas are compared: of a box, given ones, or on a constraints' surface."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from closedform.arrays import FloatArray, as_points
from closedform.canonical.tolerances import DEFAULT_BOX
from closedform.errors import DomainError
from closedform.expressions.constraint import Constraint
from closedform.expressions.expression import Expression
from closedform.field.alignment.tolerances import SAME

Domain = tuple[float, float] | Sequence[tuple[float, float]] | Mapping[str, tuple[float, float]]
"""One interval for all inputs, one for each, or intervals by name (the default for the others)."""


@dataclass(frozen=True, slots=True)
class Box:
    """Lower and upper bounds of every input, shape (n_inputs,) each."""

    low: FloatArray
    high: FloatArray


def read_box(domain: Domain | None, names: Sequence[str]) -> Box:
    """Bounds from the forms that users write."""
    if isinstance(domain, str):
        raise DomainError(
            f"The domain is the text {domain!r}; pass (low, high), or a dictionary of such "
            f"pairs by input."
        )
    if domain is None:
        intervals = [DEFAULT_BOX] * len(names)
    elif isinstance(domain, Mapping):
        unknown = [name for name in domain if name not in names]
        if unknown:
            raise DomainError(
                f"The domain names {unknown[0]!r}, which is not among the inputs {list(names)}."
            )
        intervals = [domain.get(name, DEFAULT_BOX) for name in names]
    elif len(domain) == 2 and all(isinstance(bound, int | float) for bound in domain):
        intervals = [domain] * len(names)
    else:
        intervals = list(domain)
    bounds = np.array(intervals, dtype=np.float64).reshape(-1, 2)
    if (
        len(bounds) != len(names)
        or not (bounds[:, 0] < bounds[:, 1]).all()
        or not np.isfinite(bounds).all()
    ):
        raise DomainError(
            f"The domain {domain!r} is not one interval (low, high) with low < high for each "
            f"of {list(names)}."
        )
    return Box(bounds[:, 0], bounds[:, 1])


def sample(
    functions: Sequence[Expression],
    constraints: Sequence[Constraint],
    box: Box,
    rng: np.random.Generator,
    n_points: int = 2000,
) -> FloatArray:
    """Random points of the box where every equation holds and all functions are finite."""
    equations = [constraint.function for constraint in constraints if constraint.is_equation]
    kept: list[FloatArray] = []
    found = 0
    for _ in range(20):
        points = rng.uniform(box.low, box.high, (n_points, len(box.low)))
        if equations:
            points = _onto_surface(points, equations, box)
        points = points[_finite(functions, points)]
        kept.append(points)
        found += len(points)
        if found >= n_points:
            break
    if found < 20 and equations:
        raise DomainError(
            f"Only {found} points of the box satisfy the constraints with both formulas finite; "
            f"the surface may miss the box ({box.low.min():g} to {box.high.max():g}). State a "
            f"domain that it passes through."
        )
    if found < 20:
        names = ", ".join(functions[0].names)
        raise DomainError(
            f"Only {found} points were found at which both formulas are finite; state "
            f"another domain for {names}."
        )
    return np.concatenate(kept)[:n_points]


def edges(
    functions: Sequence[Expression],
    points: FloatArray,
    box: Box,
    rng: np.random.Generator,
    until: float,
) -> FloatArray:
    """Corners of the box and the places where each function is largest and smallest: there a
    reversal of direction hides. The latter are looked for until a moment of `time.perf_counter`.
    """
    candidates = np.concatenate([_corners(box, rng), _extremes(functions, points, box, until)])
    return candidates[_finite(functions, candidates)]


def given(points: ArrayLike, functions: Sequence[Expression]) -> FloatArray:
    """The user's own points at which all functions and gradients are finite."""
    array = as_points(points, len(functions[0].names))
    array = array[_finite(functions, array)]
    if len(array) < 2:
        raise DomainError(
            f"Both formulas are finite at {len(array)} of the given points; at least 2 are needed."
        )
    return array


def _finite(functions: Sequence[Expression], points: FloatArray) -> np.ndarray:
    good = np.ones(len(points), dtype=bool)
    for function in functions:
        gradient = function.gradient(points)
        with np.errstate(over="ignore"):
            good &= np.isfinite(function(points)) & np.isfinite(
                np.einsum("nd,nd->n", gradient, gradient)
            )
    return good


def _corners(box: Box, rng: np.random.Generator) -> FloatArray:
    n_inputs = len(box.low)
    if n_inputs <= 8:
        choice = np.array(np.meshgrid(*[[0, 1]] * n_inputs, indexing="ij")).reshape(n_inputs, -1).T
    else:
        choice = rng.integers(0, 2, (256, n_inputs))
    return np.where(choice == 1, box.high, box.low)


def _extremes(
    functions: Sequence[Expression], points: FloatArray, box: Box, until: float
) -> FloatArray:
    def objective(x: FloatArray, sign: float, function: Expression) -> tuple[float, FloatArray]:
        if time.perf_counter() <= until:
            value, slope = function(x[None])[0], function.gradient(x[None])[0]
            if np.isfinite(slope).all():
                return sign * value, sign * slope
        return 1e300, np.zeros(len(x))

    found: list[FloatArray] = []
    for function in functions:
        values = function(points)
        for sign, start in ((1.0, points[values.argmin()]), (-1.0, points[values.argmax()])):
            with np.errstate(all="ignore"):
                result = minimize(
                    objective,
                    start,
                    (sign, function),
                    jac=True,
                    bounds=list(zip(box.low, box.high, strict=True)),
                    method="L-BFGS-B",
                    options={"maxiter": 50},
                )
            found.append(np.clip(result.x, box.low, box.high))
    return np.array(found)


def _onto_surface(points: FloatArray, equations: Sequence[Expression], box: Box) -> FloatArray:
    """Gauss-Newton steps onto the surface; points that do not arrive inside the box are dropped."""
    with np.errstate(all="ignore"):
        for _ in range(30):
            values = np.stack([equation(points) for equation in equations], axis=1)
            slopes = np.stack([equation.gradient(points) for equation in equations], axis=1)
            usable = np.isfinite(values).all(1) & np.isfinite(slopes).all((1, 2))
            points, values, slopes = points[usable], values[usable], slopes[usable]
            if not len(points):
                return points
            points = points - np.einsum("ndm,nm->nd", np.linalg.pinv(slopes), values)
        values = np.stack([equation(points) for equation in equations], axis=1)
    inside = ((points >= box.low - SAME) & (points <= box.high + SAME)).all(1)
    return points[inside & (np.abs(values) < SAME).all(1)]
