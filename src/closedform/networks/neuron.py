"""How a user points at a neuron: text, a tuple, a direction, a function, or a list of these."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from closedform.arrays import FloatArray, frozen
from closedform.basics.keywords import suggestion
from closedform.errors import NeuronError

REDUCTIONS = ("mean", "sum", "max", "min")
"""What can stand for a position: the neuron is then taken over all positions."""

EVERY = "*"
"""Stands for all units of a flat layer: one latent each."""

LISTED_LAYERS = 40
"""How many layers an error message lists."""

_TEXT = re.compile(
    r"(?P<layer>[^\[\]@:]*)(?P<part>(?:\[[^\[\]]+\])*)(?:@(?P<call>-?\d+))?(?::(?P<index>.*))?"
)

Index = tuple[int | str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Neuron:
    """One place in a network whose value is a number per point.

    Make one with `parse_neuron`.

    Examples
    --------
    >>> parse_neuron("encoder.2:7").index
    (7,)
    """

    layer: str = ""  # path of the layer; empty for the network's output
    index: Index = ()
    """One entry per axis of the layer's output after the points' axis: a position, or a reduction
    over that axis. A reduction in the last place covers all axes that remain.
    """
    direction: FloatArray | None = None
    """Weights over the layer's units; the neuron is the inner product with them."""
    function: Callable[..., Any] | None = None
    """Of the activation, or of the model and its inputs; values of shape (n_points,)."""
    whole_model: bool = False  # whether the function takes the model rather than an activation
    part: Index = ()  # which entry of a layer's output, where that is a tuple or a dictionary
    call: int | None = None
    """Which call, for a layer that runs several times in one pass, counted from 0; negative from
    the end.
    """

    def __str__(self) -> str:
        if self.whole_model:
            return f"the function {getattr(self.function, '__name__', 'given')!r}"
        place = (self.layer or "output") + "".join(f"[{entry}]" for entry in self.part)
        place += f"@{self.call}" if self.call is not None else ""
        index = ",".join(str(entry) for entry in self.index)
        if self.function is not None:
            return f"a function of {place!r}"
        if self.direction is not None:
            return f"a direction in {place!r}" + (f" at {index}" if index else "")
        return f"{place}:{index}" if index else place


def parse_neuron(selector: Any) -> Neuron:
    """Read one selector.

    Parameters
    ----------
    selector : str, int, tuple, callable, Neuron or None
        ``"layer.path:index"``; several positions as ``"conv:3,5"`` (channel, position), a reduction
        as ``"conv:3,mean"``, all units of a layer as ``"encoder:*"``. ``":0"``, ``"output:0"`` and
        ``0`` mean the network's output. ``"gru[1]:0"`` takes an entry of an output that is a tuple
        or dictionary, ``"encoder@1:0"`` the second of several calls. Tuples: ``("conv", 3)``,
        ``("conv", (3, 5))``, ``("conv", 3, "mean")``; ``("layer", vector)`` for a direction, with
        the position after it where the layer has positions; ``("layer", function)`` for a function
        of the layer's output. A callable alone is called as ``function(model, inputs)``. Functions
        return one value per point. None is the network's output, where that is one number.

    Returns
    -------
    Neuron

    Raises
    ------
    NeuronError
        If the selector has another form.

    Examples
    --------
    >>> str(parse_neuron(("conv", 3, "mean")))
    'conv:3,mean'
    >>> parse_neuron("gru[1]@-1:0,2").part
    (1,)
    """
    if isinstance(selector, Neuron):
        return selector
    if selector is None:
        return Neuron()
    if isinstance(selector, str):
        return _from_text(selector)
    if isinstance(selector, int | np.integer) and not isinstance(selector, bool):
        return Neuron(index=(int(selector),))
    if isinstance(selector, tuple) and selector and isinstance(selector[0], str):
        return _from_tuple(selector)
    if callable(selector):
        return Neuron(function=selector, whole_model=True)
    raise NeuronError(
        f"{selector!r} does not point at a neuron. Use text such as 'layer.path:index', a "
        f"tuple (layer, index), "
        "(layer, vector) or (layer, function), a function of (model, inputs), or a list of these.",
        neuron=repr(selector),
    )


def parse_neurons(selector: Any) -> tuple[Neuron, ...]:
    """Read one selector or a list of them, one latent each."""
    if not isinstance(selector, list):
        return (parse_neuron(selector),)
    if not selector:
        raise NeuronError("The list of neurons is empty; name at least one.", neuron="[]")
    return tuple(parse_neuron(entry) for entry in selector)


def unknown_layer(neuron: Neuron, known: Iterable[str], model: object = None) -> NeuronError:
    """The error for a layer that does not exist, with the nearest name and the list of layers; for
    the name of a method, how to read that.
    """
    layers = tuple(name for name in known if name)
    hint = suggestion(neuron.layer, layers) or "."
    if neuron.layer.isdecimal():
        hint = f"; for unit {neuron.layer} of the output pass ':{neuron.layer}'."
    # Of its class: an attribute of the model itself may be a property that raises.
    if callable(getattr(type(model), neuron.layer, None)):
        hint = f", but a method; pass lambda model, x: model.{neuron.layer}(x) as the neuron."
    shown = (
        ", ".join(layers[:LISTED_LAYERS]) or "none (only the output and functions can be chosen)"
    )
    more = f" and {len(layers) - LISTED_LAYERS} more" if len(layers) > LISTED_LAYERS else ""
    message = f"There is no layer {neuron.layer!r}{hint} Layers: {shown}{more}."
    return NeuronError(message, neuron=str(neuron), known=layers)


def _from_text(text: str) -> Neuron:
    match = _TEXT.fullmatch(text.strip())
    if match is None:
        raise NeuronError(
            f"{text!r} is not of the form 'layer.path:index', such as 'encoder.2:7' or 'conv:3,5'.",
            neuron=text,
        )
    index = match["index"] or ""
    return Neuron(
        layer=match["layer"],
        index=_index(index.split(",") if index.strip() else [], text),
        part=tuple(_number(entry) for entry in re.findall(r"\[([^\[\]]+)\]", match["part"])),
        call=None if match["call"] is None else int(match["call"]),
    )


def _from_tuple(selector: tuple[Any, ...]) -> Neuron:
    place, *rest = selector
    if ":" in place:
        raise NeuronError(
            f"In the tuple {selector!r} the layer must be named without an index; got {place!r}.",
            neuron=place,
        )
    base = _from_text(place)
    if not rest:
        return base
    choice, position = rest[0], rest[1:]
    places = choice if isinstance(choice, tuple) else (choice,)
    if all(isinstance(place, int | str | np.integer) for place in places):
        return replace(base, index=_index([*places, *position], selector))
    if callable(choice) and not hasattr(choice, "__array__"):
        if position:
            raise NeuronError(
                f"A function of a layer takes no position; got {position!r}.", neuron=str(base)
            )
        return replace(base, function=choice)
    return replace(base, direction=_direction(choice, base), index=_index(position, selector))


def _direction(vector: Any, base: Neuron) -> FloatArray:
    values = vector.detach().double().cpu().numpy() if hasattr(vector, "detach") else vector
    try:
        direction = frozen(values)
    except (TypeError, ValueError) as error:
        raise NeuronError(
            f"A direction in {str(base)!r} must be an array of numbers; got {vector!r}."
        ) from error
    if direction.ndim == 0 or not np.isfinite(direction).all() or not direction.any():
        raise NeuronError(
            f"A direction in {str(base)!r} must be a finite vector that is not zero; got "
            f"{vector!r}."
        )
    return direction


def _index(entries: Sequence[Any], selector: Any) -> Index:
    flat = [
        place for entry in entries for place in (entry if isinstance(entry, tuple) else (entry,))
    ]
    index = tuple(_number(place) for place in flat)
    for entry in index:
        if isinstance(entry, str) and entry not in (*REDUCTIONS, EVERY):
            hint = suggestion(entry, REDUCTIONS) or "."
            raise NeuronError(
                f"{entry!r} in {selector!r} is neither a number nor one of "
                f"{', '.join(REDUCTIONS)}{hint}",
                neuron=str(selector),
            )
    if EVERY in index and index != (EVERY,):
        raise NeuronError(
            f"'*' in {selector!r} must stand alone: it means every unit of a flat layer.",
            neuron=str(selector),
        )
    return index


def _number(entry: Any) -> int | str:
    if isinstance(entry, int | np.integer):
        return int(entry)
    text = str(entry).strip()
    return int(text) if re.fullmatch(r"-?\d+", text) else text
