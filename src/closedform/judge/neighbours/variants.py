"""A formula in plainer words: numbers snapped or dropped, small terms left out, the square."""

from collections.abc import Sequence

from closedform.arrays import FloatArray
from closedform.canonical.constants import free_constants
from closedform.canonical.proposals import (
    snapped_forms,
    without_idle_functions,
    without_small_terms,
)
from closedform.expressions.complexity import constant_values, fitted_positions, with_numbers
from closedform.expressions.expression import Expression
from closedform.expressions.sums_and_products import sum_of
from closedform.expressions.tree import Tree, apply, constant
from closedform.searching.products import factor_powers

SMALL_CONSTANT = 0.2
"""Constants below this are tried as 0: sqrt(x) for sqrt(x + 0.06)."""


def variants(formula: Expression, errors: Sequence[float], points: FloatArray) -> list[Expression]:
    """Plainer formulas near one whose fitted constants have these standard errors.

    Examples
    --------
    >>> import numpy as np, closedform as cf
    >>> points = np.random.default_rng(0).uniform(1, 2, (50, 2))
    >>> made = variants(cf.parse("x**2 + 1.98*y"), [0.02], points)
    >>> [str(form) for form in made][:2]
    ['x**2 + 2*y', 'x**2']
    """
    places = fitted_positions(formula.tree)
    known = dict(zip(places, errors, strict=False))
    free = [known.get(each.position, 0.0) for each in free_constants(formula)]
    dropped = [
        Expression(_without_zeros(with_numbers(formula.tree, [place], [0.0])), formula.names)
        for place, value in zip(places, constant_values(formula.tree, places), strict=True)
        if abs(value) < SMALL_CONSTANT
    ]
    made = [
        *snapped_forms(formula, errors=free), *dropped, *without_small_terms(formula, points),
        Expression(apply("square", formula.tree), formula.names),
        without_idle_functions(formula, points),
    ]  # fmt: skip
    return [form for form in dict.fromkeys(made) if form != formula and not form.tree.is_constant]


def _without_zeros(tree: Tree) -> Tree:
    """The tree without terms and factors that are 0: a canonical form takes longer to find."""
    zero = constant(0)

    def node(name: str, *operands: Tree) -> Tree:
        if (name in ("mul", "div") and operands[0] == zero) or (name == "mul" and zero in operands):
            return zero
        if name == "add" and zero in operands:
            return operands[1] if operands[0] == zero else operands[0]
        if name == "sub" and operands[1] == zero:
            return operands[0]
        return apply(name, *operands)

    return tree.fold(lambda token: Tree((token,)), node)


def as_sum(formula: Expression) -> Expression | None:
    """The logarithm of a product with an exponential in it, which is the same concept: its parts
    are terms of a sum, and can be exchanged as such. None for other formulas.

    Examples
    --------
    >>> import closedform as cf
    >>> print(as_sum(cf.parse("exp(0.3*v**2)*(exp(x) + 3)**2")))
    0.3*v**2 + 2*log(exp(x) + 3)
    """
    factors = list(factor_powers(formula.tree))
    if len(factors) < 2 or not any(base.root == "exp" for base, _ in factors):
        return None
    terms = []
    for base, power in factors:
        term = base.children[0] if base.root == "exp" else apply("log", base)
        terms.append(term if power == 1 else apply("mul", constant(power), term))
    return Expression(sum_of(terms), formula.names)
