"""Where the verdict's lines are drawn, and all numbers that decided about an answer."""

from dataclasses import asdict, dataclass
from importlib import import_module
from pkgutil import iter_modules

from closedform.basics.keywords import checked_constructor, required_kind
from closedform.judge.confidence import LISTED, weighing


@checked_constructor
@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where the verdict draws its lines.

    Attributes
    ----------
    confidence : float
        Least confidence of `verified`.
    approximate : float
        Largest upper bound of the mean misalignment, relative to chance, of anything but `none`.
    span : float
        For several latents: the largest upper bound, relative to chance, of the share of a
        concept's directions outside those of the latents.
    points : int
        Fewest points from which anything is verified: with fewer, intervals over regions mean
        nothing.
    rounding : float
        Misalignment up to which a fit is exact: an angle of 1e-6, which single precision leaves.
    """

    confidence: float = LISTED
    approximate: float = 0.1
    span: float = 0.02
    points: int = 100
    rounding: float = 1e-12


def as_thresholds(thresholds: Thresholds | None) -> Thresholds:
    """The lines themselves, or the usual ones."""
    lines = Thresholds() if thresholds is None else thresholds
    required_kind(lines, Thresholds, "thresholds", "pass closedform.Thresholds(...)")
    return lines


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
