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
    found = {}
    for room in ROOMS:
        module = f"closedform.{room}.tolerances"
        if find_spec(module) is None:
            continue
        for name, value in vars(import_module(module)).items():
            if not name.isupper():
                continue
            several = value if isinstance(value, tuple) else (value,)
            for place, number in enumerate(several):
                suffix = f"[{place}]" if isinstance(value, tuple) else ""
                found[f"{room}.{name}{suffix}"] = float(number)
    return found
