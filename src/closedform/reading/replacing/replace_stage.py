"""``answer.replace_in``: a copy of the network with the formula in the neurons' place."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.basics.keywords import suggestion
from closedform.canonical.constants import free_constants
from closedform.expressions.expression import Expression
from closedform.expressions.fitted_constants import fitted_positions
from closedform.expressions.tree import Constant
from closedform.interpretation.abilities import ability
from closedform.interpretation.answer import Interpretation
from closedform.networks.neuron import Neuron, parse_neurons
from closedform.networks.parametric_formula import Composition, ParametricFormula, TrainablePhi
from closedform.reading.replacing.phi_fit import ReplacementError, fit_one, fit_several

if TYPE_CHECKING:
    from closedform.networks.jax_replacement import FormulaFunction
    from closedform.networks.torch_replacement import FormulaNetwork


PHIS = ("auto", "spline", "formula")

TRAINABLE = ("fitted", "all")

UNSQUASHED = "without saturation"
"""In the note that says that the value before a squashing function was taken."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Outputs with a formula in the neurons' place, on points that phi was not fitted to.

    Attributes
    ----------
    change : float
        Root mean square change of the outputs, relative to their spread.
    latent_r2 : float
        Share of the neurons' variance that the formula explains.
    measure : str
        'accuracy' for classes, 'R2' for numbers; empty without targets.
    before, after : float or None
        The network's score against the targets, and the copy's.
    n_points : int
    """

    change: float
    latent_r2: float
    measure: str
    before: float | None
    after: float | None
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

    Parameters
    ----------
    original, replaced : ndarray, shape (n_points, n_outputs)
    latents : tuple of ndarray, shape (n_points, n_latents)
        The neurons' own values, and the formula's.
    targets : ndarray or None
        Whole numbers are classes: the output with the largest value, or the sign of a single one.

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
    copy = _replace_in_torch if _is_torch(model) else _replace_in_jax
    return copy(
        model, inputs, neurons, Plan(answer, formulas, phi), targets=targets, points_of=points_of
    )


class Plan:
    """What goes into a network, once the neurons' values are known.

    Parameters
    ----------
    kind : str
        Of phi.
    """

    def __init__(
        self, answer: Interpretation, formulas: tuple[ParametricFormula, ...], kind: str
    ) -> None:
        self.answer, self.formulas, self.kind = answer, formulas, kind

    def from_answer(self) -> Composition:
        """phi from the values that the answer has kept."""
        kept = self.answer.phi
        is_squashed = any(UNSQUASHED in note for note in self.answer.provenance.notes)
        if kept is None or len(self.formulas) > 1 or is_squashed:
            raise ReplacementError(
                "The answer does not hold the values of these neurons, or holds those before a "
                "squashing function; pass inputs=, a few hundred points of the network's data."
            )
        concept = np.array([*kept.concept_sample, *kept.concept])
        latent = np.array([*kept.latent_sample, *kept.latent])
        return Composition(self.formulas, fit_one(concept, latent, self.kind))

    def fitted(self, points: FloatArray, latents: FloatArray) -> Composition:
        """phi for the neurons' own values, shape (n_points, n_latents)."""
        columns = [formula.expression(points) for formula in self.formulas]
        return Composition(self.formulas, self._phi(np.stack(columns, axis=1), latents))

    def _phi(self, concepts: FloatArray, latents: FloatArray) -> TrainablePhi:
        if concepts.shape[1] == 1 and latents.shape[1] == 1:
            return fit_one(concepts[:, 0], latents[:, 0], self.kind)
        if self.kind != "auto":
            raise ReplacementError(
                f"phi={self.kind!r} is for one latent; {latents.shape[1]} latents of "
                f"{concepts.shape[1]} concepts get polynomials: leave phi out."
            )
        return fit_several(concepts, latents)


def cost_of(
    outputs: tuple[Any, Any], latents: tuple[FloatArray, FloatArray], targets: Any
) -> Cost | None:
    """What changed, where the outputs are one array."""
    if not all(hasattr(output, "shape") for output in outputs):
        return None
    flat = [np.asarray(output, dtype=np.float64) for output in outputs]
    flat = [array.reshape(len(array), -1) for array in flat]
    return measure_cost(flat[0], flat[1], latents, targets)


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


def _is_torch(model: Any) -> bool:
    import sys

    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def _replace_in_torch(
    model: Any,
    inputs: Any,
    neurons: tuple[Neuron, ...],
    plan: Plan,
    *,
    targets: Any,
    points_of: Callable[..., Any] | None,
) -> "FormulaNetwork":
    """phi is fitted on every second point, and the cost is measured on the others."""
    from closedform.networks.torch_replacement import FormulaNetwork, own_values, run_quietly

    if inputs is None:
        return FormulaNetwork(model, neurons, plan.from_answer(), points_of)
    values, output, points = own_values(model, neurons, inputs, points_of)
    composition = plan.fitted(points[::2], values[::2])
    copy = FormulaNetwork(model, neurons, composition, points_of)
    held = slice(1, None, 2)
    replaced, latents = run_quietly(copy, inputs)
    copy.cost = cost_of(
        (output[held], replaced[held]) if hasattr(output, "shape") else (None, None),
        (values[held], latents[held]),
        None if targets is None else np.asarray(targets)[held],
    )
    return copy


def _replace_in_jax(
    model: Any,
    inputs: Any,
    neurons: tuple[Neuron, ...],
    plan: Plan,
    *,
    targets: Any,
    points_of: Callable[..., Any] | None,
) -> "FormulaFunction":
    """phi is fitted on every second point, and the cost is measured on the others."""
    from closedform.networks.jax_replacement import FormulaFunction, own_values

    if inputs is None:
        composition = plan.from_answer()
        return FormulaFunction(model, neurons, composition, composition.trained(), points_of)
    given = np.asarray(inputs)
    values, output = own_values(model, neurons, given)
    points = given.reshape(len(given), -1) if points_of is None else np.asarray(points_of(given))
    composition = plan.fitted(points[::2].astype(np.float64), values[::2])
    copy = FormulaFunction(model, neurons, composition, composition.trained(), points_of)
    held = slice(1, None, 2)
    replaced = np.asarray(copy(copy.parameters, given[held]))
    latents = np.asarray(copy.latents(copy.parameters, given[held]))
    cost = cost_of(
        (output[held], replaced),
        (values[held], latents),
        None if targets is None else np.asarray(targets)[held],
    )
    return replace(copy, cost=cost)
