"""How long a description is: what a formula costs to write, and what it leaves over."""

from dataclasses import dataclass

import numpy as np

from closedform.arrays import FloatArray
from closedform.field.alignment.tolerances import ROUNDING

NATS = 0.7
"""What a unit of complexity costs, as a natural logarithm of likelihood."""


@dataclass(frozen=True, slots=True)
class Yardstick:
    """Measures descriptions of a field.

    Attributes
    ----------
    effective : int
        As how many independent points the field counts.
    floor : float
        Losses far below this are alike: rounding, noise, or a network's bias.

    Examples
    --------
    >>> long_and_exact, short = Yardstick(40, 1e-3)([1e-4, 1e-3], [30, 5])
    >>> bool(short < long_and_exact)
    True
    """

    effective: int = 200
    floor: float = ROUNDING

    def __call__(self, loss: FloatArray | float, cost: FloatArray | float) -> FloatArray:
        """How many nats it takes to describe a field by a form and what it leaves over."""
        return self.effective / 2 * np.log(np.asarray(loss) + self.floor) + NATS * np.asarray(cost)

    def relative_to(self, energy: float) -> "Yardstick":
        """The same for losses that are shares of an energy."""
        return Yardstick(self.effective, self.floor / energy)


USUAL_YARDSTICK = Yardstick()
"""For fields that are exact, as far as is known."""

BIASED_YARDSTICK = Yardstick(effective=40)
"""For networks: neighbouring points have the same bias, so a field counts as few."""
