"""Formulas the right way up: of those that are one concept, the one that people write."""

import numpy as np

from closedform.canonical.peel import Sample
from closedform.expressions.expression import Expression
from closedform.expressions.sums_and_products import signed_terms, sum_of
from closedform.expressions.tree import Constant, Tree, apply, constant
from closedform.field.gradient_field import GradientField


def right_way_up(formula: Expression, field: GradientField) -> Expression:
    """A sum led by a positive term, and of a quotient and its reciprocal the one that grows with
    the latent, where signs are known.

    An energy is not written -x**2 - v**2, and a rate not as its inverse. Which way a sum grows does
    not matter: the Boltzmann weight of an energy falls with it.

    Examples
    --------
    >>> import closedform as cf
    >>> points = np.random.default_rng(0).uniform(1, 2, (200, 3))
    >>> names = ["s", "k", "Sigma"]
    >>> truth = cf.parse("s*k/Sigma", names=names)
    >>> field = cf.GradientField.from_arrays(points, truth.gradient(points), names=names)
    >>> print(right_way_up(cf.parse("Sigma/(k*s)", names=names), field))
    k*s/Sigma
    >>> print(right_way_up(cf.parse("-s**2 - 2*k**2", names=names), field))
    s**2 + 2*k**2
    """
    own = formula.rename(field.names)
    tree = _positive_first(own.tree)
    if tree.root == "div" and not tree.children[0].is_constant and _falls(own, field):
        above, below = (_without_factor(part) for part in tree.children)
        turned = apply("div", below, above)
        # Where it changes its sign, the inverse is another concept.
        if Sample(own.tree, field.points[field.weights > 0]).is_same(turned):
            tree = turned
    return formula if tree == own.tree else Expression(tree, field.names).rename(formula.names)


def _positive_first(tree: Tree) -> Tree:
    """The same concept with a positive term first: all signs turned if none is positive, else the
    positive terms before the others.
    """
    terms = [_split(sign, term) for sign, term in signed_terms(tree)]
    if terms[0][0] > 0:
        return tree
    if all(sign < 0 for sign, _ in terms):
        return sum_of([term for _, term in terms])
    ordered = sorted(terms, key=lambda pair: pair[0] < 0)
    return sum_of([term if sign > 0 else apply("neg", term) for sign, term in ordered])


def _split(sign: int, term: Tree) -> tuple[int, Tree]:
    """A product with the signs of its factors taken out."""
    if isinstance(term.root, Constant) and term.root.value < 0:
        return -sign, constant(-term.root.value)
    if term.root == "neg":
        return _split(-sign, term.children[0])
    if term.root in ("mul", "div"):
        (first, left), (second, right) = (_split(1, part) for part in term.children)
        return sign * first * second, apply(str(term.root), left, right)
    return sign, term


def _without_factor(tree: Tree) -> Tree:
    """A product without the number that it begins with: a concept has no scale."""
    is_scaled = tree.root == "mul" and isinstance(tree.children[0].root, Constant)
    return tree.children[1] if is_scaled else tree


def _falls(formula: Expression, field: GradientField) -> bool:
    """Whether a formula falls where the latent grows; not where signs are not known."""
    if not field.is_signed or field.rank > 1:
        return False
    with np.errstate(all="ignore"):
        slopes = field.project(formula.gradient(field.points))
        along = np.einsum("nd,nd->n", field.frames[:, :, 0], slopes)
    return bool(np.nan_to_num(field.weights * np.sign(along)).sum() < 0)
