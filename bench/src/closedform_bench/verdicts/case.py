"""One thing to be read, with all that is known about it and that the reading does not see."""

from dataclasses import dataclass
from typing import Literal

import closedform as cf
from closedform_bench.formulas.problem import Problem

Part = Literal["fields", "networks", "controls"]
PARTS: tuple[Part, ...] = ("fields", "networks", "controls")


@dataclass(frozen=True, slots=True)
class VerdictCase:
    """A field with the truth about it.

    Attributes
    ----------
    name : str
    kind : str
        Of a network its activation and number of training points, of a control what it is.
    field : GradientField
    problem : Problem or None
        What is to be found; None for a control, in which nothing is.
    """

    name: str
    kind: str
    field: cf.GradientField
    problem: Problem | None = None
