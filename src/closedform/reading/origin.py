"""Origin: what an answer was read from, kept with it while the program runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from closedform.field.gradient_field import GradientField


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Origin:
    """The field, and what was asked of it.

    It is left behind when an answer is saved or sent to another process: a field can be large.

    Attributes
    ----------
    field : GradientField
    asked : mapping of str to object
        Engine, space, rule, checks, thresholds and progress.
    """

    field: GradientField
    asked: Mapping[str, Any]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(None), ()
