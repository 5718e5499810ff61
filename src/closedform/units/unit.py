"""Unit: a product of powers of base units, with its size."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import log10

TOLERANCE = 1e-3
"""Exponents this close are the same: a search fits them to three digits and more."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit, in base units.

    Attributes
    ----------
    text : str
        As the user wrote it.
    bases : mapping of str to float
        Exponents of the base units; none is 0.
    size : float
        How many of its base units it is; 1000 for a kilometre.

    Examples
    --------
    >>> Unit("km/s", {"m": 1.0, "s": -1.0}, 1000.0).is_pure
    False
    """

    text: str
    bases: Mapping[str, float]
    size: float = 1.0

    @property
    def is_pure(self) -> bool:
        """Whether it is that of pure numbers."""
        return not self.bases and abs(log10(self.size)) < TOLERANCE


def unit_text(bases: Mapping[str, float], size: float = 1.0) -> str:
    """A unit as text, factors above the line first.

    Examples
    --------
    >>> unit_text({"s": -2.0, "kg": 1.0, "m": 0.5}), unit_text({"s": -1.0}), unit_text({})
    ('kg*m**(1/2)/s**2', '1/s', '1')
    """
    above = [_power(name, bases[name]) for name in sorted(bases) if bases[name] > 0]
    below = [_power(name, -bases[name]) for name in sorted(bases) if bases[name] < 0]
    if abs(log10(size)) >= TOLERANCE:
        above.insert(0, f"{size:.6g}")
    text = "*".join(above) or "1"
    if not below:
        return text
    return f"{text}/{below[0]}" if len(below) == 1 else f"{text}/({'*'.join(below)})"


def unit_latex(text: str) -> str:
    """The text of a unit as LaTeX source, upright.

    Examples
    --------
    >>> print(unit_latex("kg*m**2/s**2"))
    \\mathrm{kg\\,m^{2}/s^{2}}
    """
    powers = re.sub(r"\*\*(?:\(([-\d/]+)\)|(-?\d+(?:\.\d+)?))", r"^{\1\2}", text)
    return f"\\mathrm{{{powers.replace('*', chr(92) + ',')}}}"


def _power(name: str, exponent: float) -> str:
    simple = Fraction(exponent).limit_denominator(12)
    if abs(float(simple) - exponent) > TOLERANCE:
        return f"{name}**{exponent:.4g}"
    if simple == 1:
        return name
    return f"{name}**{simple}" if simple.denominator == 1 else f"{name}**({simple})"
