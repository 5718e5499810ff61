"""A constant as a formula of the index: a curve of one input, read by least squares."""

from dataclasses import dataclass

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.evaluate import NUMPY
from closedform.networks.open_formula import FormulaPhi, OpenFormula
from closedform.replacing.phi_fit import best_formula

FEWEST = 8
"""Fewer points of a curve say nothing about its form."""


@dataclass(frozen=True, slots=True)
class CurveReading:
    """A curve as a formula.

    Attributes
    ----------
    text : str
        In the index's name.
    numbers, errors : tuple of float
        Its numbers in the order a, b, ..., and their standard errors from the scatter about it.
    r2 : float
    pivot, pivot_error : float or None
        For a + b*log(k): where it vanishes, so that it reads b*log(k/pivot).
    """

    text: str
    numbers: tuple[float, ...]
    errors: tuple[float, ...]
    r2: float
    pivot: float | None = None
    pivot_error: float | None = None

    def __str__(self) -> str:
        return self.text


def read_curve(
    index: FloatArray, values: FloatArray, errors: FloatArray, name: str = "k"
) -> CurveReading | None:
    """The simplest formula that fits a curve; None for fewer than eight points.

    Parameters
    ----------
    index, values, errors : ndarray, shape (n_points,)
        Values that stay within three of their errors about the mean are a constant.
    name : str
        Of the index.

    Examples
    --------
    >>> k = np.geomspace(0.01, 1, 40)
    >>> curve = read_curve(k, np.log(k / 0.05), np.full(40, 1e-3))
    >>> curve.text, round(curve.pivot, 6)
    ('1*log(k/0.05)', 0.05)
    """
    usable = np.isfinite(index) & np.isfinite(values)
    index, values, errors = index[usable], values[usable], errors[usable]
    if len(index) < FEWEST:
        return None
    known = np.where(np.isfinite(errors), errors, 0.0)
    mean = float(values.mean())
    if np.ptp(values) == 0 or (np.abs(values - mean) <= 3 * known).all():
        spread = float(values.std(ddof=1) / np.sqrt(len(values)))
        return CurveReading(f"{mean:.6g}", (mean,), (spread,), 1.0)
    found = best_formula(index, values)
    if found is None or not isinstance(found.phi, FormulaPhi):
        return None
    formula = found.phi.formula
    numbers, left = formula.numbers, values - _at(formula, formula.numbers, index)
    covariance = _covariance(formula, index, left)
    text, pivot, pivot_error = _rounded(formula, name), None, None
    if "log" in formula.tree.tokens:
        text, pivot, pivot_error = _with_pivot(numbers, covariance, name)
    return CurveReading(
        text=text,
        numbers=tuple(numbers.tolist()),
        errors=tuple(np.sqrt(np.diag(covariance)).tolist()),
        r2=float(1 - (left**2).sum() / ((values - mean) ** 2).sum()),
        pivot=pivot,
        pivot_error=pivot_error,
    )


def _at(formula: OpenFormula, numbers: FloatArray, index: FloatArray) -> FloatArray:
    with np.errstate(all="ignore"):
        return np.asarray(formula.value([index], numbers, NUMPY)) + 0 * index


def _covariance(formula: OpenFormula, index: FloatArray, left: FloatArray) -> FloatArray:
    """Of the numbers, from the scatter about the curve."""
    numbers = formula.numbers
    slopes = np.empty((len(index), len(numbers)))
    for place, number in enumerate(numbers):
        step = 1e-6 * max(abs(number), 1.0)
        moved = numbers.copy()
        moved[place] += step
        slopes[:, place] = (_at(formula, moved, index) - _at(formula, numbers, index)) / step
    variance = (left**2).sum() / max(len(index) - len(numbers), 1)
    return variance * np.linalg.pinv(slopes.T @ slopes)


def _with_pivot(numbers: FloatArray, covariance: FloatArray, name: str) -> tuple[str, float, float]:
    a, b = numbers.tolist()
    pivot = float(np.exp(-a / b))
    slope = pivot * np.array([-1 / b, a / b**2])
    error = float(np.sqrt(slope @ covariance @ slope))
    return f"{float(f'{b:.6g}'):g}*log({name}/{pivot:.6g})", pivot, error


def _rounded(formula: OpenFormula, name: str) -> str:
    values = [float(f"{number:.6g}") for number in formula.numbers]
    written = formula.written(values)
    return str(type(written)(written.tree, (name,)))
