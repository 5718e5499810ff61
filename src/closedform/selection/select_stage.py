"""The second step: from what a search found to the formula that a rule chooses."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from closedform.errors import ChoiceError
from closedform.expressions.json_files import JsonFormat
from closedform.field.gradient_field import GradientField
from closedform.keywords import checked_keywords, required_kind
from closedform.randomness import Randomness, as_generator
from closedform.searching.budget import Budget, as_budget
from closedform.searching.result import SearchResult
from closedform.selection.contenders import Contender, gather
from closedform.selection.regions import systematic_shares
from closedform.selection.rules import Choice, RuleLike, Scene, as_rule, choose
from closedform.selection.tolerances import MOST_IN_CHOICE
from closedform.selection.unit_charge import charged
from closedform.threads import single_threaded

_FORMAT = JsonFormat("closedform selection", schema=1, written_by="Selection.save")


@dataclass(frozen=True, slots=True)
class Selection:
    """What a rule has chosen from what a search found.

    Attributes
    ----------
    result : SearchResult
    contenders : tuple of Contender
        Forms that competed, in the rule's order; none if the search found nothing.
    choice : Choice or None
    rule : str
        The rule's name.
    """

    result: SearchResult
    contenders: tuple[Contender, ...]
    choice: Choice | None
    rule: str

    @property
    def chosen(self) -> Contender | None:
        """The chosen contender; None if there is none."""
        return None if self.choice is None else self.contenders[self.choice.index]

    def save(self, path: str | Path) -> None:
        """Write the selection as JSON; `Selection.load` reads it."""
        _FORMAT.write(_FORMAT.plain(self), path)

    @classmethod
    def load(cls, path: str | Path) -> "Selection":
        """Read what `save` wrote.

        Raises
        ------
        StorageError
            If the file is missing, or is not such a file.
        """
        return _FORMAT.load(path, lambda content: _FORMAT.structured(content, cls))


@single_threaded
@checked_keywords
def select(
    result: SearchResult,
    field: GradientField,
    *,
    rule: RuleLike = "factor",
    rng: Randomness = None,
    budget: float | Budget | None = None,
) -> Selection:
    """Choose the concept from what a search found, on the points that the search saw.

    Parameters
    ----------
    result : SearchResult
        Of `closedform.search`, on this field.
    field : GradientField
    rule : {'factor', 'steepest_drop', 'accuracy'}, int, or object with ``penalty(formula)``
        'factor': the simplest that no more complex one beats by a factor of 2 for each added term
        or constant, with a bootstrap interval over regions that excludes a tie. 'steepest_drop':
        the paper's. 'accuracy': the lowest misalignment. A number: the best of at most this
        complexity. An object: a prior, see `closedform.selection.rules.Prior`.
    rng : int, Generator or None
        Seed.
    budget : float, Budget or None
        When it is over, formulas are compared as the search wrote them, without canonical forms.

    Returns
    -------
    Selection
        `closedform.verify` judges it.

    Raises
    ------
    ChoiceError
        If the rule is unknown, no contender meets it, or the result belongs to another field.

    Examples
    --------
    >>> import closedform as cf
    >>> points = np.random.default_rng(0).uniform(1, 2, (300, 2))
    >>> field = cf.GradientField.from_arrays(points, points[:, ::-1], names=["x", "y"])
    >>> result = cf.search(field, engine="terms", budget=cf.Budget(evaluations=500), rng=0)
    >>> print(cf.select(result, field, rng=0).chosen.expression)
    x*y
    """
    required_kind(result, SearchResult, "result", "pass what closedform.search returned")
    chosen_rule, generator = charged(as_rule(rule), field.units), as_generator(rng)
    check_field(result, field)
    clock = None if budget is None else as_budget(budget).start()
    if not len(result.front):
        return Selection(result, (), None, chosen_rule.name)
    seen = np.asarray(result.seen)
    few = field.subset(
        seen
        if len(seen) <= MOST_IN_CHOICE
        else np.sort(generator.choice(seen, MOST_IN_CHOICE, replace=False))
    )
    contenders, scores = gather(
        result.front, few, chosen_rule, generator, result.costs,
        clock=clock,
    )  # fmt: skip
    if not contenders:
        return Selection(result, (), None, chosen_rule.name)
    shares = systematic_shares([contender.expression for contender in contenders], few)
    scene = Scene(contenders, scores, field.quality.noise_misalignment, generator, shares)
    return Selection(result, contenders, choose(chosen_rule, scene), chosen_rule.name)


def check_field(result: SearchResult, field: GradientField) -> None:
    """Make sure that a result belongs to a field.

    Raises
    ------
    ChoiceError
        If it does not.
    """
    if result.digest != field.digest():
        raise ChoiceError(
            "The search result belongs to another field; pass the field that was searched, "
            "as it was, or search this one."
        )
