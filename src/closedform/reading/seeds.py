"""One field read with several seeds: how many of them lead to the same formula."""

from collections.abc import Callable
from dataclasses import replace

from closedform.errors import DomainError
from closedform.field.gradient_field import GradientField
from closedform.interpretation.answer import Interpretation
from closedform.interpretation.several import SeedAgreement
from closedform.interpretation.verdict import STATUSES
from closedform.keywords import KeywordError


def check_seeds(seeds: int) -> None:
    """Refuse what is not a positive whole number.

    Raises
    ------
    KeywordError
        With what to pass.
    """
    if isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 1:
        raise KeywordError(f"seeds is {seeds!r:.60}; pass the number of seeds to try, 1 or more.")


def read_with_seeds(
    field: GradientField, count: int, first: int, read: Callable[[int], Interpretation]
) -> Interpretation:
    """Read with some seeds, and return the best answer of the formula that most of them lead to.

    Parameters
    ----------
    field : GradientField
    count : int
    first : int
        The first seed; the others follow it.
    read : callable
        From a seed to an answer.
    """
    answers = [read(first + place) for place in range(count)]
    groups: list[list[Interpretation]] = []
    for answer in answers:
        home = next((group for group in groups if _same(group[0], answer, field)), None)
        if home is None:
            groups.append([answer])
        else:
            home.append(answer)
    largest = max(groups, key=len)
    best = min(largest, key=lambda one: STATUSES.index(one.verdict.status))
    formulas = tuple("" if one.concept is None else str(one.concept) for one in answers)
    return replace(best, seeds=SeedAgreement(count, len(largest), formulas))


def _same(one: Interpretation, other: Interpretation, field: GradientField) -> bool:
    """Whether two answers hold the same concepts, or neither is one."""
    if "none" in (one.verdict.status, other.verdict.status):
        return one.verdict.status == other.verdict.status
    if one.concepts == other.concepts:
        return True
    if len(one.concepts) != len(other.concepts) or len(one.concepts) != 1:
        return False
    from closedform.equivalence.same_concept import same_concept  # brings SymPy

    (first,), (second,) = one.concepts, other.concepts
    try:
        found = same_concept(first, second, list(field.names), points=field.points)
    except DomainError:
        return False
    return found.status != "different"
