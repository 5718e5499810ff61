"""Laws in their plainest form modulo each other: whatever is kept beside h, g - c*h is kept too."""

from collections.abc import Iterator, Sequence

from closedform.arrays import FloatArray
from closedform.canonical.form import canonical_form
from closedform.errors import ClosedformError
from closedform.expressions.expression import Expression
from closedform.expressions.sums_and_products import scaled_terms
from closedform.expressions.tree import Tree, apply, constant


def combinations(
    law: Expression, others: Sequence[Expression], points: FloatArray
) -> Iterator[Expression]:
    """What a law becomes when a part that it shares with another law is taken out: a term of both,
    or a factor.

    points (n_points, n_inputs): where they are compared.

    Examples
    --------
    >>> import numpy as np, closedform as cf
    >>> names, rng = ["x", "v", "y", "w"], np.random.default_rng(0)
    >>> both, one = (cf.parse(text, names) for text in ("x**2 + v**2 + y**2 + w**2", "x**2 + v**2"))
    >>> str(next(combinations(both, [one], rng.uniform(1, 2, (50, 4)))))
    'w**2 + y**2'
    """
    for other in others:
        for tree in _taken_out(law.tree, other.tree):
            try:
                yield canonical_form(Expression(tree, law.names), points)
            except ClosedformError:  # nothing is left, or it is not defined everywhere
                continue


def _taken_out(law: Tree, other: Tree) -> Iterator[Tree]:
    known = {term: number for number, term in scaled_terms(other)}
    shares = {number / known[term] for number, term in scaled_terms(law) if term in known}
    for share in sorted(shares, key=abs):
        yield apply("sub", law, apply("mul", constant(share), other))
    yield apply("div", law, other)
    yield apply("mul", law, other)
