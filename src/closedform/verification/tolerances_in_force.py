"""The numbers that decided about an answer, of every room that it went through."""

from importlib import import_module
from importlib.util import find_spec
from itertools import product

ROOMS = (
    "expressions",
    "field",
    "networks",
    "alignment",
    "canonical",
    "equivalence",
    "searching",
    "selection",
    "verification",
)
"""Those below the answer; what lies above only puts them together."""

MODULES = ("tolerances", "thresholds")
"""Where a room keeps its numbers; thresholds are those that a user may move."""


def tolerances_in_force() -> dict[str, float]:
    """What the module ``tolerances`` of each room states, by room and name.

    Examples
    --------
    >>> tolerances_in_force()["field.LEAST_GAP"]
    3.0
    """
    found: dict[str, float] = {}
    for room, module in product(ROOMS, MODULES):
        path = f"closedform.{room}.{module}"
        if find_spec(path) is not None:
            for name, value in vars(import_module(path)).items():
                if name.isupper():
                    found |= _numbers(f"{room}.{name}", value)
    return found


def _numbers(name: str, value: object) -> dict[str, float]:
    """A number under its name, several with their place."""
    if isinstance(value, int | float):
        return {name: float(value)}
    if not isinstance(value, tuple):
        return {}
    return {
        f"{name}[{place}]": float(number)
        for place, number in enumerate(value)
        if isinstance(number, int | float)
    }
