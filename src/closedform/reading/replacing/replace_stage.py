"""``answer.replace_in``: a copy of the network with the formula in the neurons' place."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.basics.keywords import suggestion
from closedform.canonical.constants import free_constants
from closedform.expressions.complexity import fitted_positions
from closedform.expressions.expression import Expression
from closedform.expressions.tree import Constant
from closedform.interpretation.abilities import ability
from closedform.interpretation.answer import Interpretation
from closedform.networks.neuron import Neuron, parse_neurons
from closedform.networks.parametric_formula import Composition, ParametricFormula, TrainablePhi
from closedform.reading.replacing.phi_fit import ReplacementError, fit_one, fit_several

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
    """Compare outputs of shape (n_points, n_outputs), and both with targets where there are any.

    original, replaced (n_points, n_outputs)
    latents (n_points, n_latents): the neurons' own values, and the formula's.
    targets: whole numbers are classes: the output with the largest value, or the sign of a single
        one.

    Examples
    --------
    >>> outputs = np.array([[0.0], [1.0], [2.0]])
    >>> measure_cost(outputs, outputs, (outputs, outputs), outputs[:, 0]).after
    1.0
    """
    spread = float(((original - original.mean(axis=0)) ** 2).mean())
    change = float(((replaced - original) ** 2).mean())
    measure, before, after = "", None, None
    if targets is not None:
        is_class = np.issubdtype(targets.dtype, np.integer) or targets.dtype == bool
        measure = "accuracy" if is_class else "R2"
        score = _accuracy if is_class else _r2
        before, after = score(original, targets), score(replaced, targets)
    return Cost(
        change=float(np.sqrt(change / spread)) if spread > 0 else 0.0,
        latent_r2=_r2(latents[1], latents[0]),
        measure=measure,
        before=before,
        after=after,
        n_points=len(original),
    )


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
    formulas = tuple(_opened(concept, trainable) for concept in _concepts(answer))
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


def _concepts(answer: Interpretation) -> tuple[Expression, ...]:
    concepts = answer.concepts or (() if answer.concept is None else (answer.concept,))
    if not concepts:
        raise ReplacementError("The answer has no formula to put into a network.")
    return tuple(concept.rename(answer.names) for concept in concepts)


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
