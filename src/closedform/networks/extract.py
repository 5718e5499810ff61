"""From a network, data and a neuron to a gradient field."""

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from closedform.field.gradient_field import GradientField
from closedform.field.tangent import StatedConstraint, TangentSpace
from closedform.networks.options import OptionKeywords
from closedform.networks.sources import MAX_POINTS, extract_samples


def extract_field(
    model: Any,
    inputs: Any,
    neuron: Any,
    *,
    names: Sequence[str] | None = None,
    tangent: str | TangentSpace = "auto",
    constraints: Sequence[StatedConstraint] = (),
    max_points: int | None = MAX_POINTS,
    rng: int | np.random.Generator | None = None,
    **options: Unpack[OptionKeywords],
) -> GradientField:
    """Look at a neuron of a network: where it is evaluated, and in which direction it grows there.

    The network is left exactly as it was, also after an error.

    Parameters
    ----------
    model : object
        A torch module, a loaded model file, a JAX function or Flax or Equinox module, a function of an array, or an estimator
        in the style of scikit-learn.
    inputs : array, table, tuple, dict, data set, loader or iterable of batches
        The data, points along the first axis. A tuple holds several positional inputs, a dictionary named ones.
    neuron : str, int, tuple, callable, or list of these
        ``"layer.path:index"``, a tuple for positions or a direction in a layer, a function, or a list for several latents; see
        `closedform.networks.neuron.parse_neuron`.
    names : sequence of str, optional
        The inputs; default: those that the data carry.
    tangent : {'auto', 'none', 'linear', 'local', 'constraints'} or TangentSpace
        The data's tangent space.
    constraints : sequence of str, Expression or callable
        Functions that are constant on the data.
    max_points : int or None
        How many points are taken, chosen by `rng`; None for all.
    rng : int, numpy.random.Generator or None
        Seed.
    **options
        ``transform``, ``wrt``, ``fixed``, ``prepare``, ``precision``, ``batch_size``, ``batched``, ``step``, ``kind``: see
        `closedform.networks.options.Options`.

    Returns
    -------
    GradientField
        Its ``notes`` say what was decided on the way.

    Raises
    ------
    NeuronError
        If the neuron does not exist, or is not one number per point.
    ExtractionError
        If there is no gradient.

    Examples
    --------
    >>> points = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    >>> field = extract_field(lambda x: np.tanh(x[:, 0] ** 2 + x[:, 1] ** 2), points, 0, names=["x", "v"])
    >>> bool(np.allclose(np.abs((field.directions[:, :, 0] * points).sum(axis=1)), np.linalg.norm(points, axis=1)))
    True
    """
    samples = extract_samples(model, inputs, neuron, max_points=max_points, rng=rng, **options)
    return GradientField.from_arrays(
        samples.points,
        samples.jacobians,
        latents=samples.latents,
        names=samples.names if names is None else names,
        tangent=tangent,
        constraints=constraints,
        notes=samples.notes,
    )
