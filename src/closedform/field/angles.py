"""Angles between directions as misalignments."""

import numpy as np


def misalignment_of(degrees: float) -> float:
    """The misalignment, 1 - cos^2, of directions that differ by an angle.

    Examples
    --------
    >>> round(misalignment_of(30), 12)
    0.25
    """
    return float(np.sin(np.radians(degrees)) ** 2)
