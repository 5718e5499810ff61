"""The fitted constants of an answer with their intervals, each named by its term."""

from dataclasses import dataclass

from closedform.canonical.constants import free_constants, with_coefficients
from closedform.expressions.evaluate import operand_positions
from closedform.expressions.expression import Expression
from closedform.expressions.fitted_constants import constant_values, fitted_positions, with_numbers
from closedform.expressions.printing import to_text
from closedform.expressions.tree import subtrees
from closedform.interpretation.answer import Interpretation
from closedform.interpretation.several import Spread, spreads

TWO_SIDED = 1.96
"""Standard errors to either side of a 95% interval."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A fitted number, and the ends of its 95% interval; `term` is where it stands."""

    term: str
    value: float
    low: float
    high: float


def coefficients(interpretation: Interpretation) -> tuple[Coefficient, ...]:
    """Constants with the interval that their spread over networks gives, or else their fit."""
    if len(interpretation.networks) > 1:
        over = zip(network_terms(interpretation), network_spreads(interpretation), strict=False)
        return tuple(_coefficient(term, spread.mean, spread.error) for term, spread in over)
    entry = interpretation.entry
    return () if entry is None else fitted_coefficients(entry.expression, entry.errors)


def fitted_coefficients(
    expression: Expression, errors: tuple[float, ...]
) -> tuple[Coefficient, ...]:
    """The fitted constants of an expression, each named by the term in which it stands.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> [c.term for c in fitted_coefficients(parse("x**2 + 0.37*v**2"), (0.01,))]
    ['0.37*v**2']
    """
    positions = fitted_positions(expression.tree)
    values = constant_values(expression.tree, positions)
    return tuple(
        _coefficient(_term_around(expression, position), value, error)
        for position, value, error in zip(positions, values, errors, strict=False)
    )


def network_terms(interpretation: Interpretation) -> list[str]:
    """What each constant of the networks' readings multiplies, in their order."""
    terms: list[str] = []
    for place, concept in enumerate(_common(interpretation)):
        free = with_coefficients(concept)
        number = f"{place + 1}: " if len(interpretation.concepts) > 1 else ""
        terms += [number + term_of(free, constant.position) for constant in free_constants(free)]
    return terms


def network_spreads(interpretation: Interpretation) -> list[Spread]:
    """Each constant over the networks, in the order of `network_terms`; none for one network."""
    places = range(len(_common(interpretation)))
    return [spread for place in places for spread in spreads(interpretation.networks, place)]


def term_of(expression: Expression, position: int) -> str:
    """What a constant multiplies, as text; the place of the constant if it multiplies nothing.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> term_of(parse("v**2 + 0.5*x**4"), 3)
    'x**4'
    """
    parts = subtrees(expression.tree)
    operands_of = operand_positions(expression.tree)
    for token, operands in zip(expression.tree.tokens, operands_of, strict=True):
        if position in operands and token == "mul":
            other = next(other for other in operands if other != position)
            return to_text(parts[other], expression.names)
    return f"constant {position}"


def _common(interpretation: Interpretation) -> tuple[Expression, ...]:
    if not interpretation.networks:
        return ()
    alone = () if interpretation.concept is None else (interpretation.concept,)
    return interpretation.concepts or alone


def _coefficient(term: str, value: float, error: float) -> Coefficient:
    return Coefficient(term, value, value - TWO_SIDED * error, value + TWO_SIDED * error)


def _term_around(expression: Expression, position: int) -> str:
    """The term of the outermost sum in which a token stands, its numbers rounded."""
    tree, offset = expression.tree, 0
    while tree.root in ("add", "sub", "neg"):
        start = offset
        for child in tree.children:
            if start <= position < start + child.size:
                tree, offset = child, start
                break
            start += child.size
        else:
            break
    positions = fitted_positions(tree)
    rounded = [float(f"{value:.3g}") for value in constant_values(tree, positions)]
    return to_text(with_numbers(tree, positions, rounded), expression.names)
