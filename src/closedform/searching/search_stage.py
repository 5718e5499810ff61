"""The first step from a field to an answer: search most of its points, and leave the others for the
verdict.

Of many inputs the search sees those that hold most of the field; its formulas are judged on the
whole field.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from closedform.basics.keywords import checked_keywords
from closedform.basics.progress import ProgressLike, choose_progress
from closedform.basics.randomness import Randomness, as_generator
from closedform.basics.threads import single_threaded
from closedform.errors import ShapeError
from closedform.expressions.complexity import Costs, complexity
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.expressions.tape import compile_tapes
from closedform.field.alignment.comparison import comparison_of
from closedform.field.gradient_field import GradientField
from closedform.field.neighborhoods import affordable
from closedform.searching.budget import Budget, as_budget
from closedform.searching.compilation import compile_engines
from closedform.searching.engine import Engine, SearchResult
from closedform.searching.front import Candidate, Front
from closedform.searching.registry import get_engine
from closedform.searching.space import SearchSpace, as_space
from closedform.searching.unit_passes import check_given, search_with_units

HELD_OUT, MOST_HELD_OUT = 0.3, 1500
"""Share of the points that the verdict is made on, and their number beyond which more change no
verdict.
"""

FEWEST_LEFT = 8
"""Inputs that an engine sees in any case: a space may have costs of its own."""

MOST_SEEN = 4000
"""Points that a search sees at most: a few thousand directions decide a concept."""


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
    if few.are_all or space.templates or field.units is not None:
        return run(field, space, *others)
    found = run(few.reduced(), few.restrict(space), *others)
    # What the search says about structure holds of the inputs that it saw.
    return replace(found, front=few.rewritten(found.front, space), structure=None)


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


@dataclass(frozen=True, slots=True)
class StrongestInputs:
    """Some inputs of a field, by column."""

    field: GradientField
    columns: tuple[int, ...]

    @property
    def are_all(self) -> bool:
        """Whether no input is left out."""
        return len(self.columns) == len(self.field.names)

    @property
    def labels(self) -> list[str]:
        """Their names."""
        return [self.field.names[column] for column in self.columns]

    def reduced(self) -> GradientField:
        """The field over these inputs."""
        columns = list(self.columns)
        jacobian = np.swapaxes(self.field.directions[:, columns, :], 1, 2)
        return GradientField.from_arrays(
            self.field.points[:, columns],
            jacobian,
            names=self.labels,
            tangent="none",
            weights=self.field.weights,
        )

    def restrict(self, space: SearchSpace) -> SearchSpace:
        """The space over these inputs, with the user's terms and guesses in them alone."""

        def kept(items: Sequence[Expression | str]) -> list[Expression]:
            names = self.field.names
            read = [
                parse(item, names) if isinstance(item, str) else item.rename(names)
                for item in items
            ]
            return [
                item.rename(self.labels) for item in read if item.tree.variables <= {*self.columns}
            ]

        return replace(
            space.over(self.labels), terms=kept(space.terms), guesses=kept(space.guesses)
        )

    def rewritten(self, front: Front, space: SearchSpace) -> Front:
        """Candidates over all inputs, judged on the whole field: what was left out counts again."""
        return rescored(front.all, self.field, space.costs)


def rescored(candidates: Sequence[Candidate], field: GradientField, costs: Costs) -> Front:
    """The front of candidates that were found on another field."""
    if not candidates:
        return Front()
    written = [candidate.expression.rename(field.names) for candidate in candidates]
    tapes = compile_tapes([expression.tree for expression in written])
    values, _ = comparison_of(field).misalignments(tapes)
    return Front.of(
        Candidate(expression, value, complexity(expression.tree, costs), found.engine)
        for expression, value, found in zip(written, values.tolist(), candidates, strict=True)
        if value < 1
    )


def strongest_inputs(field: GradientField, most: int) -> StrongestInputs:
    """The inputs that hold most of the field, at most so many; all where the data's tangent space
    is not the whole space, for there an input's share of a direction means nothing by itself.

    Examples
    --------
    >>> points = np.random.default_rng(0).uniform(-1, 1, (300, 3))
    >>> field = GradientField.from_arrays(points, points * [1.0, 0.01, 5.0], names=["x", "y", "z"])
    >>> strongest_inputs(field, 2).columns
    (0, 2)
    """
    columns = np.arange(len(field.names))
    if len(columns) > most and field.tangent.kind == "none":
        shares = np.einsum("n,ndk->d", field.weights, field.frames**2)
        columns = np.sort(np.argsort(-shares, kind="stable")[:most])
    return StrongestInputs(field, tuple(columns.tolist()))
