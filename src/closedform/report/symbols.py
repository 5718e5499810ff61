"""Names and numbers as presentation MathML."""

import re
from fractions import Fraction
from html import escape

from closedform.shown import shown

_GREEK_NAMES = (
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda",
    "mu", "nu", "xi",
    "omicron", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega",
)  # fmt: skip
_SMALL = dict(zip(_GREEK_NAMES, "αβγδεζηθικλμνξοπρστυφχψω", strict=True))
GREEK = _SMALL | {name.capitalize(): letter.upper() for name, letter in _SMALL.items()}
"""Greek letters by their names; a capitalised name is a capital letter."""

_PARTS = re.compile(r"([^\W\d_]+)_?(\d*)|([^\W\d_]+)_(\w+)")
_LONGEST_SUBSCRIPT = 12  # letters; a longer one reads better as a word in the line
_LARGEST_DENOMINATOR = 12  # of a fraction that is shown as one
_DIGITS = 4  # of other numbers


def name_mathml(name: str) -> str:
    """An input's name: ``A12`` and ``x_1`` with a subscript, ``omega`` as the Greek letter,
    anything else as text.

    Examples
    --------
    >>> name_mathml("omega_0")
    '<msub><mi>ω</mi><mn>0</mn></msub>'
    """
    parts = _split(name)
    if parts is None:
        return f"<mtext>{escape(shown(name))}</mtext>"
    base, subscript = parts
    letter = f"<mi>{escape(GREEK.get(base, base))}</mi>"
    if not subscript:
        return letter
    inner = subscript.strip("_").replace("_", ",")
    tag = "mn" if inner.isdecimal() else "mi"
    return f"<msub>{letter}<{tag}>{escape(GREEK.get(inner, inner))}</{tag}></msub>"


def is_one_letter(name: str) -> bool:
    """Whether a name is shown as one letter, so that two of them stand side by side as a
    product.
    """
    parts = _split(name)
    return parts is not None and len(GREEK.get(parts[0], parts[0])) == 1


def _split(name: str) -> tuple[str, str] | None:
    """Base and subscript; None for a name that is better shown as it is, such as ``wind_speed``."""
    match = _PARTS.fullmatch(name)
    if match is None:
        return None
    if match[1]:
        return match[1], match[2]
    is_letter = len(GREEK.get(match[3], match[3])) == 1
    return (match[3], match[4]) if is_letter and len(match[4]) <= _LONGEST_SUBSCRIPT else None


def number_mathml(value: Fraction, digits: int = _DIGITS) -> str:
    """A number without its sign: a small fraction, a short decimal, or few digits and a power of
    ten.

    Examples
    --------
    >>> number_mathml(Fraction(1, 2)), number_mathml(Fraction("0.17345"))
    ('<mfrac><mn>1</mn><mn>2</mn></mfrac>', '<mn>0.1734</mn>')
    """
    value = abs(value)
    if value.denominator == 1 and value < 10**6:
        return f"<mn>{value.numerator}</mn>"
    if is_small_fraction(value):
        return f"<mfrac><mn>{value.numerator}</mn><mn>{value.denominator}</mn></mfrac>"
    text = f"{float(value):.{digits}g}"
    if "e" not in text:
        return f"<mn>{text}</mn>"
    mantissa, exponent = text.split("e")
    power = f"<msup><mn>10</mn>{_integer(int(exponent))}</msup>"
    return (
        power if mantissa == "1" else f"<mn>{mantissa}</mn><mo>\N{MULTIPLICATION SIGN}</mo>{power}"
    )


def is_small_fraction(value: Fraction) -> bool:
    """Whether a number reads best as a fraction: halves, thirds and quarters, and twelfths that no
    short decimal spells.
    """
    value = abs(value)
    if value.denominator == 1 or value.numerator > 99:
        return False
    no_decimal = float(f"{float(value):.{_DIGITS}g}") != value
    return value.denominator <= 4 or (value.denominator <= _LARGEST_DENOMINATOR and no_decimal)


def _integer(value: int) -> str:
    return (
        f"<mn>{value}</mn>"
        if value >= 0
        else f"<mrow><mo>\N{MINUS SIGN}</mo><mn>{-value}</mn></mrow>"
    )
