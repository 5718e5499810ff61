"""The key of a formula: one text for all its invertible functions with inputs by any names, and
another that forgets its constants as well.
"""

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from closedform.canonical.form import canonical_form
from closedform.errors import ExpressionError
from closedform.expressions.expression import Expression
from closedform.expressions.parse import sort_names
from closedform.expressions.tree import Constant
from closedform.sweeping.atlas.probe_points import FEWEST, MOST_INPUTS, SPANS, probe_points
from closedform.sweeping.atlas.spelling import input_order, spelled

N_CANONICAL = 512
"""Points on which a form is found; every step of it is compared with the formula there."""

ID_BYTES = 8
"""Of the names of pages: among 10^6 concepts two are alike with a probability of 10^-7."""

INVERTIBLE = (
    "add", "sub", "mul", "div", "neg", "inv", "exp", "log", "sqrt", "cube", "tanh", "atan", "sinh",
    "asin", "acos", "erf",
)  # fmt: skip
"""Functions of one argument, the other being a number, that are monotone wherever they are finite,
on each side of a pole.
"""


@dataclass(frozen=True, slots=True)
class ConceptKey:
    """What a formula is called in an atlas."""

    form: Expression  # canonical, with the inputs that occur, in the key's order
    text: str  # the form with its numbers, its inputs numbered
    law: str  # the same without numbers

    @property
    def id(self) -> str:
        """A short name for links."""
        return short_name(self.text)

    @property
    def law_id(self) -> str:
        """A short name for links to the law."""
        return short_name(self.law)


def short_name(text: str) -> str:
    """A checksum of a key's text."""
    return blake2b(text.encode(), digest_size=ID_BYTES).hexdigest()


def concept_key(expression: Expression) -> ConceptKey:
    """The key of a formula.

    Examples
    --------
    >>> import closedform as cf
    >>> one, other = (
    ...     concept_key(cf.parse(text)) for text in ("v**2/2 + g*h", "exp(-0.3*a*b - 0.15*c**2)")
    ... )
    >>> one.text == other.text, one.law
    (True, '+x1^2+x2*x3')
    """
    used = only_used(expression)
    if not used.names:
        raise ExpressionError(f"{expression} is constant; look up a formula with inputs.")
    if len(used.names) > MOST_INPUTS:
        raise ExpressionError(
            f"The formula has {len(used.names)} inputs, and the atlas knows formulas of up to "
            f"{MOST_INPUTS}."
        )
    form = only_used(_canonical(without_outer(used)))
    order = input_order(form.tree)
    labels = {column: f"x{place + 1}" for place, column in enumerate(order)}
    names = tuple(form.names[column] for column in order)
    return ConceptKey(form.rename(names), *spelled(form.tree, labels))


def only_used(expression: Expression) -> Expression:
    """The formula as one of the inputs that occur in it, by name."""
    names = sort_names({expression.names[place] for place in expression.tree.variables})
    return expression.rename(names)


def without_outer(expression: Expression) -> Expression:
    """What is left without outer functions that can be inverted wherever they are finite, and
    without numbers around it: tanh(9*g + 2) saturates where g itself can still be told.
    """
    tree = expression.tree
    while True:
        inner = [child for child in tree.children if not child.is_constant]
        exponent = tree.children[1].root if tree.root == "pow" else None
        is_number = isinstance(exponent, Constant)
        # The sign of the base is lost in even powers.
        if is_number and exponent.value.numerator % 2 == 0:
            break
        if len(inner) != 1 or not (tree.root in INVERTIBLE or is_number):
            break
        tree = inner[0]
    return Expression(tree, expression.names)


def _canonical(expression: Expression) -> Expression:
    """On positive points; unchanged where there are too few at which it is finite."""
    for span in SPANS:
        points = probe_points(len(expression.names), span)
        points = points[np.isfinite(expression.gradient(points)).all(axis=1)]
        if len(points) >= FEWEST:
            form = canonical_form(expression, points[:N_CANONICAL])
            return form if form.tree.variables else expression
    return expression
