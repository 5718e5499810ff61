"""The latent's values by the formula: phi(concept)."""

from typing import TYPE_CHECKING, Any

from closedform.arrays import FloatArray, as_points
from closedform.errors import ConceptError, ShapeError

if TYPE_CHECKING:
    from closedform.interpretation.answer import Interpretation


def predicted(answer: "Interpretation", points: Any) -> FloatArray:
    """phi(concept) at some points; see `Interpretation.predict`."""
    if answer.concept is None:
        raise ConceptError(
            "The search found no formula, so that nothing can be predicted; answer.next_steps says "
            "what to try."
        )
    if answer.phi is None:
        why = (
            "it is about several latents"
            if len(answer.concepts) > 1
            else "the latent's values were not known"
        )
        raise ConceptError(
            f"The answer has no phi, since {why}. answer.concept(points) has the formula's own "
            f"values, and answer.replace_in(model, inputs) fits phi in the network."
        )
    return answer.phi(answer.concept(as_points(_in_order(points, answer.names), len(answer.names))))


def _in_order(points: Any, names: tuple[str, ...]) -> Any:
    """The columns of a table that the formula is about; anything else as it is."""
    columns = list(getattr(points, "columns", ()))
    if not any(name in columns for name in names):
        return points
    missing = [name for name in names if name not in columns]
    if missing:
        raise ShapeError(
            f"The table has no column {missing[0]!r}; the formula is about {', '.join(names)}."
        )
    return points[list(names)]
