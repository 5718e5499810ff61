"""The numbers that decided about an answer, of every room that it went through."""

from dataclasses import asdict
from importlib import import_module
from pkgutil import iter_modules

from closedform.judge.evidence import weighing
from closedform.judge.thresholds import Thresholds

ROOMS = ("expressions", "field", "networks", "field.alignment", "canonical")
"""Those that keep their numbers in a module ``tolerances``."""

OPEN_ROOMS = ("judge.neighbours", "judge")
"""Those that keep them where they are used."""


def tolerances_in_force() -> dict[str, float]:
    """The named numbers of each room, by room and name, and those that were fitted.

    Examples
    --------
    >>> found = tolerances_in_force()
    >>> found["field.LEAST_GAP"], found["judge.N_REGIONS"], "judge.with_values.price" in found
    (3.0, 24.0, True)
    """
    found: dict[str, float] = {}
    for room in ROOMS:
        found |= _numbers_in(room, f"closedform.{room}.tolerances")
    found |= _numbers_in("searching", "closedform.searching.structure_search.loss_tolerances")
    for room in OPEN_ROOMS:
        found |= numbers_of(room)
    fitted = {"with_values": weighing(has_values=True), "without": weighing(has_values=False)}
    for kind, each in (*fitted.items(), ("thresholds", Thresholds())):
        for name, value in asdict(each).items():
            found |= _numbers(f"judge.{kind}.{name}", value)
    return found


def numbers_of(room: str) -> dict[str, float]:
    """The named numbers of all modules of a room, for rooms that not every answer goes through.

    Examples
    --------
    >>> numbers_of("reading.alike")["reading.alike.BY_VALUES"]
    0.95
    """
    found: dict[str, float] = {}
    package = import_module(f"closedform.{room}")
    for module in sorted(iter_modules(package.__path__), key=lambda each: each.name):
        found |= _numbers_in(room, f"closedform.{room}.{module.name}")
    return found


def _numbers_in(room: str, path: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, value in vars(import_module(path)).items():
        if name.isupper() and not name.startswith("_") and name != "TYPE_CHECKING":
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
