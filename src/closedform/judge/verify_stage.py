"""The third step: is this formula what the network computes? The evidence, and the verdict on
it.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

import closedform.report  # noqa: F401  gives answers their reports and plots
from closedform.basics.keywords import KeywordError, checked_keywords, required_kind, suggestion
from closedform.basics.optional import versions
from closedform.basics.progress import ProgressLike, choose_progress
from closedform.basics.randomness import Randomness, as_seed
from closedform.basics.threads import single_threaded
from closedform.expressions.complexity import description_length
from closedform.expressions.expression import Expression
from closedform.expressions.sites import FormulaOfSums
from closedform.field.gradient_field import GradientField
from closedform.field.neighborhoods import affordable
from closedform.interpretation.answer import Interpretation, perform
from closedform.interpretation.evidence import Provenance
from closedform.judge.checks import Check, all_checks, nothing_found, undecided
from closedform.judge.confidence import judge_formulas, weighing
from closedform.judge.measurement import Case, measure
from closedform.judge.pool import weigh
from closedform.judge.regions import Pair
from closedform.judge.rules import Contender, Rule, RuleLike, as_rule, front_of
from closedform.judge.select_stage import Selection, check_field, select
from closedform.judge.stated_formula import as_formula
from closedform.judge.thresholds import Thresholds, as_thresholds, tolerances_in_force
from closedform.judge.witnesses import Witnesses
from closedform.searching.budget import Budget, as_budget
from closedform.searching.engine import Engine, SearchResult, get_engine
from closedform.searching.portfolio import compile_engines
from closedform.searching.search_stage import MOST_HELD_OUT, choose_points, search
from closedform.searching.space import SearchSpace, as_space

RivalsLike = Literal["auto"] | Sequence[Expression | str] | None

SEARCH_SHARE = 0.6
"""Of the budget, for the search that finds rivals of a stated formula."""


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
    progress: ProgressLike = None,
) -> Interpretation:
    """Judge a formula: is what the network computes an invertible function of it?

    Parameters
    ----------
    formula : str, Expression or Selection
        Judged on the points that search, choice and fitting have not seen; your own formula with
        its constants as given. For sums over alike inputs pass ``cf.parse("sum(s[i])**2",
        field.names, groups={"s": ...})``.
    field : GradientField
    rivals : 'auto', None, or sequence of str or Expression
        What the formula is compared with: what competed with it in its selection or, for your own
        formula, what a search finds. None compares with nothing, and a list with its formulas.
    checks : sequence of Check, optional
        Checks in addition to the built-in ones; see `closedform.judge.checks.Check`.
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
        A formula to compare the concept with. It is weighed with the others, and is never made the
        concept.
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
    if isinstance(formula, FormulaOfSums):
        return perform(
            "verify_sums", formula, field, rivals=rivals, checks=checks, thresholds=thresholds,
            budget=budget, rng=rng, engine=engine, space=space, rule=rule, hypothesis=hypothesis,
            progress=progress,
        )  # fmt: skip
    seed, limits = as_seed(rng), as_budget(budget)
    selection = formula if isinstance(formula, Selection) else None
    if selection is not None:
        check_field(selection.result, field)
    own = ("evidence", "auto") if selection is None else (selection.rule, selection.result.engine)
    by = as_rule(own[0] if rule is None else rule)
    searcher = get_engine(own[1] if engine is None else engine)
    allowed, shown = as_space(space), choose_progress(progress)
    given = _given_rivals(rivals, field)
    lines, tests = as_thresholds(thresholds), all_checks(checks, field)
    stated = None if isinstance(formula, Selection) else as_formula(formula, field)
    guess = None if hypothesis is None else as_formula(hypothesis, field, "hypothesis")
    compile_engines()
    clock = limits.start()
    generator = np.random.default_rng(seed)
    hopeless = undecided(field)
    if hopeless is None and selection is not None and selection.chosen is None:
        hopeless = nothing_found(
            "The search found no formula; widen the space or give it more time."
        )
    if hopeless is None and selection is None and given is None:
        result = search(
            field, space=allowed, engine=searcher, budget=limits.share(SEARCH_SHARE),
            rng=generator, progress=shown,
        )  # fmt: skip
        if result.status == "interrupted":
            raise KeyboardInterrupt  # it was meant for the whole call
        rest = limits.share(1 - SEARCH_SHARE)
        selection = select(result, field, rule=by, rng=generator, budget=rest, space=allowed)
    searched = None if selection is None else selection.result
    told = _provenance(searched, searcher.name, by.name, limits, seed)
    if hopeless is not None:
        return Interpretation(field.names, hopeless, field.quality, told)
    case, numbers = _case(stated, selection, given, field, by, generator)
    guesses = () if guess is None else (_plain(guess, by, field, "hypothesis"),)
    weighed = (*case.contenders, *guesses)
    judged = judge_formulas(
        [one.expression.rename(field.names) for one in weighed],
        [one.cost for one in weighed],
        [description_length(one.expression.tree) for one in weighed],
        field.subset(case.seen),
        field.subset(case.unseen),
        *numbers,
        generator,
    )
    found = measure(
        replace(case, contenders=weighed), judged, lines, tests, guess, told, generator,
        may_go_on=lambda: clock.stop_reason() is None,
    )  # fmt: skip
    return replace(found, provenance=replace(told, seconds=clock.seconds), units=field.units)


def _case(
    stated: Expression | None,
    selection: Selection | None,
    given: list[Expression] | None,
    field: GradientField,
    rule: Rule,
    rng: np.random.Generator,
) -> tuple[Case, tuple[Pair, Pair]]:
    """What is judged against what, where, and by which scales and counts."""
    seen, unseen = _points(selection, field, rng)
    own = [] if stated is None else [_plain(stated, rule, field, "stated")]
    others = [_plain(rival, rule, field, "given") for rival in given or ()]
    if selection is None or selection.choice is None:
        every = (*own, *others)
        numbers = _weighed(every, field.subset(seen), rule)
        shown = tuple(range(1, len(every)))
        return Case(every, shown, field, seen, unseen), numbers
    found, choice = selection.contenders, selection.choice
    first = own or [found[choice.index]]
    if given is None:
        others = [one for one in found if one is not first[0]]
    every = (*first, *others)
    drop = found[choice.steepest_drop]
    front = [drop, *(found[each] for each in front_of(found))]
    shown = [place for place, one in enumerate(every) if given is not None or one in front]
    case = Case(
        every, tuple(shown), field, seen, unseen,
        drop=every.index(drop) if drop in every and not own else None,
        reason="" if own else choice.reason,
        structure=selection.result.structure,
    )  # fmt: skip
    return case, (selection.scales, selection.counts)


def _points(
    selection: Selection | None, field: GradientField, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Points that were seen, and some that were not."""
    seen = choose_points(field, rng) if selection is None else np.asarray(selection.result.seen)
    is_new = field.weights > 0
    is_new[seen] = False
    most = affordable(MOST_HELD_OUT, len(field.names))
    rows = rng.permutation(np.flatnonzero(is_new))[:most]
    # A field of a handful of points has none to spare; nothing is verified there anyway.
    return seen, np.sort(rows) if len(rows) > 1 else seen


def _plain(formula: Expression, rule: Rule, field: GradientField, source: str) -> Contender:
    """A formula as it is."""
    price = weighing(has_values=field.latents is not None).price
    own = formula.rename(field.names)
    cost = rule.cost(own, price, None, field.units)
    # What the units make impossible fails the check of units, and is weighed by its length.
    cost = cost if np.isfinite(cost) else rule.cost(own, price, None, None)
    return Contender(own, own.complexity(), 0.0, cost, 1.0, engine=source)


def _weighed(contenders: Sequence[Contender], seen: GradientField, rule: Rule) -> tuple[Pair, Pair]:
    """Scales and counts where no choice was made: of the formula that is nearest the field."""
    witnesses = Witnesses.of(seen)
    heard = [witnesses.hear(one.expression.tree) for one in contenders]
    nearest = min(heard, key=lambda one: float(np.median(one.squares()[0])))
    return weigh(nearest, witnesses, weighing(has_values=witnesses.has_values), rule.floor)


def _given_rivals(rivals: RivalsLike, field: GradientField) -> list[Expression] | None:
    """Formulas to compare with; None where a search is to find them."""
    if rivals is None:
        return []
    if isinstance(rivals, str):
        if rivals != "auto":
            hint = suggestion(rivals, ["auto"]) or "."
            raise KeywordError(
                f"rivals is {rivals!r}{hint} Pass 'auto', None, or a list of formulas."
            )
        return None
    if not isinstance(rivals, Sequence):
        raise KeywordError(f"rivals is {rivals!r:.60}; pass 'auto', None, or a list of formulas.")
    return [as_formula(rival, field, "rival") for rival in rivals]


def _provenance(
    searched: SearchResult | None, engine: str, rule: str, limits: Budget, seed: int
) -> Provenance:
    return Provenance(
        engine=engine,
        seconds=0.0,
        evaluations=0 if searched is None else searched.evaluations,
        status="finished" if searched is None else searched.status,
        seed=seed,
        budget=str(limits),
        rule=rule,
        structure=() if searched is None else searched.sentences,
        versions=versions(),
        tolerances=tolerances_in_force(),
    )
