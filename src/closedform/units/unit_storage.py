"""Units as plain data, for files."""

from typing import Any

from closedform.expressions.json_files import JsonFormat
from closedform.units.units import Units

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
    """What `plain_units` was given; None for files without units.

    Raises
    ------
    StorageError
        If the content does not fit.
    """
    return None if content is None else _FORMAT.structured(content, Units)
