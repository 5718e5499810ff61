"""Which framework a network belongs to, and samples from any of them."""

import sys
from typing import Any, Unpack

import numpy as np

from closedform.basics.randomness import as_generator
from closedform.networks.model_files import LoadedModel
from closedform.networks.neuron import parse_neurons
from closedform.networks.options import Kind, OptionKeywords, make_options
from closedform.networks.rows import Rows, gather_rows, own_copy
from closedform.networks.samples import Samples, Source
from closedform.networks.tolerances import MAX_POINTS
from closedform.networks.wrt import arguments


def extract_samples(
    model: Any,
    inputs: Any,
    neuron: Any,
    *,
    max_points: int | None = MAX_POINTS,
    rng: int | np.random.Generator | None = None,
    **options: Unpack[OptionKeywords],
) -> Samples:
    """Values and gradients of a neuron, or of several, at points of the data; takes what
    `closedform.extract_field` takes, but for the tangent space.
    """
    source = open_source(model, inputs, neuron, max_points=max_points, rng=rng, **options)
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
    them.

    Takes what `extract_samples` takes; smoothing needs it.
    """
    generator = as_generator(rng)
    chosen = make_options(options)
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
    """The framework, where the types tell; a framework that is not loaded cannot have made the
    model.
    """
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
    few = {
        key: part[:2] if hasattr(part, "detach") else np.asarray(part[:2])
        for key, part in rows.parts.items()
    }
    positional, named = arguments(own_copy(few))
    try:
        result = model(*positional, **named)
    except (
        Exception
    ):  # a function of tensors, or of one point, may raise anything on an array of points
        result = _tried_on_tensors(model, few)
    if _is_instance(result, "torch", "Tensor"):
        return "torch"
    return "jax" if _is_instance(result, "jax", "Array") else "function"


def _tried_on_tensors(model: Any, few: dict[int | str, Any]) -> Any:
    torch = sys.modules.get("torch")
    if torch is None:
        return None
    positional, named = arguments(
        {key: torch.as_tensor(own_copy(part)) for key, part in few.items()}
    )
    try:
        return model(*positional, **named)
    except Exception:  # the source reports what is wrong, with the whole story
        return None
