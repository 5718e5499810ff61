"""Odd arrays as points and as gradients: taken with sense, or refused in our own words."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import closedform as cf
from closedform.errors import ClosedformError
from closedform_bench.reliability.trial import TrialKind, each


def _with(place: tuple[int, ...], value: float) -> Callable[[np.ndarray], Any]:
    def change(array: np.ndarray) -> np.ndarray:
        array[place] = value
        return array

    return change


def _ragged(array: np.ndarray) -> Any:
    return [*array.tolist()[:-1], [1.0]]


ODD: tuple[Callable[[np.ndarray], Any], ...] = (
    _with((0, 0), np.nan),
    _with((0, 0), np.inf),
    _with((0, 0), -np.inf),
    _with((0, 0), 1e200),
    _with((0, 0), 1e-320),
    lambda a: a * 1e60,
    lambda a: a * 1e-60,
    lambda a: a * 0,
    lambda a: a[:0],
    lambda a: a[:1],
    lambda a: a[:, :0],
    lambda a: a[:, 0],
    lambda a: a[..., None, None],
    lambda a: np.float64(3),
    lambda a: a.astype(complex) + 1j,
    lambda a: a.astype(object),
    lambda a: a.astype(str),
    lambda a: a > 0,
    lambda a: (a * 100).astype(np.int8),
    lambda a: a.astype(np.float16),
    lambda a: a.astype(np.longdouble),
    lambda a: a.astype(">f8"),
    lambda a: a.astype("datetime64[s]"),
    lambda a: np.asfortranarray(a),
    lambda a: a[::-1, ::-1],
    lambda a: np.broadcast_to(a[:1], a.shape),
    lambda a: np.ma.masked_less(a, 0),
    lambda a: a.tolist(),
    _ragged,
    lambda a: None,
)


def _trial(number: int) -> str:
    change, as_points = ODD[number % len(ODD)], number // len(ODD) % 2 == 0
    points = np.random.default_rng(number).uniform(-1, 1, (40, 2))
    gradients = 2 * points
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy's, about casts that are asked for here
            odd = change(points.copy() if as_points else gradients.copy())
        pair = (odd, gradients) if as_points else (points, odd)
        field = cf.GradientField.from_arrays(*pair)
    except ClosedformError:
        return "refused"
    lengths = np.linalg.norm(field.directions[field.weights > 0], axis=1)
    if not np.isfinite(field.points).all() or not np.allclose(lengths, 1):
        return f"failed: array {number} gave directions that are not of length 1"
    return "taken"


KIND = TrialKind(
    "arrays",
    "Odd arrays as points and as gradients (not finite, huge, empty, of any type, shape or "
    "layout): taken or refused.",
    2 * len(ODD),
    each(_trial),
)
