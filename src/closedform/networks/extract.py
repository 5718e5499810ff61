"""From a network, data and a neuron to a gradient field; and back, with a unit replaced."""

import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Unpack

import numpy as np

from closedform.arrays import FloatArray, frozen
from closedform.basics.keywords import checked_keywords
from closedform.basics.optional import require
from closedform.basics.randomness import as_generator
from closedform.errors import ClosedformError, ExtractionError, NetworkError, first_line, warn
from closedform.expressions.sites import GroupsLike, names_with_groups
from closedform.expressions.units import UnitsLike, as_units
from closedform.field.findings import Finding
from closedform.field.gradient_field import GradientField
from closedform.field.tangent import StatedConstraint, TangentSpace, check_tangent
from closedform.networks.flips import alike_samples, columns_of_groups, points_to_flip
from closedform.networks.neuron import Neuron, parse_neuron, parse_neurons
from closedform.networks.options import Kind, OptionKeywords, Options, chosen_columns, tried
from closedform.networks.rows import Rows, gather_rows
from closedform.networks.samples import (
    VARIES,
    Comparable,
    Samples,
    Source,
    comparable_latents,
    smooth_samples,
)
from closedform.networks.tolerances import MAX_POINTS, MAX_RADIUS
from closedform.networks.whole_network import LoadedModel


@checked_keywords
def extract_field(
    model: Any,
    inputs: Any,
    neuron: Any = None,
    *,
    names: Sequence[str] | None = None,
    tangent: str | TangentSpace = "auto",
    constraints: Sequence[StatedConstraint] = (),
    max_points: int | None = MAX_POINTS,
    smoothing: float = 0.0,
    rng: int | np.random.Generator | None = None,
    units: UnitsLike | None = None,
    groups: GroupsLike | None = None,
    **options: Unpack[OptionKeywords],
) -> GradientField:
    """Extract the gradient field of a neuron: points, and the direction in which it grows at each.

    The network is left exactly as it was, even after an error.

    Parameters
    ----------
    model : object
        A torch module, a loaded model file, a JAX function or Flax or Equinox module, a function of
        an array, or an estimator in the style of scikit-learn.
    inputs : array, table, tuple, dict, data set, loader or iterable of batches
        The data, points along the first axis. A tuple holds several positional inputs, a dictionary
        named ones.
    neuron : str, int, tuple, callable, or list of these, optional
        ``"layer.path:index"``, a tuple for positions or a direction in a layer, a function, or a
        list for several latents; see `closedform.networks.neuron.parse_neuron`. It may be left out
        where the network has one output.
    names : sequence of str, optional
        The inputs; by default the names that the data carry, else x0, x1 and so on.
    tangent : {'auto', 'none', 'linear', 'local', 'constraints'} or TangentSpace
        The data's tangent space.
    constraints : sequence of str, Expression or callable
        Functions that are constant on the data.
    max_points : int or None
        How many points are taken, chosen by `rng`; None for all.
    smoothing : float
        For rectified networks, whose gradients are piecewise constant: average each gradient over a
        Gaussian ball whose radius is this share of the data's spread, at most 0.05. 0, the default,
        takes gradients as they are.
    rng : int, numpy.random.Generator or None
        Seed.
    units : mapping of str to str, or Units, optional
        The unit of each input, ``{"m": "kg", "v": "m/s"}``; see `closedform.Units`.
    groups : mapping of str to list or Group, optional
        Inputs that are alike, ``{"s": range(100)}``; see `closedform.Group`. Those without names
        are called s[0], s[1] and so on. Gradients are means over rearrangements of a group; if its
        inputs take two values only, they are changes of the output when an input is flipped, at
        2,000 points or fewer.
    **options
        ``transform``, ``wrt``, ``fixed``, ``prepare``, ``precision``, ``batch_size``, ``batched``,
        ``step``, ``kind``: see `closedform.networks.options.Options`.

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
    >>> field = extract_field(
    ...     lambda x: np.tanh(x[:, 0] ** 2 + x[:, 1] ** 2), points, 0, names=["x", "v"]
    ... )
    >>> bool(
    ...     np.allclose(
    ...         np.abs((field.directions[:, :, 0] * points).sum(axis=1)),
    ...         np.linalg.norm(points, axis=1),
    ...     )
    ... )
    True
    """
    generator = as_generator(rng)
    check_tangent(tangent)
    check_amounts(max_points, smoothing)
    # What is wrong with units is told now, not after minutes.
    known_units = as_units(units, None if "wrt" in options else names)
    Options(**options)  # a misspelt one is the caller's mistake, not the network's
    every, names = names, _use_names(names, inputs, options)
    with _telling(inputs):
        opened = partial(open_source, model, inputs, neuron, rng=generator, **options)
        source = opened(max_points=max_points)
        told: tuple[Finding, ...] = ()
        if groups is None:
            samples = source.evaluate(source.points)
        else:
            known = columns_of_groups(source.points, groups, names)
            fewer = points_to_flip(source.points, known)
            if fewer is not None and len(source.points) > fewer:
                source = opened(max_points=fewer)
            samples, told = alike_samples(source, known, generator)
        values = comparable_latents(source, samples)
    if VARIES in samples.notes:
        warn(VARIES)
    labels = samples.names if names is None else names
    if groups is not None:
        # A lattice with more sites than points would seem to lie in a plane.
        tangent = "none" if tangent == "auto" else tangent
        labels = names_with_groups(groups, samples.points.shape[1]) if labels is None else labels
    if known_units is not None and every is not None and labels is not None:
        held = set(every) - set(labels)
        kept = {name: unit for name, unit in known_units.inputs.items() if name not in held}
        known_units = replace(known_units, inputs=kept)
    field = _field(samples, values, labels, tangent, constraints).with_units(known_units)
    if groups is not None:
        quality = replace(field.quality, findings=(*field.quality.findings, *told))
        return replace(field, quality=quality)
    if not smoothing:
        return field
    smooth = smooth_samples(
        source, samples, radius=smoothing, rng=generator, scale=field.scale, tangent=field.tangent
    )
    note = (
        f"Gradients are means over a Gaussian ball of {smoothing:g} times the spread, inside the "
        f"tangent space."
    )
    smooth = replace(smooth, notes=(*samples.notes, note))
    smoothed = _field(smooth, values, labels, field.tangent, ())
    return smoothed.with_units(known_units)


def _use_names(
    names: Sequence[str] | None, inputs: Any, options: OptionKeywords
) -> Sequence[str] | None:
    """The names of the coordinates: names of all columns are cut to those that ``wrt`` chooses."""
    wrt = options.get("wrt")
    if names is None or isinstance(names, str) or wrt is None:
        return names
    labels = list(names)
    words = [wrt] if isinstance(wrt, str) else wrt
    # An array carries no names of its own, so that these words can mean nothing else.
    is_array = hasattr(inputs, "shape") and not hasattr(inputs, "columns")
    are_words = isinstance(words, list) and words and all(isinstance(word, str) for word in words)
    if are_words and (is_array or all(word in labels for word in words)):
        columns = chosen_columns(words, labels, len(labels))
        assert columns is not None
        options["wrt"] = columns if columns != [0] else slice(0, 1)
        return [labels[column] for column in columns]
    if isinstance(wrt, slice | list | np.ndarray):
        columns = None
        with suppress(ExtractionError):  # names of the chosen columns only
            columns = chosen_columns(wrt, None, len(labels))
        if columns is not None and len(columns) < len(labels):
            return [labels[column] for column in columns]
    return names


def check_amounts(max_points: int | None, smoothing: float) -> None:
    """Make sure that points are left, and that a ball to smooth over has a size that helps."""
    if max_points is not None and max_points < 1:
        raise ExtractionError(f"max_points is {max_points}; take at least one, or None for all.")
    if not (math.isfinite(smoothing) and 0 <= smoothing <= MAX_RADIUS):
        raise ExtractionError(
            f"smoothing is {smoothing}; pass a share of the inputs' spread from 0 (no smoothing) "
            f"to {MAX_RADIUS:g}."
        )


@contextmanager
def _telling(inputs: Any) -> Iterator[None]:
    """Turn what a network says about unsuitable inputs into an error that says what to do."""
    try:
        yield
    except ClosedformError:
        raise
    except Exception as error:  # a network of the user's may raise anything
        said = first_line(error)
        said = said if said.endswith((".", "!", "?")) else f"{said}."
        kind = (
            f"of shape {tuple(inputs.shape)}"
            if hasattr(inputs, "shape")
            else f"given as {type(inputs).__name__}"
        )
        advice = (
            "Check the number of inputs and their order. A tuple holds several positional inputs, "
            "a dictionary named ones; fixed= takes further arguments, and you can wrap the network "
            "in a function of tensors."
        )
        if isinstance(error, NotImplementedError):  # such as a flow that has a log_prob alone
            advice = "Name what to call by a function: neuron=lambda model, x: model.log_prob(x)."
        raise NetworkError(f"The network failed on the inputs {kind}: {said} {advice}") from error


def _field(
    samples: Samples,
    values: Comparable,
    names: Sequence[str] | None,
    tangent: str | TangentSpace,
    constraints: Sequence[StatedConstraint],
) -> GradientField:
    labels = values.labels
    field = GradientField.from_arrays(
        samples.points,
        samples.jacobians,
        latents=values.latents,
        names=names,
        tangent=tangent,
        constraints=constraints,
        weights=None if labels is None else labels >= 0,
        notes=(*samples.notes, *values.notes),
    )
    return field if labels is None else replace(field, held=frozen(labels))


def extract_samples(*given: Any, **options: Any) -> Samples:
    """Values and gradients of neurons at points of the data; takes what `open_source` takes."""
    source = open_source(*given, **options)
    return source.evaluate(source.points)


def open_source(
    model: Any,
    inputs: Any,
    neuron: Any,
    *,
    max_points: int | None = MAX_POINTS,
    rng: int | np.random.Generator | None = None,
    **options: Unpack[OptionKeywords],
) -> Source:
    """A network with its neuron and points chosen, which can be evaluated at its points and near
    them. Takes what `extract_field` takes, except the tangent space.
    """
    generator = as_generator(rng)
    chosen = Options(**options)
    neurons = parse_neurons(neuron)
    kind = chosen.kind if chosen.kind != "auto" else _obvious_kind(model, inputs)
    rows = gather_rows(inputs, max_points=max_points, rng=generator, prepare=chosen.prepare)
    seed = int(generator.integers(2**63 - 1))
    kind = kind or _probed_kind(model, rows)
    if kind == "torch":
        from closedform.networks.torch_source import TorchSource

        loaded = model if isinstance(model, LoadedModel) else LoadedModel(model)
        return TorchSource(loaded, rows, neurons, chosen, seed=seed)
    if kind == "jax":
        from closedform.networks.jax_source import JaxSource

        return JaxSource(model, rows, neurons, chosen)
    from closedform.networks.function_source import FunctionSource

    return FunctionSource(model, rows, neurons, chosen)


def _obvious_kind(model: Any, inputs: Any) -> Kind | None:
    """The framework, where the types tell; one that is not loaded cannot have made the model."""
    if isinstance(model, LoadedModel) or _is_instance(model, "torch.nn", "Module"):
        return "torch"
    candidate = model[0] if isinstance(model, tuple) and model else model
    for module, name in (("flax.linen", "Module"), ("flax.nnx", "Module"), ("equinox", "Module")):
        if _is_instance(candidate, module, name):
            return "jax"
    if not callable(model):
        return "function"
    if type(model).__module__.split(".")[0] in ("jax", "jaxlib"):
        return "jax"
    arrays = inputs if isinstance(inputs, tuple) else (inputs,)
    if any(_is_instance(array, "torch", "Tensor") for array in arrays):
        return "torch"
    if any(_is_instance(array, "jax", "Array") for array in arrays):
        return "jax"
    return None


def _is_instance(value: Any, module: str, name: str) -> bool:
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(value, getattr(loaded, name))


def _probed_kind(model: Any, rows: Rows) -> Kind:
    """The framework of a plain function, told by what it returns."""
    few = {key: part[:2] for key, part in rows.parts.items()}
    result = tried(model, few)
    if _is_instance(result, "torch", "Tensor"):
        return "torch"
    return "jax" if _is_instance(result, "jax", "Array") else "function"


@dataclass(frozen=True, slots=True)
class Pass:
    """One run of a network."""

    outputs: FloatArray  # (n_points, n_outputs)
    values: FloatArray  # (n_points,): the neuron's own values, before anything took their place


def run_with(model: Any, points: FloatArray, neuron: Any, values: FloatArray | None) -> Pass | None:
    """Run a torch network with the values of one unit of a flat layer replaced; None where this
    cannot be done, as for an output or a network that does not take flat points.
    """
    place = parse_neuron(neuron) if not isinstance(neuron, list) else None
    if place is None or not _is_unit(place):
        return None
    if not isinstance(model, require("torch", extra="torch").nn.Module):
        return None
    from closedform.networks.torch_replacement import own_values, run_replaced

    try:
        own, outputs, _ = own_values(model, [place], points, None)
        if values is not None:
            outputs = run_replaced(model, [place], points, values[:, None])
    except (RuntimeError, TypeError, ValueError):
        # Points are flat; a network of images or of several inputs takes something else.
        return None
    if not isinstance(outputs, np.ndarray) or len(outputs) != len(points):
        return None
    return Pass(outputs.reshape(len(points), -1), own[:, 0])


def _is_unit(neuron: Neuron) -> bool:
    """Whether it is one unit of a named flat layer, before the output."""
    plain_index = len(neuron.index) == 1 and isinstance(neuron.index[0], int)
    special = (
        neuron.direction is not None
        or neuron.function is not None
        or bool(neuron.part)
        or neuron.call is not None
    )
    return bool(neuron.layer) and neuron.layer != "output" and plain_index and not special
