"""The key of a formula: one text for all its invertible functions with inputs by any names, and
another that forgets its constants as well. Both depend neither on the order of terms and factors,
nor on the scale.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from closedform.canonical.form import canonical_form
from closedform.errors import ExpressionError
from closedform.expressions.evaluate import number_of
from closedform.expressions.expression import Expression
from closedform.expressions.operators import OPERATORS
from closedform.expressions.parse import sort_names
from closedform.expressions.sums_and_products import signed_terms
from closedform.expressions.tree import Constant, Tree, Variable
from closedform.sweeping.atlas.probe_points import FEWEST, MOST_INPUTS, SPANS, probe_points

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


DIGITS = 9
"""Of numbers in a text: fewer than rounding spoils, and more than anybody measures."""

Labels = Mapping[int, str]
"""What inputs are called, by column; others are nameless."""

_GROUPS = ("add", "sub", "mul", "div", "neg")
_COMMUTING = ("min", "max")


def spelled(tree: Tree, labels: Labels) -> tuple[str, str]:
    """The text with numbers, and the one without.

    Signs stay in both. A constant that is added stays inside functions, where it makes another
    formula, and not at the top.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> spelled(parse("3*log(1 + x)/2 - y**0.5 + 7").tree, {0: "a", 1: "b"})
    ('+0.666666667*b^0.5-1*log(+1+1*a)', '+b^p-log(+c+a)')
    """
    return _Speller(labels, False).concept(tree), _Speller(labels, True).concept(tree)


def input_order(tree: Tree) -> list[int]:
    """The inputs in an order that does not depend on their names.

    One after another, the input is taken whose places in the formula spell the least text, those
    that follow being nameless. Of inputs with equal places, which nearly always can be exchanged,
    any is taken.
    """
    order: list[int] = []
    left = set(tree.variables)
    while left:
        named = {column: f"x{place + 1}" for place, column in enumerate(order)}
        texts = {column: spelled(tree, named | {column: "@"})[::-1] for column in sorted(left)}
        order.append(min(texts, key=lambda column: texts[column]))
        left.remove(order[-1])
    return order


@dataclass(frozen=True, slots=True)
class _Speller:
    """Spells trees, with their numbers or plainly, without them."""

    labels: Labels
    is_plain: bool

    def concept(self, tree: Tree) -> str:
        """The text of a sum without its scale, sign and constant, or of a product or its
        reciprocal, whichever is less.
        """
        summands = [term for _, term in signed_terms(tree) if not term.is_constant]
        if len(summands) == 1:
            products = [self.factors(summands[0], power)[1] for power in (1.0, -1.0)]
            return min("*".join(sorted(factors)) for factors in products)
        terms = [term for term in self.terms(tree) if term[1]]
        scale = max((abs(number) for number, _ in terms), default=1.0)
        return self.signed([(number / scale, text) for number, text in terms])[1]

    def terms(self, tree: Tree) -> list[tuple[float, str]]:
        """The numbers and the texts of a sum's terms; that of a constant is empty."""
        found: list[tuple[float, str]] = []
        shift = 0.0
        for sign, term in signed_terms(tree):
            if term.is_constant:
                shift += sign * _number(term)
            else:
                number, factors = self.factors(term, 1.0)
                found.append((sign * number, "*".join(sorted(factors))))
        return [*found, (shift, "")] if shift else found

    def signed(self, terms: list[tuple[float, str]]) -> tuple[int, str]:
        """A sign, and the text of what it multiplies: the lesser of both that are possible."""
        text, sign = min(
            (self.joined([(sign * number, text) for number, text in terms]), sign)
            for sign in (1, -1)
        )
        return sign, text

    def joined(self, terms: list[tuple[float, str]]) -> str:
        """A sum as it stands, sorted by texts: '+' and '-' would sort before any."""
        parts = []
        for number, text in terms:
            sign = "-" if number < 0 else "+"
            if self.is_plain:
                parts.append((f"{text}{sign}", f"{sign}{text or 'c'}"))
            else:
                digits = _digits(abs(number))
                written = f"{sign}{digits}*{text}" if text else f"{sign}{digits}"
                parts.append((f"{text}{sign}{digits}", written))
        return "".join(part for _, part in sorted(parts))

    def factors(self, tree: Tree, power: float) -> tuple[float, list[str]]:
        """The number of a product, and the texts of its factors."""
        root = tree.root
        if tree.is_constant:
            number = _number(tree)
            whole = number**power if number > 0 or power == int(power) else float("nan")
            return whole, []
        if root == "neg":
            number, texts = self.factors(tree.children[0], power)
            return (-number if power % 2 == 1 else number), texts
        if root in ("mul", "div"):
            (first, texts), (second, others) = (
                self.factors(child, each)
                for child, each in zip(
                    tree.children, (power, -power if root == "div" else power), strict=True
                )
            )
            return first * second, texts + others
        exponent = _exponent(tree)
        if exponent is not None:
            return self.factors(tree.children[0], power * exponent)
        sign, text = self.base(tree, is_whole=power == int(power))
        return (float(sign) if power % 2 == 1 else 1.0), [self.power(text, power)]

    def base(self, tree: Tree, *, is_whole: bool) -> tuple[int, str]:
        """An input, a function of something, or a sum in brackets with the sign taken out."""
        if isinstance(tree.root, Variable):
            return 1, self.labels.get(tree.root.index, "?")
        if tree.root in _GROUPS:
            terms = self.terms(tree)
            # The sign of what a root is taken of cannot be taken out.
            sign, text = self.signed(terms) if is_whole else (1, self.joined(terms))
            return sign, f"({text})"
        inner = [self.joined(self.terms(child)) for child in tree.children]
        return 1, f"{tree.root}({','.join(sorted(inner) if tree.root in _COMMUTING else inner)})"

    def power(self, text: str, power: float) -> str:
        """A factor with its exponent."""
        if power == 1:
            return text
        if self.is_plain and power != int(power):
            return f"{text}^p" if power > 0 else f"{text}^-p"
        return f"{text}^{_digits(power)}"


def _exponent(tree: Tree) -> float | None:
    """The power that a function is of its operand, None if it is none."""
    if tree.root == "pow" and isinstance(tree.children[1].root, Constant):
        return float(tree.children[1].root.value)
    fixed = (
        OPERATORS[str(tree.root)].power if isinstance(tree.root, str) and tree.children else None
    )
    return None if fixed is None else float(fixed)


def _number(tree: Tree) -> float:
    return float(tree.root.value) if isinstance(tree.root, Constant) else number_of(tree)


def _digits(number: float) -> str:
    return f"{number:.{DIGITS}g}"
