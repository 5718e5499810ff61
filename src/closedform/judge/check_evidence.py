"""What checks look at: the concept, the points it is judged on, and what was measured there."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.interpretation.evidence import Alignment
from closedform.judge.confidence import Judged
from closedform.judge.thresholds import Thresholds


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a check looks at.

    Attributes
    ----------
    concept : Expression
    field : GradientField
        The points that the concept is judged on; search, choice and fitting have not seen them.
    rows : ndarray of int, shape (n_points,)
        Which points of the whole field these are.
    n_points : int
        Different usable points in all, those of search and choice included.
    rng : Generator
    thresholds : Thresholds
    alignment : Alignment
    judged : Judged
        The weights of the concept and of all that competed.
    is_complete : bool
        Whether other formulas were looked for to the end: not if the search was interrupted.
    """

    concept: Expression
    field: GradientField
    rows: NDArray[np.int64]
    n_points: int
    rng: np.random.Generator
    thresholds: Thresholds
    alignment: Alignment
    judged: Judged
    is_complete: bool = True
