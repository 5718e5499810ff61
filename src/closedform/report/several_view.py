"""What a report shows of several concepts and of several networks: plain data."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from closedform.expressions.expression import Expression

if TYPE_CHECKING:
    from closedform.report.figure_data import Reason, Status


@dataclass(frozen=True, slots=True)
class PartView:
    """One of several concepts.

    Attributes
    ----------
    expression : Expression
    status : {'verified', 'approximate', 'none'}
    sentence : str
        Its verdict.
    complexity : int
    misalignment : float
        Modulo the other concepts.
    reasons : tuple of Reason
    others : tuple of (Expression, int, float)
        Other candidates for its place, with complexity and misalignment.
    """

    expression: Expression
    status: "Status"
    sentence: str
    complexity: int
    misalignment: float
    reasons: tuple["Reason", ...] = ()
    others: tuple[tuple[Expression, int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class NetworkView:
    """What one of several networks says about the common concepts.

    Attributes
    ----------
    name : str
    statuses : tuple of {'verified', 'approximate', 'none'}
        One for each concept.
    misalignments : tuple of float
    constants : tuple of float
        Fitted to this network, in the order of `SeveralView.spreads`.
    """

    name: str
    statuses: tuple["Status", ...]
    misalignments: tuple[float, ...]
    constants: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class SpreadView:
    """A constant over networks: its term, mean and standard error."""

    term: str
    mean: float
    error: float


@dataclass(frozen=True, slots=True)
class SeveralView:
    """Several concepts, several networks, or both.

    Attributes
    ----------
    parts : tuple of PartView
        Empty for a single concept.
    networks : tuple of NetworkView
        Empty for a single network.
    agreement : str
        What the networks agree on.
    spreads : tuple of SpreadView
    """

    parts: tuple[PartView, ...] = ()
    networks: tuple[NetworkView, ...] = ()
    agreement: str = ""
    spreads: tuple[SpreadView, ...] = ()
