"""Units: those of a field's inputs, the constants that are known, and what is allowed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import log10
from typing import Any

from closedform.basics.keywords import checked_constructor, suggestion
from closedform.errors import UnitsError, first_line

TOLERANCE = 1e-3
"""Exponents this close are the same: a search fits them to three digits and more."""


_PINT_BASES = {
    "[mass]": "kg", "[length]": "m", "[time]": "s", "[current]": "A", "[temperature]": "K",
    "[substance]": "mol", "[luminosity]": "cd",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit, in base units."""

    text: str  # as the user wrote it
    bases: Mapping[str, float]  # exponents of the base units; none is 0
    size: float = 1.0  # how many of its base units it is; 1000 for a kilometre


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


def read_unit(given: Any) -> Unit:
    """A unit from text or from an object of pint or astropy.

    given: text is read by pint. An empty text, ``"1"`` and ``"dimensionless"`` mean pure numbers.
    """
    if isinstance(given, Unit):
        return given
    if isinstance(given, str):
        return _of_text(given)
    if hasattr(given, "dimensionality") and hasattr(given, "_REGISTRY"):
        return _of_pint(given, str(getattr(given, "units", given)))
    if hasattr(given, "decompose") and hasattr(given, "bases"):
        return _of_astropy(given)
    raise UnitsError(
        f"A unit is {given!r:.60}, of type {type(given).__name__}; pass text such as 'kg*m/s**2', "
        f"or a unit of pint or astropy."
    )


def read_amount(given: Any) -> tuple[float, Unit]:
    """A number with its unit, from text such as ``'299792458 m/s'``, a pair, or a quantity."""
    if isinstance(given, tuple) and len(given) == 2:
        return float(given[0]), read_unit(given[1])
    if isinstance(given, str):
        number, _, unit = given.strip().partition(" ")
        try:
            return float(number), _of_text(unit)
        except ValueError as error:
            if isinstance(error, UnitsError):
                raise
            raise UnitsError(
                f"A known constant is {given!r}; write its value, a space and its unit, such as "
                f"'299792458 m/s'."
            ) from error
    for value in ("magnitude", "value"):
        if hasattr(given, value):
            unit = getattr(given, "units", None) or getattr(given, "unit", None)
            return float(getattr(given, value)), read_unit(unit)
    raise UnitsError(
        f"A known constant is {given!r:.60}; pass text such as '299792458 m/s', a pair of a number "
        f"and a unit, or a quantity of pint or astropy."
    )


def _of_text(text: str) -> Unit:
    plain = text.strip()
    if not plain:
        return Unit("1", {})
    import pint

    try:
        unit = pint.get_application_registry().parse_units(plain)
    except Exception as error:  # pint raises errors of tokenizers and parsers of many kinds
        raise UnitsError(
            f"The unit {text!r} cannot be read ({first_line(error):.80}); write it as in "
            f"'kg*m/s**2', or '1' for a pure number."
        ) from error
    return _of_pint(unit, plain)


def _of_pint(given: Any, text: str) -> Unit:
    make = given._REGISTRY.Quantity
    unit = getattr(given, "units", given)
    if make(0.0, unit).to_base_units().magnitude != 0:
        raise UnitsError(
            f"The unit {text!r} does not start at zero, so twice the number is not twice the "
            "quantity. Convert the input to an absolute unit such as kelvin, or pass a unit of "
            "differences such as 'delta_degC'."
        )
    bases: dict[str, float] = {
        _PINT_BASES.get(str(name), str(name).strip("[]")): float(power)
        for name, power in unit.dimensionality.items()
    }
    return Unit(text, dict(sorted(bases.items())), float(make(1.0, unit).to_base_units().magnitude))


def _of_astropy(given: Any) -> Unit:
    plain = given.si.decompose()
    bases = {
        base.to_string(): float(power)
        for base, power in zip(plain.bases, plain.powers, strict=True)
        if base.to_string() != "rad"
    }
    return Unit(given.to_string(), bases, float(plain.scale))


@dataclass(frozen=True, slots=True)
class KnownConstant:
    """A number of nature that formulas may hold, such as the speed of light."""

    value: float
    unit: Unit


@checked_constructor
@dataclass(frozen=True)
class Units:
    """What is known about the units of a formula.

    Attributes
    ----------
    inputs : mapping of str to str, Unit, or object of pint or astropy
        The unit of each input; ``"1"`` for a pure number. An input that is not named may have any.
    constants : mapping of str to str, pair or quantity
        Constants of nature that may occur in the formula: ``{"c": "299792458 m/s"}``.
    pure_numbers : bool
        Whether fitted constants must be pure numbers, or products of powers of the known
        constants.

    Examples
    --------
    >>> units = Units({"m": "kg", "v": "m/s"}, constants={"c": "299792458 m/s"})
    >>> units.inputs["v"].bases
    {'m': 1.0, 's': -1.0}
    """

    inputs: Mapping[str, Unit]
    constants: Mapping[str, KnownConstant] = field(default_factory=dict)
    pure_numbers: bool = False

    def __init__(
        self,
        inputs: Mapping[str, Any],
        *,
        constants: Mapping[str, Any] | None = None,
        pure_numbers: bool = False,
    ) -> None:
        if not isinstance(inputs, Mapping):
            raise UnitsError(
                f"units is {inputs!r:.60}; pass a dictionary such as {{'m': 'kg', 'v': 'm/s'}}."
            )
        known = {
            name: given if isinstance(given, KnownConstant) else KnownConstant(*read_amount(given))
            for name, given in (constants or {}).items()
        }
        object.__setattr__(self, "inputs", {n: read_unit(u) for n, u in inputs.items()})
        object.__setattr__(self, "constants", known)
        object.__setattr__(self, "pure_numbers", bool(pure_numbers))

    def check_inputs(self, names: Sequence[str]) -> None:
        """Make sure that every unit belongs to an input.

        Raises
        ------
        UnitsError
            If one is not.
        """
        for name in self.inputs:
            if name not in names:
                hint = suggestion(name, names) or "."
                raise UnitsError(
                    f"A unit was given for {name!r}, but there is no such input{hint} The inputs "
                    f"are {', '.join(names)}."
                )

    @cached_property
    def analysts(self) -> dict[tuple[str, ...], Any]:
        """What was prepared to look at formulas of some inputs; see `legality.analyst_of`."""
        return {}

    @property
    def text(self) -> str:
        """The units of the inputs, as the command line takes them."""
        return ", ".join(f"{name}={unit.text}" for name, unit in self.inputs.items())


UnitsLike = Units | Mapping[str, Any]
"""What a public function takes as `units`."""


def as_units(given: UnitsLike | None, names: Sequence[str] | None = None) -> Units | None:
    """Units from what a user passes; None stays None."""
    if given is None:
        return None
    units = given if isinstance(given, Units) else Units(given)
    if names is not None:
        units.check_inputs(names)
    return units
