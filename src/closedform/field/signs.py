"""Whether the signs of directions mean anything: neighbours of a smooth latent point the same
way.
"""

import numpy as np

from closedform.arrays import FloatArray
from closedform.field.findings import Finding
from closedform.field.neighborhoods import evenly_spaced, nearest_others
from closedform.field.tolerances import ARBITRARY_SIGNS

MOST_COMPARED = 2000
"""Points whose neighbours are looked at: shares are then known to 1%."""

PARALLEL = 0.5
"""Cosine from which neighbours are alike but for their signs; with many inputs, where neighbours
are far apart, few are."""


def look_at_signs(scaled: FloatArray, directions: FloatArray) -> tuple[bool, tuple[Finding, ...]]:
    """Whether signs hold, and what to say if they are arbitrary.

    Parameters
    ----------
    scaled : ndarray, shape (n_points, n_inputs)
    directions : ndarray, shape (n_points, n_inputs)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> points = rng.uniform(1, 2, (500, 2))
    >>> signs = rng.choice([-1.0, 1.0], (500, 1))
    >>> look_at_signs(points, points)[0], look_at_signs(points, points * signs)[0]
    (True, False)
    """
    if len(scaled) < 2:
        return True, ()
    places = evenly_spaced(len(scaled), MOST_COMPARED)
    units = directions[places] / np.linalg.norm(directions[places], axis=1, keepdims=True)
    along = (units * units[nearest_others(scaled[places])[:, 0]]).sum(axis=1)
    if (along < 0).mean() < ARBITRARY_SIGNS:
        return True, ()
    alike = along[np.abs(along) > PARALLEL]
    share = float((alike < 0).mean()) if len(alike) else 0.0
    if 2 * len(alike) < len(along) or share < ARBITRARY_SIGNS:
        return False, ()
    message = (
        f"At {100 * share:.0f}% of the points the nearest neighbour points the opposite way: the "
        "signs of the gradients are arbitrary, so a formula that turns round, such as x**2 for x, "
        "cannot be told from one that does not. Correct the signs, or pass signed=False."
    )
    return False, (Finding("arbitrary-signs", "warning", message, {"share": share}),)
