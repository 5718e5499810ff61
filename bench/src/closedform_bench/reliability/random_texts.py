"""Random texts, right and wrong, and whether what is read is printed and read back the same."""

import random
from typing import Literal

from closedform.errors import ExpressionError
from closedform.expressions.operators import ALIASES, FUNCTIONS
from closedform.expressions.parse import parse

Outcome = Literal["same", "refused", "different"]

NAMES = (
    "x", "v", "x1", "x_10", "_", "e", "E", "e5", "E_1", "pi2", "β", "Ω_0", "日本", "x٣", "Ⅷ",
    "`r²`",
    "`v 1`", "`x'`",
    "`sin`", "`ln`", "`exp`", "`Abs`", "`x`", '`a"b`', "`c:\\d`", "`2`", "`1e5`", "`-x`", "`x+y`",
    "`x**2`", "`(`",
    "`,`", "`<b>`", "`$x$`", "`#%&`", "`\\input{a}`", "`½`", "`²`", "`٣`", "`é`", "`e\u0301`",
    "`😀`", "`=`",
)  # fmt: skip
"""Names that are taken, as they stand in text."""

BAD_NAMES = (
    "r²",
    "`pi`",
    "`π`",
    "``",
    "` x`",
    "`x `",
    "`\x1b[2J`",
    "`a\r\nb`",
    "`\u202ex`",
    "`\u200b`",
    "`\ud800`",
    "sin",
    "½",
)
"""Names that are refused."""

NUMBERS = (
    "0", "1", "2", "3", "7", "10", "0.1", ".5", "5.", "00.10", "1E+5", "1e-3", "1e16", "1e17",
    "1e-5", "1e-6", "1e300",
    "5e-324", "1e-300", "1.7976931348623157e299", "0.30000000000000004", "0e-400", "1e-320",
    "9" * 41, "0." + "3" * 60,
    "1." + "7" * 50 + "e-310",
)  # fmt: skip
"""Numbers that are taken."""

BAD_NUMBERS = (
    "1e-600",
    "1e301",
    "2e-324",
    "1e99999",
    "9" * 301,
    "9" * 401,
    "٣",
    "1_000",
    "0x1f",
    "1e",
    "1.2.3",
    "nan",
    "inf",
)
"""Numbers that are refused, or that mean something else."""

_SIGNS = "+-*/^().,`= \t\neE_xβ²0123456789πsin"
_BINARY = (" + ", "+", " - ", "-", "*", " * ", "/", " / ", "**", "^")
_CALLS = (*FUNCTIONS, *ALIASES)
_CHAINS = ("-", "(", "sin(", "x**-", "x**", "-(", "x-(-", "2/", "x/(", "(-2)**")


def random_text(rng: random.Random) -> str:
    """A text that mostly can be read: from the grammar, and two times in five changed in a few
    places.

    Parameters
    ----------
    rng : random.Random
        Not NumPy's: single draws take a tenth of the time.

    Examples
    --------
    >>> random_text(random.Random(3))
    'π^x'
    """
    text = _grown(rng, rng.choice((0, 1, 1, 2, 2, 3, 4)))
    if rng.random() < 0.004:  # the longest texts by far: more of them would take most of the time
        text = _chained(rng, text)
    if rng.random() < 0.4:
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            text = _changed(rng, text)
    return text


def round_trip(text: str) -> Outcome:
    """Whether a text that is read is also printed and read back as the same tree with the same
    names.

    Any error but `ExpressionError` is passed on: the parser must raise no other.

    Examples
    --------
    >>> round_trip("-`r²`**2/3"), round_trip("1e-600*x")
    ('same', 'refused')
    """
    try:
        expression = parse(text)
    except ExpressionError:
        return "refused"
    try:
        printed = str(expression)
        is_same = (
            parse(printed) == expression and parse(printed, names=expression.names) == expression
        )
    except ExpressionError:
        return "different"
    return "same" if is_same else "different"


def _grown(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.1:
        return _leaf(rng)
    kind = rng.random()
    if kind < 0.6:
        return f"{_grown(rng, depth - 1)}{rng.choice(_BINARY)}{_grown(rng, depth - 1)}"
    if kind < 0.7:
        return f"{rng.choice(('-', '-', '+', '--'))}{_grown(rng, depth - 1)}"
    if kind < 0.85:
        return f"({_grown(rng, depth - 1)})"
    name = rng.choice(_CALLS)
    count = FUNCTIONS[ALIASES.get(name, name)].arity
    return f"{name}({', '.join(_grown(rng, depth - 1) for _ in range(count))})"


def _leaf(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.5:
        return rng.choice(NAMES)
    if kind < 0.65:
        return rng.choice(NUMBERS)
    if kind < 0.8:
        return repr(rng.choice((rng.random(), rng.gauss(0, 1e3), rng.randrange(100))))
    if kind < 0.85:
        return f"{rng.randrange(1, 10 ** rng.randrange(1, 25))}e{rng.randrange(-330, 305)}"
    if kind < 0.9:
        return f"{rng.randrange(1, 100)}/{rng.randrange(0, 100)}"
    if kind < 0.94:
        return rng.choice(("pi", "π"))
    if kind < 0.98:
        return f"`{_any_characters(rng)}`"
    return rng.choice((*BAD_NAMES, *BAD_NUMBERS))


def _any_characters(rng: random.Random) -> str:
    """A few characters from all of Unicode, those of the first plane more often."""
    return "".join(
        chr(rng.randrange(32, rng.choice((127, 0x3000, 0x3000, 0x110000))))
        for _ in range(rng.randrange(1, 5))
    )


def _chained(rng: random.Random, text: str) -> str:
    """Deep nesting around a text, now and then deeper than is read."""
    times = rng.choice((3, 30, 199, 200, 201, 300))
    link = rng.choice(_CHAINS)
    return link * times + text + ")" * (link.count("(") - link.count(")")) * times


def _changed(rng: random.Random, text: str) -> str:
    """One character put in, taken out, exchanged or doubled."""
    place = rng.randrange(len(text) + 1)
    sign = rng.choice(_SIGNS) if rng.random() < 0.9 else chr(rng.randrange(0x110000))
    kind = rng.randrange(4)
    if kind == 0:
        return text[:place] + sign + text[place:]
    if kind == 1:
        return text[:place] + text[place + 1 :]
    if kind == 2:
        return text[:place] + sign + text[place + 1 :]
    return text[:place] + text[max(0, place - 3) : place] + text[place:]
