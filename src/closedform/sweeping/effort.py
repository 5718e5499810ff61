"""How much is spent on a neuron: the term search first, and a second engine where that leaves
something to explain.
"""

from dataclasses import dataclass, replace

from closedform.basics.keywords import checked_constructor
from closedform.errors import BudgetError
from closedform.field.alignment.tolerances import PERFECT
from closedform.field.gradient_field import GradientField
from closedform.interpretation.answer import Interpretation
from closedform.interpretation.verdict import STATUSES
from closedform.reading.one_field import interpret_field
from closedform.searching.budget import Budget
from closedform.searching.portfolio import NOISE_FACTOR


@checked_constructor
@dataclass(frozen=True, slots=True)
class Effort:
    """How much to spend on one neuron, in evaluations, so that the answer does not depend on the
    machine or its load.

    Attributes
    ----------
    terms : int
        For the first reading, by the term search alone; 0 skips it.
    evaluations : int
        For the second reading, by `engine`; 0 skips it.
    engine : str
        Of the second reading: auto, evolution, or another.
    rule : str or int
        How the concept is chosen; see `closedform.interpret_field`.

    Examples
    --------
    >>> Effort().engine
    'auto'
    """

    terms: int = 1000
    evaluations: int = 20_000
    engine: str = "auto"
    rule: str | int = "evidence"

    def __post_init__(self) -> None:
        if min(self.terms, self.evaluations) < 0 or self.terms + self.evaluations == 0:
            given = f"terms={self.terms} and evaluations={self.evaluations}"
            raise BudgetError(
                f"A neuron needs a positive number of evaluations; got {given}. Pass 0 or more for "
                "each, and more than 0 for one."
            )


def read_with(effort: Effort, field: GradientField, seed: int) -> tuple[Interpretation, str]:
    """Read a field; the answer, and what it took: 'terms' or the name of the second engine."""
    if effort.engine == "terms":
        effort = replace(
            effort, engine="auto", terms=effort.terms or effort.evaluations, evaluations=0
        )
    enough = max(PERFECT, NOISE_FACTOR * field.quality.noise_misalignment)
    first = None
    if effort.terms:
        # What the noise of the directions leaves unexplained no formula explains.
        target = enough if enough > PERFECT else None
        budget = Budget(evaluations=effort.terms, target=target)
        first = interpret_field(field, engine="terms", budget=budget, rng=seed, rule=effort.rule)
        if not effort.evaluations or first.verdict.status == "verified" or first.floor <= enough:
            return first, "terms"
    budget = Budget(evaluations=effort.evaluations)
    second = interpret_field(field, engine=effort.engine, budget=budget, rng=seed, rule=effort.rule)
    if first is not None and _rank(first) < _rank(second):
        return first, "terms"
    return second, effort.engine


def _rank(found: Interpretation) -> tuple[int, float]:
    """Smaller is better: the verdict, then the misalignment."""
    order = STATUSES.index(found.verdict.status)
    return order, found.alignment.misalignment if found.alignment is not None else 1.0
