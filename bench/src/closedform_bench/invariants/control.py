"""Controls of the track `field`: fields that follow no closed form, so that every law that is
claimed of them is false.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from closedform.arrays import FloatArray
from closedform.field.gradient_field import GradientField

N_WAVES = 60
N_CONTROL_POINTS = 2000


@dataclass(frozen=True, slots=True)
class FieldControl:
    """A field without a closed form.

    Attributes
    ----------
    name, title : str
    n_inputs, n_latents : int
    gradients : callable
        From points and a generator to the gradients of one latent.
    """

    name: str
    title: str
    n_inputs: int
    n_latents: int
    gradients: Callable[[FloatArray, np.random.Generator], FloatArray]

    def field(self, seed: int) -> GradientField:
        """The control's field, another one for each seed."""
        rng = np.random.default_rng([seed, sum(self.name.encode())])
        points = rng.uniform(-2, 2, (N_CONTROL_POINTS, self.n_inputs))
        jacobians = np.stack([self.gradients(points, rng) for _ in range(self.n_latents)], axis=1)
        return GradientField.from_arrays(
            points, jacobians, names=("x", "y", "z", "w", "u")[: self.n_inputs], tangent="none"
        )


def random_waves(points: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Values and gradients of a random smooth function: sixty waves of random direction, phase and
    size.

    Examples
    --------
    >>> values, gradients = random_waves(np.zeros((5, 3)), np.random.default_rng(0))
    >>> values.shape, gradients.shape
    ((5,), (5, 3))
    """
    waves = rng.normal(size=(N_WAVES, points.shape[1]))
    phases, sizes = rng.uniform(0, 2 * np.pi, N_WAVES), rng.normal(size=N_WAVES)
    angles = points @ waves.T + phases
    return np.cos(angles) @ sizes, -(np.sin(angles) * sizes) @ waves


def _smooth(points: FloatArray, rng: np.random.Generator) -> FloatArray:
    return random_waves(points, rng)[1]


def _noise(points: FloatArray, rng: np.random.Generator) -> FloatArray:
    return rng.normal(size=points.shape)


FIELD_CONTROLS: dict[str, FieldControl] = {
    control.name: control
    for control in (
        FieldControl("smooth-2", "a random smooth function of two inputs", 2, 1, _smooth),
        FieldControl("smooth-4", "a random smooth function of four inputs", 4, 1, _smooth),
        FieldControl("two-smooth-4", "two random smooth functions of four inputs", 4, 2, _smooth),
        FieldControl("noise-3", "random directions in three inputs", 3, 1, _noise),
        FieldControl("two-noise-5", "random planes in five inputs", 5, 2, _noise),
    )
}
