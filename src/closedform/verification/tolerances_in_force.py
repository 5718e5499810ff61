"""The numbers that decided about an answer, of every room that it went through."""

from importlib import import_module
from importlib.util import find_spec

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


def tolerances_in_force() -> dict[str, float]:
    """What the module ``tolerances`` of each room states, by room and name.

    Examples
    --------
    >>> tolerances_in_force()["field.LEAST_GAP"]
    3.0
    """
    found: dict[str, float] = {}
    for room in ROOMS:
        module = f"closedform.{room}.tolerances"
        if find_spec(module) is None:
            continue
        for name, value in vars(import_module(module)).items():
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
