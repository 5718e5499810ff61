"""What checks look at: the concept, the points it is judged on, and what was measured there."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.interpretation.answer import FrontEntry
from closedform.interpretation.evidence import Alignment, Phi
from closedform.interpretation.verdict import CheckResult
from closedform.searching.decomposition import Decomposition
from closedform.verification.alternatives import Contested
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
    outcome : Contested
        How the concept compares with its rivals.
    not_looked : CheckResult or None
        Why no rivals were looked for.
    others : tuple of FrontEntry
        Other formulas of the front, measured on the same points.
    structure : Decomposition or None
        Which inputs enter together, as the search saw it.
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
    outcome: Contested
    not_looked: CheckResult | None = None
    others: tuple[FrontEntry, ...] = ()
    structure: Decomposition | None = None
    choice: str = ""
