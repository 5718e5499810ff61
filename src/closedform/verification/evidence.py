"""What checks look at: the concept, the points it is judged on, and what was measured there."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.interpretation.answer import FrontEntry
from closedform.interpretation.evidence import Alignment, Phi, Rival, Stability
from closedform.interpretation.verdict import CheckResult
from closedform.verification.thresholds import Thresholds


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a check looks at.

    Attributes
    ----------
    concept : Expression
    complexity : int
    field : GradientField
        The points that the concept is judged on; search and choice have not seen them.
    rows : ndarray of int, shape (n_points,)
        Which points of the whole field these are.
    labels : ndarray of int, shape (n_points,)
        Their regions.
    n_points : int
        Different usable points in all, those of search and choice included.
    rng : Generator
    thresholds : Thresholds
    alignment : Alignment
    phi : Phi or None
    stability : Stability or CheckResult
        What halves of the data said, or why they were not asked.
    others : tuple of FrontEntry or CheckResult
        Other formulas that were looked for or given, measured on the same points, or why there are
        none.
    rivals : tuple of Rival
        Those of them that the points cannot tell from the concept.
    noise : float
        Misalignment that independent noise of the directions causes.
    choice : str
        Why a rule chose the concept; empty for a formula that was stated.
    """

    concept: Expression
    complexity: int
    field: GradientField
    rows: NDArray[np.int64]
    labels: NDArray[np.int64]
    n_points: int
    rng: np.random.Generator
    thresholds: Thresholds
    alignment: Alignment
    phi: Phi | None
    stability: Stability | CheckResult
    others: tuple[FrontEntry, ...] | CheckResult = ()
    rivals: tuple[Rival, ...] = ()
    noise: float = 0.0
    choice: str = ""
