"""A formula as text that depends neither on the order of its terms and factors, nor on its scale,
nor on what its inputs are called.
"""

from collections.abc import Mapping

from closedform.expressions.evaluate import number_of
from closedform.expressions.operators import OPERATORS
from closedform.expressions.sums_and_products import signed_terms
from closedform.expressions.tree import Constant, Tree, Variable

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
    return _concept(tree, labels, is_plain=False), _concept(tree, labels, is_plain=True)


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


def _concept(tree: Tree, labels: Labels, *, is_plain: bool) -> str:
    """The text of a sum without its scale, sign and constant, or of a product or its reciprocal,
    whichever is less.
    """
    summands = [term for _, term in signed_terms(tree) if not term.is_constant]
    if len(summands) == 1:
        products = [
            _factors(summands[0], power, labels, is_plain=is_plain)[1] for power in (1.0, -1.0)
        ]
        return min("*".join(sorted(factors)) for factors in products)
    terms = [term for term in _terms(tree, labels, is_plain=is_plain) if term[1]]
    scale = max((abs(number) for number, _ in terms), default=1.0)
    return _sum([(number / scale, text) for number, text in terms], is_plain=is_plain)[1]


def _terms(tree: Tree, labels: Labels, *, is_plain: bool) -> list[tuple[float, str]]:
    """The numbers and the texts of a sum's terms; that of a constant is empty."""
    found: list[tuple[float, str]] = []
    shift = 0.0
    for sign, term in signed_terms(tree):
        if term.is_constant:
            shift += sign * _number(term)
        else:
            number, factors = _factors(term, 1.0, labels, is_plain=is_plain)
            found.append((sign * number, "*".join(sorted(factors))))
    return [*found, (shift, "")] if shift else found


def _sum(terms: list[tuple[float, str]], *, is_plain: bool) -> tuple[int, str]:
    """A sign, and the text of what it multiplies: the lesser of both that are possible."""
    text, sign = min(
        (_joined([(sign * number, text) for number, text in terms], is_plain=is_plain), sign)
        for sign in (1, -1)
    )
    return sign, text


def _term(number: float, text: str, *, is_plain: bool) -> tuple[str, str]:
    """What terms are sorted by, and the term: '+' and '-' would sort before any text."""
    sign = "-" if number < 0 else "+"
    if is_plain:
        return f"{text}{sign}", f"{sign}{text or 'c'}"
    digits = _digits(abs(number))
    return f"{text}{sign}{digits}", f"{sign}{digits}*{text}" if text else f"{sign}{digits}"


def _factors(
    tree: Tree, power: float, labels: Labels, *, is_plain: bool
) -> tuple[float, list[str]]:
    """The number of a product, and the texts of its factors."""
    root = tree.root
    if tree.is_constant:
        number = _number(tree)
        whole = number**power if number > 0 or power == int(power) else float("nan")
        return whole, []
    if root == "neg":
        number, texts = _factors(tree.children[0], power, labels, is_plain=is_plain)
        return (-number if power % 2 == 1 else number), texts
    if root in ("mul", "div"):
        powers = (power, -power if root == "div" else power)
        parts = [
            _factors(child, each, labels, is_plain=is_plain)
            for child, each in zip(tree.children, powers, strict=True)
        ]
        return parts[0][0] * parts[1][0], parts[0][1] + parts[1][1]
    exponent = _exponent(tree)
    if exponent is not None:
        return _factors(tree.children[0], power * exponent, labels, is_plain=is_plain)
    sign, text = _base(tree, labels, is_plain=is_plain, is_whole=power == int(power))
    return (float(sign) if power % 2 == 1 else 1.0), [_power(text, power, is_plain=is_plain)]


def _base(tree: Tree, labels: Labels, *, is_plain: bool, is_whole: bool) -> tuple[int, str]:
    """An input, a function of something, or a sum in brackets with the sign taken out."""
    if isinstance(tree.root, Variable):
        return 1, labels.get(tree.root.index, "?")
    if tree.root in _GROUPS:
        terms = _terms(tree, labels, is_plain=is_plain)
        # The sign of what a root is taken of cannot be taken out.
        sign, text = (
            _sum(terms, is_plain=is_plain) if is_whole else (1, _joined(terms, is_plain=is_plain))
        )
        return sign, f"({text})"
    inner = [_argument(child, labels, is_plain=is_plain) for child in tree.children]
    return 1, f"{tree.root}({','.join(sorted(inner) if tree.root in _COMMUTING else inner)})"


def _argument(tree: Tree, labels: Labels, *, is_plain: bool) -> str:
    """A sum as it stands, with its sign."""
    return _joined(_terms(tree, labels, is_plain=is_plain), is_plain=is_plain)


def _joined(terms: list[tuple[float, str]], *, is_plain: bool) -> str:
    return "".join(part for _, part in sorted(_term(*term, is_plain=is_plain) for term in terms))


def _power(text: str, power: float, *, is_plain: bool) -> str:
    if power == 1:
        return text
    if is_plain and power != int(power):
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
