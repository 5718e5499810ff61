"""All systems of the benchmark by name."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from closedform.basics.keywords import suggestion
from closedform.errors import ClosedformError
from closedform_bench.invariants.algebraic import ALGEBRAIC_SYSTEMS
from closedform_bench.invariants.dynamics_many import MANY_SYSTEMS
from closedform_bench.invariants.dynamics_plane import PLANE_SYSTEMS
from closedform_bench.invariants.dynamics_space import SPACE_SYSTEMS
from closedform_bench.invariants.system import System

Entry = TypeVar("Entry")


class UnknownSystemError(ClosedformError, KeyError):
    """There is no system of this name."""

    def __str__(self) -> str:
        return str(self.args[0])


SYSTEMS: dict[str, System] = {
    system.name: system
    for system in (*PLANE_SYSTEMS, *SPACE_SYSTEMS, *MANY_SYSTEMS, *ALGEBRAIC_SYSTEMS)
}
"""27 dynamical and 12 algebraic systems."""


def choose(names: Sequence[str], known: Mapping[str, Entry]) -> list[Entry]:
    """The entries of some names, or all without any.

    Raises
    ------
    UnknownSystemError
        With a suggestion.

    Examples
    --------
    >>> [system.name for system in choose(["sir", "kepler"], SYSTEMS)]
    ['sir', 'kepler']
    """
    for name in names:
        if name not in known:
            hint = suggestion(name, list(known)) or "."
            raise UnknownSystemError(
                f"There is no system named {name!r}{hint} Known: {', '.join(known)}."
            )
    return [known[name] for name in dict.fromkeys(names)] if names else list(known.values())
