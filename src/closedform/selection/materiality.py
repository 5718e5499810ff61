"""A choice that knows an angle which matters to nobody: below it the simpler formula wins."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from closedform.field.angles import misalignment_of
from closedform.selection.contenders import Contender
from closedform.selection.rules import ByFactor, Scene
from closedform.selection.tolerances import MATERIAL_DEGREES


@dataclass(frozen=True)
class Material(ByFactor):
    """The rule of factors on misalignments that count as the floor's where they are below it.

    Attributes
    ----------
    degrees : float
        The floor, as an angle between directions.

    Examples
    --------
    >>> round(Material(degrees=0.1).floor * 1e6, 2)
    3.05
    """

    name: str = "material"
    degrees: float = MATERIAL_DEGREES

    @property
    def floor(self) -> float:
        """The misalignment of that angle."""
        return misalignment_of(self.degrees)

    def prospects(
        self, contenders: Sequence[Contender], misalignments: Sequence[float]
    ) -> list[bool]:
        """As by factors, with the floor."""
        return super().prospects(contenders, np.maximum(misalignments, self.floor).tolist())

    def pick(self, scene: Scene) -> tuple[int, str, tuple[int, ...]]:
        """As by factors, with the floor; the reason says so where it decided."""
        seen = np.maximum(scene.scores.misalignments, self.floor)
        floored = replace(scene, scores=replace(scene.scores, misalignments=seen))
        index, reason, better = super().pick(floored)
        if scene.scores.means()[index] < self.floor:
            reason += f" Angles below {self.degrees:g} degrees count as nothing."
        return index, reason, better
