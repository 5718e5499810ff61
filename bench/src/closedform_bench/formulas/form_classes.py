"""Six classes of formulas that are not sums and products of parts with separate inputs.

Each function draws a formula in which every name occurs. What by accident is of another kind is
left out afterwards (`closedform_bench.formulas.drawn_forms`).
"""

from collections.abc import Callable, Sequence

import numpy as np

CONSTANTS = (0.3, 0.5, 0.7, 1.5, 2.0, 3.0)
EXPONENTS = (0.6, 0.7, 1.3, 1.5, 2.5)
CURVES = (
    "exp(-{})", "exp(-{c}*{})", "log({c} + {})", "sqrt({c} + {})", "tanh({})", "sin({})",
    "1/({c} + {})",
)  # fmt: skip
"""Functions of a part; c is a constant."""

BENDS = (*CURVES, "sqrt({})", "({})**2", "({})**{p}")
"""Powers as well, of which one within the other would be one; p is an exponent."""

ADDED = (
    "({u} - 1)/log({u})", "({u}**{p} + {c})**2", "1/(exp({u}) - 1)", "{u}/(exp({u}) - 1)",
    "1/tanh({u}) - 1/{u}", "{u}**{p}*exp(-{u})", "(1 - exp(-{u}))/{u}", "sin({u})/{u}",
    "{u}/({c} + {u}**{p})", "atan({u})/{u}", "{u}**{u}",
)  # fmt: skip
"""Functions of one quantity to which something is added; a factor would let powers be taken out."""

MULTIPLIED = (
    "log(cosh({u}))", "log(1 - exp(-{u}))", "log(1 + exp({u}))", "log(1 + {u}**{p})",
    "({u} - 1)/log({u})", "(1/tanh({u}) - 1/{u})",
)  # fmt: skip
"""Those that get a factor, which may be part of u; something added would let a logarithm be
undone.
"""

Draw = Callable[[Sequence[str], np.random.Generator], str]


def shared(names: Sequence[str], rng: np.random.Generator) -> str:
    """Summands that share an input, such as ``exp(-a/t) + c*log(b + t)``."""
    common, *others = names
    cut = int(rng.integers(0, len(others)))
    left, right = [common, *others[:cut]], [common, *others[cut:]]
    if len(names) == 3 and rng.random() < 0.3:
        pairs = (names[:2], names[1:], (names[2], names[0]))
        return " + ".join(_summand(pair, rng) for pair in pairs)
    return f"{_summand(left, rng)} {rng.choice(['+', '-'])} {_constant(rng)}*{_summand(right, rng)}"


def outside(names: Sequence[str], rng: np.random.Generator) -> str:
    """A function of one quantity that no library has, and another input, such as
    ``z*log(cosh(x*y))``.
    """
    inner, last = names[: max(len(names) - 1, 2)], names[-1]
    u = f"({_constant(rng)}*{_quantity(inner, rng)})"
    if rng.random() < 0.5:
        return f"{_filled(ADDED, rng, u=u)} + {_constant(rng)}*{_bent(last, rng)}"
    if rng.random() < 0.5:
        return f"{inner[0]}*{_filled(MULTIPLIED, rng, u=u)} + {last}"
    return f"{last}*{_filled(MULTIPLIED, rng, u=u)}"


def root(names: Sequence[str], rng: np.random.Generator) -> str:
    """The root of a quadratic or cubic equation, such as ``x + sqrt(x**2 + y*z)``."""
    cut = int(rng.integers(1, len(names)))
    b, c = _quantity(names[:cut], rng), f"{_constant(rng)}*{_quantity(names[cut:], rng)}"
    kind = int(rng.integers(5))
    if kind == 4:  # g**3 + 3*c*g = 2*b
        size = f"sqrt(({b})**2 + ({c})**3)"
        return f"({size} + {b})**(1/3) - ({size} - {b})**(1/3)"
    if kind == 3:  # a*g**2 - 2*b*g = c
        a = str(rng.choice(list(names)))
        return f"({b} + sqrt(({b})**2 + {a}*{c}))/{a}"
    if kind == 2:
        return f"sqrt(({b})**2 + {c}) - {b}"
    return f"{b} + sqrt(({b})**2 + {c})"


def piecewise(names: Sequence[str], rng: np.random.Generator) -> str:
    """A minimum, a maximum or an absolute value, such as ``max(a - b**2, a/2)``."""
    cut = int(rng.integers(1, len(names)))
    one, two = _quantity(names[:cut], rng), _quantity(names[cut:], rng)
    least, common = str(rng.choice(["min", "max"])), str(rng.choice(list(names)))
    kind = int(rng.integers(4))
    if kind == 0:
        return f"{common}*{least}({one}, {_constant(rng)}*{two})"
    if kind == 1:
        return f"{least}({one}, {_constant(rng)}*{two}) + {_constant(rng)}*{_bent(common, rng)}"
    if kind == 2:
        return f"{common} + {_constant(rng)}*abs({one} - {_constant(rng)}*{two})"
    return f"{least}({one} - {_constant(rng)}*{two}, {_constant(rng)}*{common})"


def rational(names: Sequence[str], rng: np.random.Generator) -> str:
    """A quotient of sums of products that share inputs, such as ``(x + 2*y*z)/(1 + x*z)``."""
    above, below = (_products(rng.permutation(list(names)).tolist(), rng) for _ in range(2))
    return f"({above})/({_constant(rng)} + {below})"


def nested(names: Sequence[str], rng: np.random.Generator) -> str:
    """A function within a function that shares its inputs, such as ``x + y*exp(-y*exp(-x))``."""
    x, y, *others = names
    inner = _quantity([x, *others[1::2], *([y] if rng.random() < 0.3 else [])], rng)
    outer = _quantity([y, *others[::2]], rng)
    core = _filled(CURVES, rng, f"{outer}*{_filled(CURVES, rng, inner)}")
    return f"{x} + {y}*{core}" if rng.random() < 0.5 else f"{y} + {_constant(rng)}*{x}*{core}"


CLASSES: dict[str, Draw] = {
    "shared": shared, "outside": outside, "root": root, "piecewise": piecewise,
    "rational": rational, "nested": nested,
}  # fmt: skip
"""By name; the suite takes them in turn."""


def _summand(names: Sequence[str], rng: np.random.Generator) -> str:
    """A quantity, a function of one, both, or a quotient with a sum below."""
    kind, cut = rng.random(), int(rng.integers(len(names)))
    if kind > 0.8 and cut:
        sign, below = rng.choice(["+", "-"]), _quantity(names[cut:], rng)
        return f"{_power(names[-1], rng)}/({names[0]} {sign} {_constant(rng)}*{below})"
    if kind < 0.4 or cut == 0:
        return _quantity(names, rng) if kind < 0.2 else _bent(_quantity(names, rng), rng)
    return f"{_quantity(names[:cut], rng)}*{_bent(_quantity(names[cut:], rng), rng)}"


def _quantity(names: Sequence[str], rng: np.random.Generator) -> str:
    """A product, quotient or sum of powers of inputs."""
    text = _power(names[0], rng)
    if len(names) == 2 and rng.random() < 0.2:
        return f"({text} + {_constant(rng)}*{_power(names[1], rng)})"
    for name in names[1:]:
        text += f"{rng.choice(['*', '/'])}{_power(name, rng)}"
    return f"({text})" if len(names) > 1 else text


def _products(names: Sequence[str], rng: np.random.Generator) -> str:
    """A sum of two products of one or two inputs: two to four of the names."""
    cut = (len(names) + 1) // 2
    pairs = names[:cut][:2], names[cut - int(rng.random() < 0.5) :][:2]
    return " + ".join(f"{_constant(rng)}*{'*'.join(_power(n, rng) for n in p)}" for p in pairs)


def _power(name: str, rng: np.random.Generator) -> str:
    return name + str(rng.choice(["", "", "", "**2"]))


def _bent(part: str, rng: np.random.Generator) -> str:
    return _filled(BENDS, rng, part)


def _filled(texts: Sequence[str], rng: np.random.Generator, *parts: str, **more: str) -> str:
    exponent = f"{float(rng.choice(EXPONENTS)):g}"
    return str(rng.choice(texts)).format(*parts, c=_constant(rng), p=exponent, **more)


def _constant(rng: np.random.Generator) -> str:
    return f"{float(rng.choice(CONSTANTS)):g}"
