"""The first step from a field to an answer: search most of its points, and leave the others for the
verdict.

Of many inputs the search sees those that hold most of the field; its formulas are judged on the
whole field.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from closedform.basics.keywords import checked_keywords
from closedform.basics.progress import Progress, ProgressLike, choose_progress
from closedform.basics.randomness import Randomness, as_generator
from closedform.basics.threads import single_threaded
from closedform.errors import ShapeError, UnitsError
from closedform.expressions.complexity import Costs, complexity
from closedform.expressions.expression import Expression
from closedform.expressions.legality import Legality, charge
from closedform.expressions.parse import parse
from closedform.expressions.tape import compile_tapes
from closedform.expressions.units import Units
from closedform.field.alignment.comparison import comparison_of
from closedform.field.alignment.tolerances import PERFECT
from closedform.field.gradient_field import GradientField
from closedform.field.neighborhoods import affordable
from closedform.searching.budget import Budget, as_budget
from closedform.searching.engine import Engine, SearchResult, get_engine
from closedform.searching.front import Candidate, Front
from closedform.searching.portfolio import compile_engines
from closedform.searching.space import SearchSpace, as_space

HELD_OUT, MOST_HELD_OUT = 0.3, 1500
"""Share of the points that the verdict is made on, and their number beyond which more change no
verdict.
"""

FEWEST_LEFT = 8
"""Inputs that an engine sees in any case: a space may have costs of its own."""

MOST_SEEN = 4000
"""Points that a search sees at most: a few thousand directions decide a concept."""


STRICT_SHARE = 0.8
"""Of the budget, for formulas of pure numbers: they are what units are stated for."""


@single_threaded
@checked_keywords
def search(
    field: GradientField,
    *,
    space: SearchSpace | None = None,
    engine: str | Engine = "auto",
    budget: float | Budget = 60.0,
    rng: Randomness = None,
    progress: ProgressLike = None,
    points: Sequence[int] | NDArray[np.integer] | None = None,
) -> SearchResult:
    """Search for formulas whose gradients point the same way as the field's.

    Parameters
    ----------
    field : GradientField
    space : SearchSpace, optional
        What is known about the formula.
    engine : str or Engine
        'auto', 'structure', 'terms', 'evolution', the name of another installed engine, or an
        engine object.
    budget : float or Budget
        Seconds after compilation, or a `Budget`. A budget of evaluations gives the same result for
        the same seed, bit for bit.
    rng : int, Generator or None
        Seed.
    progress : bool, str, Progress or None
        None shows progress in a terminal or notebook, False never.
    points : sequence of int, optional
        Which of the field's points the search may see; 70% of them, chosen by `rng` and at most
        4,000, by default.

    Returns
    -------
    SearchResult
        The front, and which points were seen. `closedform.select` chooses from it.

    Examples
    --------
    >>> import closedform as cf
    >>> points = np.random.default_rng(0).uniform(1, 2, (300, 2))
    >>> field = cf.GradientField.from_arrays(points, points[:, ::-1], names=["x", "y"])
    >>> result = cf.search(field, engine="terms", budget=cf.Budget(evaluations=500), rng=0)
    >>> print(result.front.best.expression, len(result.seen))
    x*y 210
    """
    asked, allowed, limits = get_engine(engine), as_space(space), as_budget(budget)
    allowed.check_inputs(field.names)
    check_given(allowed, field)
    generator, told = as_generator(rng), choose_progress(progress)
    seen = choose_points(field, generator) if points is None else _given(field, points)
    if field.rank >= field.tangent.rank or not len(
        seen
    ):  # every function fits, or there is nothing to fit
        found = SearchResult(Front(), "finished")
    else:
        compile_engines()
        run = asked.search if field.units is None else partial(search_with_units, asked)
        found = _searched(run, field.subset(seen), allowed, limits, generator, told)
    rows = tuple(seen.tolist())
    return replace(found, engine=asked.name, digest=field.digest(), seen=rows, costs=allowed.costs)


def _searched(
    run: Callable[..., SearchResult], field: GradientField, space: SearchSpace, *others: Any
) -> SearchResult:
    """What an engine finds. Of more inputs than any formula of the space can hold it sees those
    that hold most of the field: what engines do takes the square of the inputs' number, or more.
    """
    few = strongest_inputs(field, max(space.max_complexity // 2, FEWEST_LEFT))
    # Templates and units speak of all inputs.
    if len(few) == len(field.names) or space.templates or field.units is not None:
        return run(field, space, *others)
    found = run(field_over(field, few), space_over(space, field.names, few), *others)
    # What was left out counts again; what the search says about structure holds of what it saw.
    return replace(found, front=rescored(found.front.all, field, space.costs), structure=None)


def choose_points(field: GradientField, rng: np.random.Generator) -> NDArray[np.int64]:
    """The points that a search sees: most of the usable ones, at random, in their order."""
    order = rng.permutation(np.flatnonzero(field.weights > 0))
    unseen, seen = (affordable(most, len(field.names)) for most in (MOST_HELD_OUT, MOST_SEEN))
    count = min(max(int(HELD_OUT * len(order)), 1), unseen)
    return np.sort(order[count : count + seen])


def _given(field: GradientField, points: Sequence[int] | NDArray[np.integer]) -> NDArray[np.int64]:
    rows = np.asarray(points)
    if (
        rows.ndim != 1
        or rows.dtype.kind not in "iu"
        or (len(rows) and not 0 <= rows.min() <= rows.max() < field.n_points)
    ):
        raise ShapeError(
            f"points must be a list of integers from 0 to {field.n_points - 1}, indices of the "
            f"field's points; got {rows.dtype} of shape {rows.shape}."
        )
    return np.unique(rows)


def field_over(field: GradientField, columns: list[int]) -> GradientField:
    """The field over some of its inputs."""
    return GradientField.from_arrays(
        field.points[:, columns],
        np.swapaxes(field.directions[:, columns, :], 1, 2),
        names=[field.names[column] for column in columns],
        tangent="none",
        weights=field.weights,
    )


def space_over(space: SearchSpace, names: Sequence[str], columns: Sequence[int]) -> SearchSpace:
    """The space over some inputs, with the user's terms and guesses in them alone."""
    kept = [names[column] for column in columns]

    def inside(items: Sequence[Expression | str]) -> list[Expression]:
        read = [
            parse(each, names) if isinstance(each, str) else each.rename(names) for each in items
        ]
        return [each.rename(kept) for each in read if each.tree.variables <= {*columns}]

    return replace(space.over(kept), terms=inside(space.terms), guesses=inside(space.guesses))


def rescored(candidates: Sequence[Candidate], field: GradientField, costs: Costs) -> Front:
    """The front of candidates that were found on another field."""
    if not candidates:
        return Front()
    written = [candidate.expression.rename(field.names) for candidate in candidates]
    tapes = compile_tapes([expression.tree for expression in written])
    values, _ = comparison_of(field).misalignments(tapes)
    return Front.of(
        replace(
            found,
            expression=expression,
            misalignment=value,
            complexity=complexity(expression.tree, costs),
        )
        for expression, value, found in zip(written, values.tolist(), candidates, strict=True)
        if value < 1
    )


def strongest_inputs(field: GradientField, most: int) -> list[int]:
    """The inputs that hold most of the field, at most so many; all where the data's tangent space
    is not the whole space, for there an input's share of a direction means nothing by itself.

    Examples
    --------
    >>> points = np.random.default_rng(0).uniform(-1, 1, (300, 3))
    >>> field = GradientField.from_arrays(points, points * [1.0, 0.01, 5.0], names=["x", "y", "z"])
    >>> strongest_inputs(field, 2)
    [0, 2]
    """
    if len(field.names) <= most or field.tangent.kind != "none":
        return [*range(len(field.names))]
    shares = np.einsum("n,ndk->d", field.weights, field.frames**2)
    return sorted(np.argsort(-shares, kind="stable")[:most].tolist())


def check_given(space: SearchSpace, field: GradientField) -> None:
    """Refuse terms and guesses that the field's units make impossible, before the search."""
    for item in (*space.terms, *space.guesses):
        formula = parse(item, names=field.names) if isinstance(item, str) else item
        require_possible(formula, field)


def require_possible(formula: Expression, field: GradientField, what: str = "formula") -> None:
    """Refuse a formula that the field's units make impossible.

    Numbers that people write (integers and simple fractions) are pure; others may carry units
    unless the field's `Units` forbid it. The message calls it what it is to the user.
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
    """What an engine finds among the formulas that a field's units allow: first those whose
    constants are pure numbers, then those whose fitted constants carry units.
    """
    # If every constant could carry a unit from the start, every sum would be possible and nothing
    # would be gained. The strict pass has a small space, and the other one only runs where that
    # left something to explain.
    units = field.units
    assert units is not None
    strict = replace(space, legality=Legality(units, may_carry=False))
    if units.pure_numbers:
        return engine.search(field, strict, budget, rng, progress)
    clock = budget.start()
    first = engine.search(field, strict, budget.share(STRICT_SHARE), rng, progress)
    clock.evaluations += first.evaluations
    lowest = first.front.lowest
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
    for one in loose.all:
        extra = charge(one.expression.tree, units, one.expression.names)
        if np.isfinite(extra):
            charged.append(replace(one, complexity=one.complexity + round(extra) * each))
    return Front.of([*strict.all, *charged])
