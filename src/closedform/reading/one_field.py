"""From a field to an answer: search, select, verify."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from closedform.basics.keywords import checked_keywords, required_kind
from closedform.basics.progress import Named, Progress, ProgressLike, Snapshot
from closedform.basics.randomness import Randomness, as_seed
from closedform.basics.threads import single_threaded
from closedform.canonical.form import canonical_form
from closedform.errors import ClosedformError
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.expressions.sites import GroupsLike
from closedform.expressions.units import UnitsLike
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.alignment.refit import refit
from closedform.field.gradient_field import GradientField
from closedform.interpretation.answer import Interpretation, ability
from closedform.interpretation.evidence import Provenance
from closedform.judge.checks import Check
from closedform.judge.rules import RuleLike
from closedform.judge.select_stage import select
from closedform.judge.stated_formula import as_formula
from closedform.judge.thresholds import Thresholds
from closedform.reading.alike.alike_reading import alike_finding, interpret_alike
from closedform.reading.settings import (
    SEARCH_SHARE,
    Origin,
    Settings,
    better_of,
    check_seeds,
    choice_budget,
    formulas_of,
    read_in_rounds,
    read_with_seeds,
    rest_of,
)
from closedform.reading.several_latents import read_latents
from closedform.reading.symmetries.finding import symmetries
from closedform.reading.symmetries.found_symmetries import Symmetries
from closedform.searching.budget import Budget, as_budget
from closedform.searching.engine import Engine, SearchResult
from closedform.searching.portfolio import compile_engines
from closedform.searching.search_stage import search
from closedform.searching.space import SearchSpace, as_space
from closedform.searching.structure_search.merges import compile_structure
from closedform.searching.terms.term_run import compile_terms


@single_threaded
@checked_keywords
def interpret_field(
    field: GradientField,
    *,
    engine: str | Engine = "auto",
    budget: float | Budget = 60.0,
    rng: Randomness = None,
    space: SearchSpace | None = None,
    rule: RuleLike = "evidence",
    hypothesis: str | Expression | None = None,
    checks: Sequence[Check] | None = None,
    thresholds: Thresholds | None = None,
    progress: ProgressLike = None,
    title: str = "",
    command: str = "",
    units: UnitsLike | None = None,
    seeds: int = 1,
    groups: GroupsLike | None = None,
) -> Interpretation:
    """Read the closed-form concept of a gradient field, or all concepts of a field of several
    latents.

    This runs `closedform.search`, `closedform.select` and `closedform.verify` in turn. The search
    gets 60% of the budget at most, and the choice what is left. With 20 seconds or more, a round of
    10 seconds comes first, and a formula that is verified then is the answer.

    Parameters
    ----------
    field : GradientField
    engine : str or Engine
        'auto', 'structure', 'terms', 'evolution', or another.
    budget : float or Budget
        Seconds for the whole call after compilation, or a `closedform.Budget`. A budget of
        evaluations gives the same answer for the same seed, bit for bit.
    rng : int, Generator or None
        Seed; it is recorded in the answer.
    space : SearchSpace, optional
        What is known about the formula.
    rule : optional
        How the concept is chosen; see `closedform.select`.
    hypothesis : str or Expression, optional
        A formula to compare the concept with; search and choice do not see it, and the verdict
        weighs it with the others.
    checks, thresholds : optional
        Further checks, and where the verdict's lines are; see `closedform.verify`.
    progress : bool, str, Progress or None
        None shows progress in a terminal or notebook, False never.
    title, command : str
        What was read, and the command that did it, for the report.
    units : mapping of str to str, or Units, optional
        The unit of each input, ``{"m": "kg", "v": "m/s"}``, unless the field has them already; see
        `closedform.Units`.
    seeds : int
        How many seeds to try, each with the whole budget, starting with `rng`. The most common
        answer is returned, and its ``seeds`` says how many agree.
    groups : mapping of str to list or Group, optional
        Inputs that are alike, ``{"s": range(100)}``; see `closedform.Group`. The answer is a
        formula of sums over them, ``sum(s[i]**2)``, and of the other inputs.

    Returns
    -------
    Interpretation
        ``answer.extend(30)`` continues its search.
    """
    required_kind(
        field,
        GradientField,
        "field",
        "pass what closedform.extract_field or GradientField.from_arrays returned",
    )
    field = field.with_units(units)
    settings = Settings.checked(engine, space, rule, checks, thresholds, progress)
    limits, seed = as_budget(budget), as_seed(rng)
    asked: dict[str, Any] = {
        "engine": engine, "space": space, "rule": rule, "thresholds": thresholds,
        "progress": progress, "hypothesis": hypothesis, "checks": checks,
    }  # fmt: skip
    if groups is not None:
        # An ordinary reading, in sums over the inputs that are alike.
        told: dict[str, Any] = {"title": title, "command": command}
        unsearched = Provenance(
            settings.engine.name, 0.0, 0, "finished", seed, str(limits), settings.rule.name,
            notes=field.notes, **told,
        )  # fmt: skip
        again = partial(interpret_field, budget=limits, rng=seed, seeds=seeds, **told)
        found = interpret_alike(field, groups, again, asked, settings.thresholds, unsearched)
        return replace(found, origin=Origin(field, {**asked, "groups": groups}))
    settings.space.check_inputs(field.names)
    guess = None if hypothesis is None else as_formula(hypothesis, field, "hypothesis")
    check_seeds(seeds)
    compile_ahead(settings.progress)
    origin = Origin(field, asked)

    def read(one: int) -> Interpretation:
        found = _read_once(field, settings, limits, guess, one)
        told = replace(found.provenance, title=title, command=command)
        return replace(found, provenance=told, units=field.units, origin=origin)

    found = read(seed) if seeds == 1 else read_with_seeds(field, seeds, seed, read)
    is_sure = found.verdict.status == "verified"
    alike = None if is_sure else alike_finding(field, settings.thresholds.approximate)
    if alike is None:
        return found
    known = found.field_quality
    return replace(found, field_quality=replace(known, findings=(*known.findings, alike)))


def compile_ahead(progress: Progress) -> None:
    """Compile once, in the order in which a reading needs it, and show how far it is."""
    if compile_all.cache_info().currsize:
        return
    # Each holds those before it, which are not compiled twice.
    steps = (compile_terms, compile_structure, compile_engines, compile_all)
    for number, compile_step in enumerate(steps):
        progress.show(Snapshot("compile", number / len(steps)))
        compile_step()
    progress.show(Snapshot("compile", 1.0))
    progress.close()


def _read_once(
    field: GradientField, settings: Settings, limits: Budget, guess: Expression | None, seed: int
) -> Interpretation:
    """One reading with one seed."""
    clock, generator = limits.start(), np.random.default_rng(seed)

    def read(budget: Budget, known: Sequence[Expression]) -> Interpretation:
        space = replace(settings.space, guesses=(*settings.space.guesses, *known))
        return _read_one(field, replace(settings, space=space), budget, guess, generator)

    if 1 < field.rank < field.tangent.rank:
        found = read_latents(field, settings, limits, clock, guess, generator)
    else:
        found = read_in_rounds(field, limits, read)
    told = replace(
        found.provenance, seed=seed, seconds=clock.seconds, budget=str(limits), notes=field.notes
    )
    return replace(found, provenance=told)


def _read_one(
    field: GradientField,
    settings: Settings,
    limits: Budget,
    guess: Expression | None,
    generator: np.random.Generator,
) -> Interpretation:
    """The one concept of a field: the three steps."""
    clock = limits.start()
    first, second, third = generator.spawn(3)
    result = search(
        field, space=settings.space, engine=settings.engine, budget=limits.share(SEARCH_SHARE),
        rng=first, progress=Named(settings.progress, "search"),
    )  # fmt: skip

    def judged(found: SearchResult) -> Interpretation:
        selection = select(
            found, field, rule=settings.rule, rng=second, budget=choice_budget(limits, clock),
            space=settings.space,
        )  # fmt: skip
        return settings.judge(
            selection, field, settings.checks, rest_of(limits, clock), third, guess
        )

    try:
        return judged(result)
    except KeyboardInterrupt:
        # The first interrupt ends the searching, and what was found is told; a second ends it all.
        return judged(replace(result, status="interrupted"))


@cache
def compile_all() -> None:
    """Compile and load what the stages use, so that a budget of seconds is spent on the work."""
    compile_engines()
    points = np.random.default_rng(0).uniform(-1, 1, (8, 2))
    field = GradientField.from_arrays(points, points, tangent="none")
    form = canonical_form(parse("x0**2 + 0.7*x1**2", names=["x0", "x1"]), points)
    refit([form], field, iterations=1)
    form.gradient(points)
    field_misalignment(form, field)


class ExtensionError(ClosedformError, ValueError):
    """An answer that cannot be continued."""


@ability("extend")
def extend(
    answer: Interpretation, budget: float | Budget, *, field: GradientField | None = None
) -> Interpretation:
    """See `Interpretation.extend`; the old answer stays where it has the better verdict."""
    searched = _field_of(answer, field, "extend(30, ")
    origin = answer.origin if isinstance(answer.origin, Origin) else None
    known: dict[str, Any] = {} if origin is None else dict(origin.asked)
    space = known.pop("space", None)
    start = [*(space.guesses if space is not None else ()), *formulas_of(answer, searched)]
    found = interpret_field(
        searched,
        budget=budget,
        rng=answer.provenance.seed + 1,
        space=replace(as_space(space), guesses=tuple(start)),
        title=answer.provenance.title,
        command=answer.provenance.command,
        **known,
    )
    return better_of(answer, found)


@ability("symmetries")
def symmetries_of(
    answer: Interpretation, *, field: GradientField | None = None, **keywords: Any
) -> Symmetries:
    """Those of the field that an answer was read from; see `closedform.symmetries`."""
    return symmetries(_field_of(answer, field, "symmetries("), **keywords)


def _field_of(answer: Interpretation, field: GradientField | None, call: str) -> GradientField:
    """The given field, or the one that the answer was read from."""
    if field is not None:
        return field
    if not isinstance(answer.origin, Origin):
        raise ExtensionError(
            "The answer does not hold its field, since it was loaded or is part of another; pass "
            f"it: answer.{call}field=closedform.load_field(...))."
        )
    return answer.origin.field
