"""Which functions of one quantity there are, as texts, and the constants to start from.

x is the quantity, and b, c and p are constants inside; ``log:`` stands for the logarithm of what
follows.
"""

from collections.abc import Iterator

import numpy as np

from closedform.arrays import FloatArray

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
    ("log: sin(b*u)", "arches"), ("log: cos(b*u)", "arches"), ("log: tanh(b*u)", "rises"),
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


WAVES = (1.5, 3.0, 4.5, 6.0, 8.0, 10.0, 12.5, 15.0, 18.0, 22.0)
"""Angles that sines and cosines run through over the range of a quantity."""


ARCHES = (0.4, 0.8, 1.2, 1.6, 2.0, 2.4, 2.8)
"""Angles that those without a zero run through."""


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


def starting_values(values: FloatArray) -> dict[str, list[tuple[float, float]]]:
    """Pairs of b and c to start from, by the names of lists, in the quantity's own size."""
    low, high = (float(number) for number in np.quantile(values, (0.16, 0.84)))
    spread = max((high - low) / 2, 1e-300)
    low, high = values.min(), values.max()
    rates = [(sign * size / spread, 0.0) for size in (0.2, 0.6, 1.5, 4.0) for sign in (1, -1)]
    # Arguments without units mostly have the factor 1.
    plain = [(sign, 0.0) for sign in (1.0, -1.0) if 0.05 < spread < 20]
    rates += plain
    waves = plain[:1] + [(size / max(high - low, 1e-300), 0.0) for size in WAVES]
    arches = [(size / max(high - low, 1e-300), 0.0) for size in ARCHES]
    inside = [(0.0, -float(np.quantile(values, share))) for share in (0.2, 0.5, 0.8)]
    within = np.log(np.quantile(np.abs(values), (0.1, 0.3, 0.5, 0.7, 0.9))) * -1.0
    beyond = [(0.0, -low + size * spread) for size in (0.1, 0.6, 2.5)]
    above = [(0.0, -high - size * spread) for size in (0.1, 0.6, 2.5)]
    outside = [
        (0.0, number)
        for size in (0.05, 0.2, 0.35, 1.0, 1.6, 5.0)
        for number in (-low + size * spread, -high - size * spread)
    ]
    typical = float(np.median(values**2))
    squares = [(0.0, size * typical) for size in (0.2, 1.0, 4.0)]
    squares += [
        (0.0, -(low**2 if low > 0 else 0.0) * 0.8),
        (0.0, -(max(low**2, high**2)) * 1.3),
        (0.0, -0.5 * typical),
    ]
    size = max(abs(low), abs(high))
    return {
        "none": [(0.0, 0.0)],
        "rates": rates,
        "waves": waves,
        "some waves": waves[:1] + waves[1::2],
        "arches": waves[:1] + waves[1::2] + arches,
        "phases": [(b, c) for b, _ in waves[1:7] for c in (0.8, 2.3)],
        "poles": [*inside, *beyond, *above],
        "many poles": [*inside, *beyond, *above, *outside],
        "beyond": beyond,
        "squares": squares,
        "rises": [(size / spread, 0.0) for size in (0.2, 0.4, 0.8, 1.6)] + plain[:1],
        "opposite": [(size / spread, -size / spread) for size in (0.3, 0.8, 2.0)],
        "powered": [
            (power, float(np.power(c * size, power)))
            for power in (3.0, 4.0, 6.0, 1.5)
            for c in (abs(low) / size, 0.3, 0.5, 0.8)
        ],
        "shifts": [(0.0, -low + size * max(abs(low), spread)) for size in (0.5, 1.0, 2.0)],
        "powers": [(power, 0.0) for power in (0.25, 0.75, 1.5, 2.5, 4.0, -0.25, -0.5, -1.5, -3.0)],
        "offsets": [(b, c) for b, _ in rates for c in (-1.0, 1.0)],
        "logarithms": [(0.0, c) for c in (-2.0, -0.5, 0.7, 2.0, *within)],
        "ripples": [(b, c) for b, _ in waves[:6] for c in (-1.3, 0.6, 1.3)],
        "scaled powers": [
            (power, sign * float(np.power(size, -power)))
            for power in (-2.0, -0.5, 0.5, 1.5)
            for sign in (1, -1)
        ],
        "scaled rises": [
            (power, rate / spread) for power in (0.6, 1.5, 2.5) for rate in (0.4, 1.0, 2.5)
        ],
        "roots": [(0.0, c * np.sqrt(size)) for c in (-0.5, 0.15, 0.5, 1.5)],
        "quartics": [(0.0, size * typical * typical) for size in (0.2, 1.0, 4.0)],
        "resonances": [(size * spread * spread, c) for _, c in inside for size in (0.03, 0.3)],
        "mirrors": [(0.0, 1.2 * size), (0.0, 2.5 * size)],
    }
