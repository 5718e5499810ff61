"""The baseline: direct symbolic regression of the latent's values on the inputs, without the
answers.
"""

from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.searching.evolution.regression import regress
from closedform.searching.space import SearchSpace


def regress_latent(
    field: GradientField, *, seconds: float, seed: int = 0, space: SearchSpace | None = None
) -> list[Expression]:
    """Fit formulas to the latent of a field with pyoperon's own regressor.

    Parameters
    ----------
    field : GradientField
        With the latent's values.
    seconds : float
        As much as the reading gets.
    seed : int
    space : SearchSpace, optional
        Its operators are allowed; those of the reading by default.

    Returns
    -------
    list of Expression
        The front, most accurate first.
    """
    if field.latents is None:
        raise ValueError("The field has no values of its latent; extract it from a network.")
    counted = field.weights > 0
    points, latents = field.points[counted], field.latents[counted, 0]
    return regress(points, latents, field.names, space or SearchSpace(), seconds=seconds, seed=seed)
