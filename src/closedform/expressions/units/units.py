"""Units: those of a field's inputs, the constants that are known, and what is allowed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from closedform.basics.keywords import checked_constructor, suggestion
from closedform.errors import UnitsError
from closedform.expressions.json_files import JsonFormat
from closedform.expressions.units.unit import Unit, read_amount, read_unit


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


_FORMAT = JsonFormat("closedform units", schema=1, written_by="field.save")


def plain_units(units: Units) -> dict[str, Any]:
    """Units as dictionaries, numbers and texts.

    Examples
    --------
    >>> units = Units({"v": "km/s"}, constants={"c": "299792458 m/s"})
    >>> read_plain_units(plain_units(units)) == units
    True
    """
    return _FORMAT.plain(units)


def read_plain_units(content: Any) -> Units | None:
    """What `plain_units` was given; None for files without units."""
    return None if content is None else _FORMAT.structured(content, Units)
