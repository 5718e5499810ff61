"""The third step: is this formula what the network computes? The evidence, and the verdict on
it.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

import closedform.report  # noqa: F401  gives answers their reports and plots
from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.interpretation.answer import Interpretation, Provenance
from closedform.interpretation.verdict import CheckResult
from closedform.keywords import KeywordError, checked_keywords, required_kind, suggestion
from closedform.live_progress import ProgressLike, choose_progress
from closedform.randomness import Randomness, as_seed
from closedform.searching.budget import Budget, as_budget
from closedform.searching.compilation import compile_engines
from closedform.searching.engine import Engine
from closedform.searching.registry import get_engine
from closedform.searching.space import SearchSpace, as_space
from closedform.selection.contenders import Contender
from closedform.selection.rules import RuleLike, as_rule
from closedform.selection.select_stage import Selection, check_field
from closedform.threads import single_threaded
from closedform.verification.case import chosen_case, stated_case
from closedform.verification.checks import Check, all_checks
from closedform.verification.deciding import Circumstances, decide
from closedform.verification.further_searches import SecondSearch
from closedform.verification.judgement import nothing_found, undecided
from closedform.verification.measurement import measure
from closedform.verification.queries import Query
from closedform.verification.stated_formula import as_formula
from closedform.verification.thresholds import Thresholds, as_thresholds
from closedform.verification.tolerances_in_force import tolerances_in_force
from closedform.verification.units_check import units_checks
from closedform.versions import versions

RivalsLike = Literal["auto"] | Sequence[Expression | str] | None


@single_threaded
@checked_keywords
def verify(
    formula: str | Expression | Selection,
    field: GradientField,
    *,
    rivals: RivalsLike = "auto",
    checks: Sequence[Check] | None = None,
    thresholds: Thresholds | None = None,
    budget: float | Budget = 60.0,
    rng: Randomness = None,
    engine: str | Engine | None = None,
    space: SearchSpace | None = None,
    rule: RuleLike | None = None,
    hypothesis: str | Expression | None = None,
    query: Query | None = None,
    progress: ProgressLike = None,
) -> Interpretation:
    """Judge a formula: is what the network computes an invertible function of it?

    Parameters
    ----------
    formula : str, Expression or Selection
        A selection is judged on the points that its search has not seen. Your own formula is judged
        on all points, with its constants as given.
    field : GradientField
    rivals : 'auto', None, or sequence of str or Expression
        What the formula is compared with. 'auto' searches (for a selection two halves of the data,
        for a formula 70% of it), and builds rivals from the formula itself. None compares with
        nothing; checks that need other formulas are then not made, and the verdict says so. If you
        pass a list, only its formulas are compared.
    checks : sequence of Check, optional
        Checks in addition to the built-in ones; see `closedform.verification.checks.Check`.
    thresholds : Thresholds, optional
        Where the verdict draws its lines.
    budget : float or Budget
        For searches, after compilation.
    rng : int, Generator or None
        Seed.
    engine, space
        Engine and space of the searches; by default the selection's own engine, or 'auto', and the
        usual space.
    rule : optional
        As in `closedform.select`; the selection's own by default.
    hypothesis : str or Expression, optional
        A formula to compare the concept with. If it fits as well, it is among the alternatives.
    query : callable, optional
        From points (n_points, n_inputs) to the network's gradients there. It is asked where the
        concept and other formulas that fit as well point most differently.
    progress : bool, str, Progress or None
        None shows progress in a terminal or notebook, False never.

    Returns
    -------
    Interpretation

    Examples
    --------
    >>> import closedform as cf
    >>> points = np.random.default_rng(0).uniform(1, 2, (300, 2))
    >>> field = cf.GradientField.from_arrays(points, points[:, ::-1], names=["x", "y"])
    >>> cf.verify("x*y", field, rivals=None, rng=0).verdict.status
    'verified'
    >>> cf.verify("x - y", field, rivals=None, rng=0).verdict.status
    'none'
    """
    required_kind(
        formula,
        (str, Expression, Selection),
        "formula",
        "pass text, an Expression, or what closedform.select returned",
    )
    seed, limits = as_seed(rng), as_budget(budget)
    selection = formula if isinstance(formula, Selection) else None
    if selection is not None:
        check_field(selection.result, field)
    own_rule, own_engine = (
        ("factor", "auto") if selection is None else (selection.rule, selection.result.engine)
    )
    how = SecondSearch(
        get_engine(own_engine if engine is None else engine),
        as_space(space),
        as_rule(_named(own_rule) if rule is None else rule),
        limits,
        choose_progress(progress),
    )
    given = _given_rivals(rivals, field)
    lines, tests = as_thresholds(thresholds), (*all_checks(checks), *units_checks(field))
    stated = None if isinstance(formula, Selection) else as_formula(formula, field)
    guess = None if hypothesis is None else as_formula(hypothesis, field, "hypothesis")
    compile_engines()
    clock = limits.start()
    provenance = _provenance(selection, how, seed)
    hopeless = undecided(field)
    if hopeless is None and selection is not None and selection.chosen is None:
        hopeless = nothing_found(
            "The search found no formula; widen the space or give it more time."
        )
    if hopeless is not None:
        return Interpretation(field.names, hopeless, field.quality, provenance)
    generator = np.random.default_rng(seed)
    floor = float(getattr(how.rule, "floor", 0.0))
    about = Circumstances(field, selection, how.space, lines, query, guess, floor)
    if selection is not None:
        case = chosen_case(selection, field, given, how, lines.rounding, generator)
    else:
        assert stated is not None
        case = stated_case(stated, field, given, how, generator)
    case, outcome = decide(case, about, clock, generator)
    found = measure(case, outcome, about, tests, provenance, generator)
    told = replace(provenance, seconds=clock.seconds)
    return replace(found, provenance=told, units=field.units)


def _given_rivals(
    rivals: RivalsLike, field: GradientField
) -> tuple[Contender, ...] | CheckResult | None:
    """Formulas to compare with, the reason why there are none, or None where a search is to find
    them.
    """
    if rivals is None:
        return CheckResult.not_made("No other formula was looked for, as asked.", is_required=False)
    if isinstance(rivals, str):
        if rivals != "auto":
            hint = suggestion(rivals, ["auto"]) or "."
            raise KeywordError(
                f"rivals is {rivals!r}{hint} Pass 'auto', None, or a list of formulas."
            )
        return None
    if not isinstance(rivals, Sequence):
        raise KeywordError(f"rivals is {rivals!r:.60}; pass 'auto', None, or a list of formulas.")
    formulas = [as_formula(rival, field, "rival") for rival in rivals]
    return tuple(
        Contender(formula, formula.complexity(), 0, 1.0, engine="given") for formula in formulas
    )


def _named(rule: str) -> str | int:
    """A rule from the name that a selection keeps; a complexity keeps its number."""
    words = rule.split()
    return int(words[1]) if len(words) == 2 and words[0] == "complexity" else rule


def _provenance(selection: Selection | None, how: SecondSearch, seed: int) -> Provenance:
    result = None if selection is None else selection.result
    return Provenance(
        engine=how.engine.name,
        seconds=0.0,
        evaluations=0 if result is None else result.evaluations,
        status="finished" if result is None else result.status,
        seed=seed,
        budget=str(how.budget),
        rule=how.rule.name,
        structure=() if result is None else result.sentences,
        versions=versions(),
        tolerances=tolerances_in_force(),
    )
