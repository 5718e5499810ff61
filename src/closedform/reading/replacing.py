"""``answer.replace_in``: a copy of the network with the formula in the neurons' place.

phi comes between them: a simple formula where one fits, else a monotone spline; polynomials for
several latents. What the copy costs is measured on points that phi was not fitted to.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import nnls

from closedform.arrays import FloatArray
from closedform.basics.keywords import suggestion
from closedform.canonical.constants import free_constants
from closedform.errors import ClosedformError
from closedform.expressions.complexity import fitted_positions
from closedform.expressions.expression import Expression
from closedform.expressions.libraries import NUMPY
from closedform.expressions.parse import parse
from closedform.expressions.tree import Constant, Variable
from closedform.interpretation.answer import Interpretation, ability
from closedform.networks.neuron import Neuron, parse_neurons
from closedform.networks.parametric_formula import (
    DEGREE,
    Composition,
    FormulaPhi,
    ParametricFormula,
    PolynomialPhi,
    SplinePhi,
    TrainablePhi,
    terms_of,
)
from closedform.reading.curve_form import Curve, CurveForm, fit_curve

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
    """phi for one concept and one latent: a formula unless the spline halves its squared error."""
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
    """The monotone spline of least squares, which is unique."""
    # With its coefficients as sums of steps it is a problem of non-negative least squares.
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
    """Polynomials of the concepts; a higher degree must halve the squared error."""
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


PHIS = ("auto", "spline", "formula")

TRAINABLE = ("fitted", "all")

UNSQUASHED = "without saturation"
"""In the note that says that the value before a squashing function was taken."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Outputs with a formula in the neurons' place, on points that phi was not fitted to."""

    change: float  #: root mean square change of the outputs, relative to their spread
    latent_r2: float  #: share of the neurons' variance that the formula explains
    measure: str  #: 'accuracy' for classes, 'R2' for numbers; empty without targets
    before: float | None  #: the network's score against the targets
    after: float | None  #: the copy's
    n_points: int

    def __str__(self) -> str:
        told = (
            f"outputs change by {self.change:.2%} of their spread; the formula explains "
            f"{self.latent_r2:.4%} of the neurons' variance ({self.n_points} points)"
        )
        if self.before is None or self.after is None:
            return told
        return f"{self.measure} {self.before:.4f} before, {self.after:.4f} after; {told}"


def measure_cost(
    original: FloatArray,
    replaced: FloatArray,
    latents: tuple[FloatArray, FloatArray],
    targets: FloatArray | None,
) -> Cost:
    """Compare outputs, and both with targets; whole numbers are classes."""
    spread = float(((original - original.mean(axis=0)) ** 2).mean())
    change = float(((replaced - original) ** 2).mean())
    measure, before, after = "", None, None
    if targets is not None:
        is_class = np.issubdtype(targets.dtype, np.integer) or targets.dtype == bool
        measure = "accuracy" if is_class else "R2"
        score = _accuracy if is_class else _r2
        before, after = score(original, targets), score(replaced, targets)
    relative = float(np.sqrt(change / spread)) if spread > 0 else 0.0
    return Cost(relative, _r2(latents[1], latents[0]), measure, before, after, len(original))


def _accuracy(outputs: FloatArray, targets: FloatArray) -> float:
    predicted = outputs.argmax(axis=1) if outputs.shape[1] > 1 else (outputs[:, 0] > 0).astype(int)
    return float((predicted == targets.reshape(len(targets), -1)[:, 0]).mean())


def _r2(outputs: FloatArray, targets: FloatArray) -> float:
    wanted = targets.reshape(len(targets), -1)
    left = ((outputs.reshape(wanted.shape) - wanted) ** 2).sum()
    return float(1 - left / ((wanted - wanted.mean(axis=0)) ** 2).sum())


@ability("replace_in")
def replace_in(
    answer: Interpretation,
    model: Any,
    inputs: Any = None,
    *,
    neuron: Any = None,
    targets: Any = None,
    phi: str = "auto",
    trainable: str = "fitted",
    points_of: Callable[..., Any] | None = None,
) -> Any:
    """See `Interpretation.replace_in`."""
    _known("phi", phi, PHIS)
    _known("trainable", trainable, TRAINABLE)
    if not answer.formulas:
        raise ReplacementError("The answer has no formula to put into a network.")
    concepts = (concept.rename(answer.names) for concept in answer.formulas)
    formulas = tuple(_opened(concept, trainable) for concept in concepts)
    neurons = _neurons(answer, neuron)
    frame = _framework(model)
    if inputs is None:
        found = _phi_of_answer(answer, formulas, phi)
        return frame.build(model, neurons, Composition(formulas, found), points_of)
    # phi is fitted on every second point, and the cost is measured on the others.
    values, output, points = frame.own_values(model, neurons, inputs, points_of)
    concepts = np.stack([formula.expression(points[::2]) for formula in formulas], axis=1)
    composition = Composition(formulas, _fitted_phi(concepts, values[::2], phi))
    copy = frame.build(model, neurons, composition, points_of)
    replaced, latents = frame.run_held(copy, inputs)
    if replaced is None or not hasattr(output, "shape"):  # a cost is that of one array
        return copy
    wanted = None if targets is None else np.asarray(targets)[1::2]
    flat = [
        np.asarray(one, dtype=np.float64).reshape(len(one), -1) for one in (output[1::2], replaced)
    ]
    return frame.with_cost(copy, measure_cost(flat[0], flat[1], (values[1::2], latents), wanted))


def _phi_of_answer(
    answer: Interpretation, formulas: Sequence[ParametricFormula], kind: str
) -> TrainablePhi:
    """phi from the values that the answer has kept."""
    kept = answer.phi
    is_squashed = any(UNSQUASHED in note for note in answer.provenance.notes)
    if kept is None or len(formulas) > 1 or is_squashed:
        raise ReplacementError(
            "The answer does not hold the values of these neurons, or holds those before a "
            "squashing function; pass inputs=, a few hundred points of the network's data."
        )
    concept = np.array([*kept.concept_sample, *kept.concept])
    latent = np.array([*kept.latent_sample, *kept.latent])
    return fit_one(concept, latent, kind)


def _fitted_phi(concepts: FloatArray, latents: FloatArray, kind: str) -> TrainablePhi:
    """phi for the neurons' own values, shape (n_points, n_latents)."""
    if concepts.shape[1] == 1 and latents.shape[1] == 1:
        return fit_one(concepts[:, 0], latents[:, 0], kind)
    if kind != "auto":
        raise ReplacementError(
            f"phi={kind!r} is for one latent; {latents.shape[1]} latents of "
            f"{concepts.shape[1]} concepts get polynomials: leave phi out."
        )
    return fit_several(concepts, latents)


def _opened(concept: Expression, trainable: str) -> ParametricFormula:
    """The concept with its numbers as arguments: the fitted ones, or all but exponents."""
    tokens = concept.tree.tokens
    if trainable == "fitted":
        return ParametricFormula(concept, fitted_positions(concept.tree))
    places = [free.position for free in free_constants(concept)]
    return ParametricFormula(
        concept, tuple(place for place in places if isinstance(tokens[place], Constant))
    )


def _neurons(answer: Interpretation, given: Any) -> tuple[Neuron, ...]:
    chosen = given if given is not None else list(answer.provenance.neuron) or None
    if chosen is None:
        raise ReplacementError(
            "The answer does not say which neuron it was read from (it came from a field, or from "
            "a direction or a function); pass neuron=, as in closedform.interpret."
        )
    return parse_neurons(chosen)


def _known(keyword: str, word: str, known: Sequence[str]) -> None:
    if word not in known:
        raise ReplacementError(
            f"{keyword}={word!r} is not one of {', '.join(known)}{suggestion(word, known) or '.'}"
        )


def _framework(model: Any) -> Any:
    """The module that replaces neurons in networks of this kind; both have the same functions."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(model, torch.nn.Module):
        from closedform.networks import torch_replacement as frame
    else:
        from closedform.networks import jax_layers as frame
    return frame
