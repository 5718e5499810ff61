"""``answer.replace_in``: a copy of the network with the formula in the neurons' place."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.canonical.constants import free_constants
from closedform.expressions.expression import Expression
from closedform.expressions.fitted_constants import fitted_positions
from closedform.expressions.tree import Constant
from closedform.interpretation.abilities import ability
from closedform.interpretation.answer import Interpretation
from closedform.keywords import suggestion
from closedform.networks.neuron import Neuron, parse_neurons
from closedform.networks.open_formula import Composition, OpenFormula, TrainablePhi
from closedform.replacing.cost import Cost, measure_cost
from closedform.replacing.phi_fit import ReplacementError, fit_one, fit_several

PHIS = ("auto", "spline", "formula")
TRAINABLE = ("fitted", "all")
UNSQUASHED = "without saturation"
"""In the note that says that the value before a squashing function was taken."""


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
    if _is_torch(model):
        from closedform.replacing.torch_copy import replace_in_torch as replace
    else:
        from closedform.replacing.jax_copy import replace_in_jax as replace
    return replace(
        model, inputs, neurons, Plan(answer, formulas, phi), targets=targets, points_of=points_of
    )


class Plan:
    """What goes into a network, once the neurons' values are known.

    Parameters
    ----------
    answer : Interpretation
    formulas : tuple of OpenFormula
    kind : str
        Of phi.
    """

    def __init__(
        self, answer: Interpretation, formulas: tuple[OpenFormula, ...], kind: str
    ) -> None:
        self.answer, self.formulas, self.kind = answer, formulas, kind

    def from_answer(self) -> Composition:
        """phi from the values that the answer has kept.

        Raises
        ------
        ReplacementError
            If it has none, or those before a squashing function.
        """
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


def _opened(concept: Expression, trainable: str) -> OpenFormula:
    """The concept with its numbers as arguments: the fitted ones, or all but exponents."""
    tokens = concept.tree.tokens
    if trainable == "fitted":
        return OpenFormula(concept, fitted_positions(concept.tree))
    places = [free.position for free in free_constants(concept)]
    return OpenFormula(
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
