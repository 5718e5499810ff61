"""Read a field and say which of its concepts are claimed. This file must not know the systems, let
alone their invariants.
"""

from dataclasses import dataclass

from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.interpretation.answer import Interpretation
from closedform.reading.one_field import interpret_field
from closedform.searching.budget import Budget
from closedform.searching.engine import Engine
from closedform.searching.space import SearchSpace

MOST_COMPLEX = 150
"""Largest complexity of a formula: more than twice the usual, for some invariants have twelve
terms.
"""


@dataclass(frozen=True, slots=True)
class Claims:
    """What a reading claims.

    Attributes
    ----------
    verified : tuple of Expression
        Concepts whose own verdict is `verified`.
    others : tuple of (Expression, str)
        Concepts of another verdict, with what failed.
    verdict : str
        The joint one.
    rank : int
    seconds : float
    """

    verified: tuple[Expression, ...]
    others: tuple[tuple[Expression, str], ...]
    verdict: str
    rank: int
    seconds: float


def read_claims(
    field: GradientField,
    *,
    engine: str | Engine = "auto",
    budget: float | Budget = 60.0,
    seed: int = 0,
    space: SearchSpace | None = None,
) -> Claims:
    """Interpret a field and list what is claimed.

    Parameters
    ----------
    field : GradientField
    engine, budget
        As in `closedform.interpret_field`.
    seed : int
    space : SearchSpace, optional
        The usual one with complexities up to `MOST_COMPLEX` by default.
    """
    clock = (budget if isinstance(budget, Budget) else Budget(seconds=budget)).start()
    allowed = SearchSpace(max_complexity=MOST_COMPLEX) if space is None else space
    found = interpret_field(field, engine=engine, budget=budget, rng=seed, space=allowed)
    seconds = clock.seconds
    parts = found.parts or ((found,) if found.concept is not None else ())
    verified = tuple(
        part.concept
        for part in parts
        if part.concept is not None and part.verdict.status == "verified"
    )
    others = tuple(
        (part.concept, _why(part))
        for part in parts
        if part.concept is not None and part.verdict.status != "verified"
    )
    return Claims(verified, others, found.verdict.status, field.rank, seconds)


def _why(part: Interpretation) -> str:
    failed = [check.name for check in part.verdict.checks if check.passed is False]
    return f"{part.verdict.status}: {', '.join(failed)}"
