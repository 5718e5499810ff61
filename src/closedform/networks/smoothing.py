"""Gaussian smoothing of gradients: rectified networks have piecewise constant ones, and a mean over
a small ball has not.

The mean of the gradient over a ball is the gradient of the network smoothed by that ball. It is
biased where the concept is curved, by an amount that grows with the square of the radius, so the
radius stays small and is chosen by who judges the gain.
"""

from dataclasses import replace

import numpy as np

from closedform.arrays import FloatArray
from closedform.basics.randomness import as_generator
from closedform.field.tangent_space import TangentSpace, robust_spread
from closedform.networks.samples import Samples, Source
from closedform.networks.tolerances import MAX_RADIUS


def smooth_samples(
    source: Source,
    samples: Samples,
    *,
    radius: float,
    draws: int = 16,
    rng: int | np.random.Generator | None = None,
    scale: FloatArray | None = None,
    tangent: TangentSpace | None = None,
) -> Samples:
    """Average the Jacobian over a Gaussian ball around each point.

    source: from `closedform.networks.extract.open_source`.
    samples: what it gave at its points; their points and latents are kept.
    radius: standard deviation of the ball as a share of the spread, above 0 and at most
        `MAX_RADIUS`.
    draws: evaluations for each point, in pairs on opposite sides, which cancels the first order of
        the noise.
    rng: seed.
    scale (n_inputs,): spread of each input; default: the robust spread of the points.
    tangent: where the data varies; draws stay inside it. Default: everywhere.

    With ``errors``: the standard error of each mean.
    """
    if not 0 < radius <= MAX_RADIUS:
        raise ValueError(
            f"radius={radius} is out of range: it is a share of the spread, above 0 and at "
            f"most {MAX_RADIUS}."
        )
    if draws < 2 or draws % 2:
        raise ValueError(
            f"draws={draws}: draws come in pairs, so an even number of at least 2 is needed."
        )
    points = samples.points
    scale = robust_spread(points) if scale is None else scale
    space = TangentSpace("none", points.shape[1]) if tangent is None else tangent
    generator = as_generator(rng)
    pairs = draws // 2
    mean = np.zeros(samples.jacobians.shape)
    squares = np.zeros(samples.jacobians.shape)
    for pair in range(1, pairs + 1):
        step = radius * space.displacements(generator.normal(size=(len(points), space.rank)), scale)
        both = (
            source.evaluate(points + step).jacobians + source.evaluate(points - step).jacobians
        ) / 2
        # Welford's update: the variance of close numbers, without cancellation.
        change = both - mean
        mean += change / pair
        squares += change * (both - mean)
    errors = np.sqrt(squares / max(pairs - 1, 1) / pairs)
    inside = " inside the tangent space" if space.kind != "none" else ""
    note = (
        f"Gradients are means over {draws} draws{inside}, of radius {radius:g} of the spread of "
        f"each input."
    )
    return replace(samples, jacobians=mean, notes=(*samples.notes, note), errors=errors)
