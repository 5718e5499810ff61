"""Which functions of one quantity there are, as texts: x is the quantity, and b, c and p are
constants inside. ``log:`` stands for the logarithm of what follows.
"""

from collections.abc import Iterator

BASIC = (
    "x", "x**2", "x**3", "1/x", "1/x**2", "sqrt(x)", "exp(x)", "exp(-x)", "sin(x)", "cos(x)",
    "log: x", "log: sin(x)", "log: cos(x)", "log: x + 1", "log: x - 1", "log: x**2 + 1",
    "log: x**2 - 1", "log: 1/x + 1", "log: 1/x - 1", "log: 1/x**2 + 1", "log: 1/x**2 - 1",
    "log: exp(x) - 1", "log: exp(x) + 1", "log: log(x)", "log: log(x + 1)", "tanh(x)",
    "log: tanh(x)",
)  # fmt: skip
"""Forms without constants that would have to be fitted; a quotient that was found may be the
inverse of what stands in the formula.
"""

WIDER = (
    ("exp(b*x)", "rates"), ("sin(b*x)", "waves"), ("cos(b*x)", "waves"), ("sin(b*x + c)", "phases"),
    ("1/(x + c)", "many poles"), ("sqrt(x + c)", "beyond"), ("sqrt(x**2 + c)", "squares"),
    ("(x + c)**2", "poles"), ("tanh(b*x)", "rises"),
    ("atan(b*x)", "rises"),
    ("(exp(b*x) - 1)**2", "rates"), ("x**p", "powers"), ("x*log(x)", "none"),
    ("log: x + c", "many poles"), ("log: sin(b*x)", "waves"),
    ("log: cos(b*x)", "waves"),
    ("log: exp(b*x) + c", "offsets"), ("log: log(x) + c", "logarithms"),
    ("log: exp(b*x) + exp(c*x)", "opposite"),
    ("log: tanh(b*x)", "rises"), ("log: cos(b*x) + c", "ripples"), ("1/(exp(b*x) + c)", "offsets"),
    ("log: sqrt(x) + c", "roots"),
    ("log: (c + x)/(c - x)", "mirrors"), ("log: x**p + c", "powered"),
    ("log: log(x + c)", "shifts"), ("log: exp(b*x) - 1", "rates"), ("log: log(b*x + 1)", "rises"),
    ("log: (x + c)**2 + b", "resonances"), ("log: x**4 + c", "quartics"),
)  # fmt: skip
"""Forms with constants inside, each with the list of values to start from."""


COMPOSED = (
    ("exp(b*u)", "rates"), ("sin(b*u)", "some waves"), ("cos(b*u)", "some waves"),
    ("1/(u + c)", "poles"),
    ("tanh(b*u)", "rises"),
    ("log: u + c", "poles"), ("log: exp(b*u) + c", "offsets"), ("log: log(u + c)", "shifts"),
    ("log: sin(b*u)", "some waves"), ("log: cos(b*u)", "some waves"), ("log: tanh(b*u)", "rises"),
    ("log: exp(b*u) - 1", "rates"), ("log: log(b*u + 1)", "rises"),
)  # fmt: skip
"""Functions of a power of the quantity, which may enter by any of them: u stands for one of
`POWERS`.
"""

SPECIAL = (
    ("log(exp(b*u) + 1)", "rates"), ("log: log(exp(b*u) + 1)", "rates"),
    ("log(1 - exp(b*u))", "rates"), ("log: log(1 - exp(b*u))", "rates"),
    ("log(exp(b*u) + exp(-b*u))", "rises"), ("log: log((exp(b*u) + exp(-b*u))/2)", "rises"),
    ("u/(exp(b*u) - 1)", "rates"), ("(1 - exp(b*u))/u", "rates"), ("sin(b*u)/u", "waves"),
    ("atan(b*u)/u", "rises"), ("1/tanh(b*u) - 1/(b*u)", "rises"),
    ("log: 1/tanh(b*u) - 1/(b*u)", "rises"), ("(b*u - 1)/log(b*u)", "rises"),
    ("log: (b*u - 1)/log(b*u)", "rises"), ("u*exp(b*u)", "rates"), ("sqrt(u)*exp(b*u)", "rates"),
    ("u**p*exp(-c*u)", "scaled rises"), ("u/(u**p + c)", "powered"), ("u**u", "none"),
)  # fmt: skip
"""Functions with a name of their own in some science, such as Langevin's, Planck's, Debye's and the
logarithmic mean; u stands for the quantity or one of `POWERS`.
"""

ROOTS = (
    ("log: sqrt(b*u + 1) + 1", "rises"), ("log: sqrt(b*u + 1) - 1", "rises"),
    ("log: u + sqrt(u**2 + c)", "squares"), ("log: sqrt(b*u**2 + 1) + 1", "rises"),
    ("log: sqrt(b*u**2 + 1) - 1", "rises"),
)  # fmt: skip
"""Roots of quadratic equations; u stands for the quantity or its inverse."""

INVERSE = (
    ("log: exp(b/x) + exp(c/x)", "opposite"), ("log: (c + 1/x)/(c - 1/x)", "mirrors"),
    ("log: c + 1/x**2", "squares"), ("log: (1/x + c)**2 + b", "resonances"),
)  # fmt: skip
"""A quotient that was found may as well be the inverse of what stands in the formula."""

PLAIN = (
    "exp(b*x)", "1/(x + c)", "sqrt(x + c)", "sqrt(x**2 + c)", "(x + c)**2", "x*log(x)",
    "log: x + c", "log: x**2 + c", "log: exp(b*x) + c", "log: log(x) + c", "log: log(x + c)",
    "log: sqrt(x) + c", "1/(exp(b*x) + c)", "log: x**4 + c", "log: x**3 + c", "atan(b*x)",
    "log: atan(b*x)",
)  # fmt: skip
"""Forms whose constants are 1 or -1 in rivals."""

POWERS = (("1/x", -1.0), ("x**2", 2.0), ("sqrt(x)", 0.5), ("1/sqrt(x)", -0.5), ("x**3", 3.0))

ANY_POWER = (
    ("exp(c*x**p)", "scaled powers"), ("log: sin(c*x**p)", "scaled powers"),
    ("log: cos(c*x**p)", "scaled powers"), ("log: tanh(c*x**p)", "scaled powers"),
    ("log: exp(c*x**p) - 1", "scaled powers"), ("log: log(c*x**p + 1)", "scaled powers"),
)  # fmt: skip
"""Functions of a power that is fitted too: a quantity that was found may be any power of what is in
the formula.
"""


def with_ones(text: str) -> Iterator[str]:
    """A family with each of its constants 1 or -1.

    Examples
    --------
    >>> list(with_ones("log: exp(b*x) + c"))
    ['log: exp(x) + 1', 'log: exp(x) - 1', 'log: exp(-x) + 1', 'log: exp(-x) - 1']
    """
    # The sign inside these functions comes out, or goes.
    has_parity = any(name in text for name in ("sin(", "cos(", "tanh(", "atan("))
    for factor, quotient in (("", "1/"),) if has_parity else (("", "1/"), ("-", "-1/")):
        scaled = text.replace("b*", factor).replace("b/", quotient)
        for offset in ("+ 1", "- 1"):
            yield scaled.replace("+ c", offset)
            if "+ c" not in text:
                break
        if "b" not in text.removeprefix("log: "):
            return


def composed(text: str, power: str) -> str:
    """A family with a power in the place of u; b/x rather than b*(1/x)."""
    if power.startswith("1/"):
        text = text.replace("b*u", "b" + power.removeprefix("1"))
    return text.replace("u", power if power == "x" else f"({power})")
