"""The set: which formulas the field cannot tell from the concept, and which are better than it.

Rivals come from the searches, from the user, and are made of the concept. Each pays for its
description; what is not clearly dearer than the concept is in the set.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from closedform.alignment.misalignment import TRIM, chance_level
from closedform.expressions.expression import Expression
from closedform.expressions.fitted_constants import fitted_positions
from closedform.field.gradient_field import GradientField
from closedform.field.neighborhoods import MOST_LOOKED_AT
from closedform.interpretation.evidence import Misfit, Rival
from closedform.searching.budget import UNHURRIED, Budget
from closedform.searching.space import SearchSpace
from closedform.selection.regions import divide
from closedform.verification.contest import Contest, Form, hold_contest, near_ones
from closedform.verification.made_rivals import make_rivals, rival_space
from closedform.verification.residuals import split
from closedform.verification.rival_judge import RivalJudge
from closedform.verification.same_form import free_positions, with_all_constants
from closedform.verification.thresholds import Thresholds

N_JUDGED, N_CELLS = 1500, 40
"""Points at which rivals are compared, and regions in which an error counts once."""

MAKING = 0.4
"""Share of the time for making rivals; the rest is for fitting and comparing them."""

Known = tuple[Expression, str]
"""Another formula, and where it comes from."""


@dataclass(frozen=True, slots=True)
class Contested:
    """What the contest said.

    Attributes
    ----------
    fit : Misfit
    rivals : tuple of Rival
        Those in the set first, best first.
    loosened : Expression or None
        The concept with its plain numbers fitted, where these are clearly off.
    n_compared : int
        How many forms were compared.
    is_complete : bool
        Whether the time was enough to make all rivals.
    """

    fit: Misfit
    rivals: tuple[Rival, ...]
    loosened: Expression | None
    n_compared: int
    is_complete: bool = True

    @property
    def alternatives(self) -> tuple[Rival, ...]:
        """Those that the field cannot tell from the concept."""
        return tuple(rival for rival in self.rivals if rival.is_alternative)


def compare_all(
    concept: Expression,
    known: Sequence[Known],
    field: GradientField,
    space: SearchSpace,
    lines: Thresholds,
    rng: np.random.Generator,
    *,
    is_network: bool,
    is_fixed: bool = False,
    make: bool = True,
    floor: float = 0.0,
    budget: Budget = UNHURRIED,
) -> Contested:
    """Fit the concept and its rivals on halves of the points, and see which the field tells apart.

    Parameters
    ----------
    concept : Expression
    known : sequence of (Expression, str)
        Formulas that searches found or the user has in mind.
    field : GradientField
        All points.
    space : SearchSpace
        Of the search; rivals are made in a wider one.
    lines : Thresholds
    rng : Generator
    is_network : bool
        Whether a network's own error may be in the field.
    is_fixed : bool
        Whether the concept's constants stay as they are: a stated formula.
    make : bool
        Whether rivals are made.
    floor : float
        Misalignments below it count as this one.
    budget : Budget
        When it is over, few rivals are made, and few get plain numbers.
    """
    clock, making = budget.start(), budget.share(MAKING).start()
    few = field.subset(_different(field, rng))
    own = concept.rename(field.names)
    forms: list[Form] = [
        (own, () if is_fixed else fitted_positions(own.tree)),
        with_all_constants(own),
    ]
    sources = ["own", "own"]
    for other, source in known:
        form = other.rename(field.names)
        if form.tree != own.tree:
            forms.append((form, () if source == "given" else fitted_positions(form.tree)))
            sources.append(source)
    n_known = len(forms) - 2
    made, is_complete = {}, True
    if make:
        made, is_complete = make_rivals(
            own, few, rival_space(space), rng, may_go_on=lambda: making.stop_reason() is None
        )
    rivals = [(Expression(tree, field.names), free) for tree, free in made.items()]
    forms += near_ones((own, free_positions(own.tree, field.names)), rivals, few, lines.price[1])
    sources += ["made"] * (len(forms) - len(sources))
    cells = _cells(few, rng)
    contest = hold_contest(forms, few, cells, lines.significance, rng)
    fit = _fit(contest, few, lines, is_network=is_network)
    judge = RivalJudge(
        contest, sources, few, fit, lines, space, rng, floor, lambda: clock.stop_reason() is None
    )
    compared = n_known + len(made)
    return Contested(fit, judge.rivals(), judge.loosened(), compared, is_complete)


def _different(field: GradientField, rng: np.random.Generator) -> NDArray[np.int64]:
    """Some usable points, each of them once: copies would pass for neighbours that agree."""
    usable = np.flatnonzero(field.weights > 0)
    if len(usable) > MOST_LOOKED_AT:
        usable = np.sort(rng.choice(usable, MOST_LOOKED_AT, replace=False))
    first = np.unique(field.points[usable], axis=0, return_index=True)[1]
    return np.sort(rng.permutation(usable[first])[:N_JUDGED])


def _cells(field: GradientField, rng: np.random.Generator) -> NDArray[np.int64]:
    return np.maximum(divide(field, rng, N_CELLS), 0)


def _fit(contest: Contest, field: GradientField, lines: Thresholds, *, is_network: bool) -> Misfit:
    """The concept's misalignment in its parts, and what can have caused them."""
    left = np.nan_to_num(contest.left[0], nan=1.0)
    sizes = (left**2).sum(axis=1)
    kept = sizes <= np.quantile(sizes, 1 - TRIM)
    parts = split(left[kept], field.points[kept] / field.scale)
    (low, high), chance = lines.network_error, chance_level(field.rank, field.tangent.rank)
    if parts.total <= lines.rounding:
        kind = "exact"
    elif parts.z < lines.significance:
        kind = "noise"
    elif is_network and low <= parts.total <= high * chance:
        kind = "network"
    else:
        kind = "lack"
    return Misfit(parts.total, parts.systematic, parts.z, kind)


def without_refuted(outcome: Contested, refuted: Sequence[bool]) -> Contested:
    """The outcome with some of its alternatives told apart after all."""
    told = iter(refuted)
    rivals = tuple(
        replace(rival, is_alternative=not next(told)) if rival.is_alternative else rival
        for rival in outcome.rivals
    )
    return replace(outcome, rivals=tuple(sorted(rivals, key=lambda r: not r.is_alternative)))
