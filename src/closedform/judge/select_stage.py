"""The second step: from what a search found to the formula that a rule chooses."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from closedform.basics.keywords import checked_keywords, required_kind
from closedform.basics.randomness import Randomness, as_generator
from closedform.basics.threads import single_threaded
from closedform.errors import ChoiceError
from closedform.expressions.json_files import JsonFormat
from closedform.field.gradient_field import GradientField
from closedform.field.neighborhoods import affordable
from closedform.judge.pool import Entry, Pool, gather
from closedform.judge.regions import Pair
from closedform.judge.rules import Choice, Contender, RuleLike, as_rule, choose, front_of
from closedform.searching.budget import UNHURRIED, Budget, as_budget
from closedform.searching.engine import SearchResult
from closedform.searching.space import SearchSpace, as_space

MOST_IN_CHOICE = 700
"""Points that the choice compares on: the logarithm of what a formula leaves is known to a tenth
from so many, and formulas are compared on the same ones."""

MOST_KEPT = 40
"""Contenders that a selection keeps: those of the best scores, and the front."""

_FORMAT = JsonFormat("closedform selection", schema=2, written_by="Selection.save")


@dataclass(frozen=True, slots=True)
class Selection:
    """What a rule has chosen from what a search found.

    Attributes
    ----------
    result : SearchResult
    contenders : tuple of Contender
        Forms that competed, best score first; none if the search found nothing.
    choice : Choice or None
    rule : str
        The rule's name.
    scales : (float, float)
        Typical squared errors of the best formulas, by directions and by values.
    counts : (float, float)
        As how many independent pieces of evidence each witness counts.
    """

    result: SearchResult
    contenders: tuple[Contender, ...]
    choice: Choice | None
    rule: str
    scales: Pair = (1.0, 1.0)
    counts: Pair = (1.0, 1.0)

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
    rule: RuleLike = "evidence",
    rng: Randomness = None,
    budget: float | Budget | None = None,
    space: SearchSpace | None = None,
) -> Selection:
    """Choose the concept from what a search found, on the points that the search saw.

    Parameters
    ----------
    result : SearchResult
        Of `closedform.search`, on this field.
    field : GradientField
    rule : {'evidence', 'steepest_drop', 'accuracy'}, int, or object with ``penalty(formula)``
        'evidence': what both witnesses, directions and values, leave over, and the length, in nats.
        'steepest_drop': the paper's. 'accuracy': the lowest misalignment. A number: the best of at
        most this complexity. An object: a prior, see `closedform.judge.rules.Prior`.
    rng : int, Generator or None
        Seed.
    budget : float, Budget or None
        When it is over, no more neighbours are made of what was found.
    space : SearchSpace, optional
        What neighbours may be made of.

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
    chosen_rule, generator = as_rule(rule), as_generator(rng)
    allowed = as_space(space)
    check_field(result, field)
    clock = (UNHURRIED if budget is None else as_budget(budget)).start()
    if not len(result.front):
        return Selection(result, (), None, chosen_rule.name)
    seen, most = np.asarray(result.seen), affordable(MOST_IN_CHOICE, len(field.names))
    few = field.subset(
        seen if len(seen) <= most else np.sort(generator.choice(seen, most, replace=False))
    )
    pool = gather(
        result.front, few, allowed,
        lambda formula, price: chosen_rule.cost(formula, price, result.costs, field.units),
        generator,
        used=lambda: 1.0 if result.status == "interrupted" else clock.used,
        floor=chosen_rule.floor,
    )  # fmt: skip
    every = [_contender(entry, pool, result) for entry in pool.ordered()]
    kept = {*range(MOST_KEPT), *front_of(every)} if every else set()
    contenders = tuple(one for place, one in enumerate(every) if place in kept)
    if not contenders:
        return Selection(result, (), None, chosen_rule.name)
    choice = choose(chosen_rule, contenders)
    return Selection(result, contenders, choice, chosen_rule.name, pool.scales, pool.counts)


def _contender(entry: Entry, pool: Pool, result: SearchResult) -> Contender:
    _, values = entry.fitted.heard.squares()
    return Contender(
        expression=entry.expression,
        complexity=entry.expression.complexity(result.costs),
        score=pool.score(entry),
        cost=entry.cost,
        misalignment=entry.misalignment(pool.witnesses),
        left=None if values is None else float(pool.witnesses.steepness @ values),
        errors=entry.fitted.errors,
        engine=entry.engine,
    )


def check_field(result: SearchResult, field: GradientField) -> None:
    """Make sure that a result belongs to a field."""
    if result.digest != field.digest():
        raise ChoiceError(
            "The search result belongs to another field; pass the field that was searched, "
            "as it was, or search this one."
        )
