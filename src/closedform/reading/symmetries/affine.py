"""Affine vector fields as matrices, in the user's inputs and in scaled ones, and as text.

A field v(x) = A x + b is the matrix [A b], of shape (n_inputs, n_inputs + 1).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from closedform.arrays import FloatArray
from closedform.errors import ExpressionError
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.searching.terms.sum_formula import plain_number

_AFFINE = 1e-9  # share of a field that rounding may leave outside its affine part
_SHOWN, _DENOMINATORS = 4, 12  # digits of a number that is not plain; what is


@dataclass(frozen=True, slots=True)
class ScaledInputs:
    """How scaled inputs come from the user's: minus the centre, over the spread."""

    centre: FloatArray  # (n_inputs,)
    scale: FloatArray  # (n_inputs,)

    def scaled(self, user: FloatArray) -> FloatArray:
        """The matrix of a field in scaled inputs."""
        linear = user[:, :-1] * self.scale / self.scale[:, None]
        constant = (user[:, :-1] @ self.centre + user[:, -1]) / self.scale
        return np.column_stack([linear, constant])

    def user(self, scaled: FloatArray) -> FloatArray:
        """The matrix of a field in the user's inputs."""
        linear = scaled[:, :-1] * self.scale[:, None] / self.scale
        return np.column_stack([linear, scaled[:, -1] * self.scale - linear @ self.centre])


def commutator(first: FloatArray, second: FloatArray) -> FloatArray:
    """The matrix of [v, w] = (v . grad) w - (w . grad) v.

    Examples
    --------
    >>> turn, shift = np.array([[0, -1, 0], [1, 0, 0]]), np.array([[0, 0, 1], [0, 0, 0]])
    >>> commutator(shift, turn)[:, 2]
    array([0, 1])
    """
    return second[:, :-1] @ first - first[:, :-1] @ second


def components(matrix: FloatArray, names: Sequence[str]) -> tuple[Expression, ...]:
    """The field's components as formulas, one for each input.

    Examples
    --------
    >>> [str(one) for one in components(np.array([[0, -1.0, 0], [1, 0, -2]]), ["x", "y"])]
    ['-y', 'x - 2']
    """
    return tuple(parse(sum_text(row, names, _full), names=list(names)) for row in matrix)


def field_text(matrix: FloatArray, names: Sequence[str]) -> str:
    """The field in one line, with ``d_x`` for the derivative by x.

    Examples
    --------
    >>> field_text(np.array([[0, -1.0, 0], [1, 0, -2]]), ["x", "y"])
    '(x - 2)*d_y - y*d_x'
    """
    parts: list[str] = []
    rows = [(row, f"d_{name}") for row, name in zip(matrix, names, strict=True)]
    # A positive part first, so that no sign stands in front.
    for row, derivative in sorted(rows, key=lambda pair: _leads_negative(pair[0])):
        terms = np.flatnonzero(row)
        if not len(terms):
            continue
        negative = bool(_leads_negative(row))
        factor = sum_text(-row if negative else row, names, _short)
        if len(terms) > 1:
            factor = f"({factor})"
        part = derivative if factor == "1" else f"{factor}*{derivative}"
        parts.append(f"{'-' if negative else '+'} {part}")
    text = " ".join(parts) or "0"
    return text.removeprefix("+ ") if text.startswith("+") else text.replace("- ", "-", 1)


def parse_field(text: str, names: Sequence[str]) -> FloatArray:
    """The matrix of a field such as ``x*d_y - y*d_x``.

    Examples
    --------
    >>> parse_field("x*d_y - (y - 1)*d_x", ["x", "y"])
    array([[ 0., -1.,  1.],
           [ 1.,  0.,  0.]])
    """
    count = len(names)
    whole = parse(text, names=[*names, *(f"d_{name}" for name in names)])
    places = np.concatenate([np.zeros((1, count)), np.eye(count), np.full((1, count), 3.0)])
    at = np.column_stack([places, np.zeros_like(places)])
    with np.errstate(all="ignore"):
        values, slopes = whole(at), whole.gradient(at)[:, count:]
        twice = whole(np.column_stack([places, np.full_like(places, 2.0)]))
    matrix = np.column_stack([(slopes[1:-1] - slopes[0]).T, slopes[0]])
    expected = matrix[:, :-1].sum(axis=1) * 3.0 + matrix[:, -1]
    size = max(float(np.abs(matrix).max()), 1e-300)
    off = [slopes[-1] - expected, values, twice - 2 * slopes.sum(axis=1)]
    if not np.isfinite(matrix).all() or max(np.abs(each).max() for each in off) > _AFFINE * size:
        raise ExpressionError(
            f"{text!r} is not an affine vector field; write one such as "
            f"'{names[0]}*d_{names[-1]}', with d_ before an input's name for its derivative and "
            f"sums of inputs and numbers as factors."
        )
    return matrix


def _leads_negative(row: FloatArray) -> bool:
    terms = np.flatnonzero(row)
    return bool(len(terms)) and bool((row[terms] < 0).all() or row[terms[0]] < 0)


def sum_text(
    row: Sequence[float] | FloatArray, names: Sequence[str], write: Callable[[float], str]
) -> str:
    """A sum of inputs and a number; '0' if it is empty."""
    parts: list[str] = []
    for value, name in zip(row, [*names, ""], strict=True):
        if value == 0:
            continue
        size = write(abs(float(value)))
        term = size if not name else name if size == "1" else f"{size}*{name}"
        sign = "-" if value < 0 else "+"
        parts.append(f"{sign} {term}" if parts else (f"-{term}" if value < 0 else term))
    return " ".join(parts) or "0"


def _full(value: float) -> str:
    return _plain(value) or repr(float(value))


def _short(value: float) -> str:
    return _plain(value) or f"{value:.{_SHOWN}g}"


def _plain(value: float) -> str:
    """A number that is a small fraction up to rounding; empty for others."""
    number = plain_number(value)
    return str(number) if number.denominator <= _DENOMINATORS else ""
