"""phi for a replacement: a simple formula where one fits, else a monotone spline; polynomials for
several latents.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import nnls

from closedform.arrays import FloatArray
from closedform.errors import ClosedformError
from closedform.expressions.evaluate import NUMPY
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.expressions.tree import Variable
from closedform.networks.parametric_formula import (
    DEGREE,
    FormulaPhi,
    ParametricFormula,
    PolynomialPhi,
    SplinePhi,
    TrainablePhi,
    terms_of,
)
from closedform.reading.curves.curve_form import Curve, CurveForm, fit_curve

PIECES = 16
"""Pieces of the spline: each has 50 or more of the usual thousand points."""

LEAST_STEP = 1e-7
"""Least step of the spline's coefficients as a share of the latent's range, about a float32's
rounding: what is flat still grows, so that phi can be inverted."""

WORTH = 2.0
"""A form with more numbers must lower the squared error so many times, as in the choice of a
concept."""

MOST_DEGREE = 5
_PLAIN = ("a + b*g", "a + b*log(g)", "a + b*sqrt(g)", "a + b/g", "a + b*g**2")
_EXP, _TANH = "a + b*exp(c*g)", "a + b*tanh(c*g + d)"


class ReplacementError(ClosedformError, ValueError):
    """A formula cannot be put in the place of neurons."""


@dataclass(frozen=True, slots=True)
class PhiFit:
    """A phi, and its mean squared error on points that it was not fitted to."""

    phi: TrainablePhi
    error: float


def fit_one(concept: FloatArray, latent: FloatArray, kind: str) -> TrainablePhi:
    """phi for one concept and one latent.

    concept, latent (n_points,)
    kind {'auto', 'spline', 'formula'}: 'auto' takes a formula unless the spline at least halves the
        squared error.

    Examples
    --------
    >>> concept = np.linspace(-1, 1, 200)
    >>> fit_one(concept, 3 - 2 * concept, "auto").trained()["phi"].round(6)
    array([ 3., -2.])
    """
    usable = np.isfinite(concept) & np.isfinite(latent)
    concept, latent = concept[usable], latent[usable]
    if len(concept) < 2 * PIECES or np.ptp(concept) == 0 or np.ptp(latent) == 0:
        raise ReplacementError(
            f"phi cannot be fitted: of {len(usable)} points {len(concept)} have finite values, and "
            f"concept and latent must both vary on {2 * PIECES} or more. Pass other inputs."
        )
    spline = PhiFit(*_fitted(concept, latent, fit_spline))
    if kind == "spline":
        return spline.phi
    formula = best_formula(concept, latent)
    if kind == "formula":
        if formula is None:
            raise ReplacementError("No simple formula can be fitted to phi; use phi='spline'.")
        return formula.phi
    rounding = (np.finfo(np.float32).eps * np.ptp(latent)) ** 2
    close = formula is not None and formula.error <= WORTH * max(spline.error, rounding)
    return formula.phi if formula is not None and close else spline.phi


def fit_spline(concept: FloatArray, latent: FloatArray) -> SplinePhi:
    """The monotone spline of least squares: with its coefficients as sums of steps, a problem of
    non-negative least squares, whose solution is unique.
    """
    from scipy.interpolate import BSpline  # slow to import, and no reading needs it

    sign = 1.0 if np.corrcoef(concept, latent)[0, 1] >= 0 else -1.0
    edges = np.unique(np.quantile(concept, np.linspace(0, 1, PIECES + 1)))
    knots = np.concatenate([[edges[0]] * DEGREE, edges, [edges[-1]] * DEGREE])
    basis = BSpline.design_matrix(concept, knots, DEGREE).toarray()
    sums = basis[:, ::-1].cumsum(axis=1)[:, ::-1]
    reach = np.ptp(latent)
    # Lifted by its own range, so that the first coefficient is positive as well.
    lifted = sign * latent - (sign * latent).min() + reach
    found, _ = nnls(sums, lifted)
    steps = np.maximum(found[1:], LEAST_STEP * reach)
    start = sign * (found[0] + (sign * latent).min() - reach)
    return SplinePhi(tuple(knots.tolist()), float(start), tuple(steps.tolist()), sign)


def fit_several(concepts: FloatArray, latents: FloatArray) -> PolynomialPhi:
    """Polynomials of the concepts; a higher degree must halve the squared error.

    concepts (n_points, n_concepts)
    latents (n_points, n_latents)
    """
    usable = np.isfinite(concepts).all(axis=1) & np.isfinite(latents).all(axis=1)
    concepts, latents = concepts[usable], latents[usable]
    fits: list[PhiFit] = []
    for degree in range(1, MOST_DEGREE + 1):
        exponents = tuple(
            powers
            for powers in product(range(degree + 1), repeat=concepts.shape[1])
            if sum(powers) <= degree
        )
        if len(exponents) * 4 > len(concepts):
            break
        fits.append(PhiFit(*_fitted(concepts, latents, _polynomial_of(exponents))))
    best = _worth(fits)
    if best is None:
        raise ReplacementError(
            f"{len(concepts)} points are too few for {concepts.shape[1]} concepts; pass more."
        )
    assert isinstance(best.phi, PolynomialPhi)
    return best.phi


def _polynomial_of(
    exponents: tuple[tuple[int, ...], ...],
) -> Callable[[FloatArray, FloatArray], PolynomialPhi]:
    def fit(concepts: FloatArray, latents: FloatArray) -> PolynomialPhi:
        centre, spread = concepts.mean(axis=0), concepts.std(axis=0) + np.finfo(float).tiny
        terms = terms_of((concepts - centre) / spread, exponents, np)
        coefficients = np.linalg.lstsq(terms, latents, rcond=None)[0]
        return PolynomialPhi(
            exponents, tuple(centre.tolist()), tuple(spread.tolist()), coefficients
        )

    return fit


def _fitted(
    concepts: FloatArray, latents: FloatArray, fit: Callable[[FloatArray, FloatArray], Any]
) -> tuple[TrainablePhi, float]:
    """What a fit to all points gives, with the error of a fit to two thirds on the last one."""
    held = np.arange(len(concepts)) % 3 == 0
    trial = fit(concepts[~held], latents[~held])
    return fit(concepts, latents), error_of(trial, concepts[held], latents[held])


def error_of(phi: TrainablePhi, concepts: FloatArray, latents: FloatArray) -> float:
    """Mean squared error."""
    numbers = phi.trained() | phi.fixed()
    columns = concepts if concepts.ndim == 2 else concepts[:, None]
    with np.errstate(all="ignore"):
        values = phi.value(columns, numbers, NUMPY)
    error = float(((values.reshape(latents.shape) - latents) ** 2).mean())
    return error if np.isfinite(error) else np.inf


def best_formula(concept: FloatArray, latent: FloatArray) -> PhiFit | None:
    """The simplest formula that none with more numbers beats clearly; None if none fits."""
    order, ones = np.argsort(concept, kind="stable"), np.ones(len(concept))
    curve = Curve(concept[order], latent[order], ones, ones)
    # A bend begins over the concept's spread, of an exponential to either side.
    scale = 1 / float(concept.std())
    bent = {_EXP: [[scale], [-scale]], _TANH: [[scale, -float(concept.mean()) * scale]]}
    firsts: list[PhiFit] = []
    for starts in ({text: [[]] for text in _PLAIN}, bent):
        forms = [_begun(text, bend, curve) for text, bends in starts.items() for bend in bends]
        fitted = [fit for form in forms if (fit := fit_curve(form, curve)) is not None]
        phis = [_formula_phi(fit.form) for fit in fitted]
        fits = [PhiFit(phi, error_of(phi, concept, latent)) for phi in phis]
        firsts += sorted(fits, key=lambda fit: fit.error)[:1]
    return _worth([fit for fit in firsts if np.isfinite(fit.error)])


def _worth(fits: Sequence[PhiFit]) -> PhiFit | None:
    """The first, or a later one that has more numbers and is worth them."""
    best = next(iter(fits), None)
    for fit in fits:
        best = fit if best is None or fit.error * WORTH < best.error else best
    return best


def _begun(text: str, bend: list[float], curve: Curve) -> CurveForm:
    """A form of g with its numbers, the first two of them from a line, which has one best fit."""
    tree = parse(text, names=["g", "a", "b", "c", "d"]).tree
    shape = CurveForm(tree, (0.0, 1.0, *bend)).at(curve.index)[0]
    slope, offset = 0.0, 0.0
    if np.isfinite(shape).all():
        slope, offset = np.polyfit(shape, curve.values, 1).tolist()
    return CurveForm(tree, (offset, slope, *bend))


def _formula_phi(form: CurveForm) -> FormulaPhi:
    places = {
        token.index: place
        for place, token in enumerate(form.tree.tokens)
        if isinstance(token, Variable)
    }
    positions = tuple(places[1 + number] for number in range(len(form.numbers)))
    return FormulaPhi(ParametricFormula(Expression(form.written, ("g",)), positions))
