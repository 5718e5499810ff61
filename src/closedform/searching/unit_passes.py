"""A search of a field whose units are known: first formulas whose constants are pure numbers, then
those whose fitted constants carry units.

If every constant could carry a unit from the start, every sum would be possible and nothing would
be gained. So the first pass is strict, which makes its space small, and the second one only runs
where the first left something to explain.
"""

from dataclasses import replace

import numpy as np

from closedform.basics.progress import Progress
from closedform.errors import UnitsError
from closedform.expressions.complexity import Costs
from closedform.expressions.expression import Expression
from closedform.expressions.legality import Legality, charge
from closedform.expressions.parse import parse
from closedform.expressions.units import Units
from closedform.field.alignment.tolerances import PERFECT
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Budget
from closedform.searching.engine import Engine, SearchResult
from closedform.searching.front import Front
from closedform.searching.space import SearchSpace

STRICT_SHARE = 0.8
"""Of the budget, for formulas of pure numbers: they are what units are stated for."""


def check_given(space: SearchSpace, field: GradientField) -> None:
    """Refuse terms and guesses that the field's units make impossible, before the search.

    Raises
    ------
    UnitsError
        With the first of them.
    """
    for item in (*space.terms, *space.guesses):
        formula = parse(item, names=field.names) if isinstance(item, str) else item
        require_possible(formula, field)


def require_possible(formula: Expression, field: GradientField, what: str = "formula") -> None:
    """Refuse a formula that the field's units make impossible.

    Numbers that people write (integers and simple fractions) are pure; others may carry units
    unless the field's `Units` forbid it.

    Parameters
    ----------
    formula : Expression
    field : GradientField
    what : str
        What it is to the user, for the message.

    Raises
    ------
    UnitsError
    """
    if field.units is None:
        return
    loose = Legality(field.units, may_carry=not field.units.pure_numbers)
    if loose.allows(formula.tree, formula.names):
        return
    raise UnitsError(
        f"The units {field.units.text} make the {what} {str(formula)!r} impossible: it adds "
        f"different units, or takes a function of one. Correct the units, or leave it out."
    )


def search_with_units(
    engine: Engine,
    field: GradientField,
    space: SearchSpace,
    budget: Budget,
    rng: np.random.Generator,
    progress: Progress,
) -> SearchResult:
    """What an engine finds among the formulas that a field's units allow.

    Parameters
    ----------
    engine : Engine
    field : GradientField
        With units.
    space, budget, rng, progress
        As an engine takes them.

    Returns
    -------
    SearchResult
    """
    units = field.units
    assert units is not None
    strict = replace(space, legality=Legality(units, may_carry=False))
    if units.pure_numbers:
        return engine.search(field, strict, budget, rng, progress)
    clock = budget.start()
    first = engine.search(field, strict, budget.share(STRICT_SHARE), rng, progress)
    clock.evaluations += first.evaluations
    lowest = first.front.best.misalignment if first.front.best else 1.0
    enough = max(PERFECT, 1.1 * field.quality.noise_misalignment)
    if first.status == "interrupted" or lowest <= enough or clock.stop_reason(lowest) is not None:
        return first
    loose = replace(space, legality=Legality(units, may_carry=True))
    second = engine.search(field, loose, clock.remaining(), rng, progress)
    return replace(
        second,
        front=_merged(first.front, second.front, units, space.costs),
        statistics={
            **second.statistics,
            "seconds": clock.seconds,
            "evaluations": first.evaluations + second.evaluations,
            "pure_numbers": dict(first.statistics),
        },
        structure=first.structure or second.structure,
    )


def _merged(strict: Front, loose: Front, units: Units, costs: Costs) -> Front:
    """Both fronts, with each constant that carries a unit counted like a further input."""
    each = costs.variable + costs.of("mul")
    charged = []
    for one in loose:
        extra = charge(one.expression.tree, units, one.expression.names)
        if np.isfinite(extra):
            charged.append(replace(one, complexity=one.complexity + round(extra) * each))
    return Front.of([*strict, *charged])
