"""The value before a sigmoid, tanh or softmax: the same concept, without the saturation.

Every call of torch inside the block is seen. What comes out of a squashing function is remembered
with what went in; where such an output is only indexed, reshaped or copied, the steps are
remembered too, so that they can be repeated on the input.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from closedform.networks.torch_library import TorchFunctionMode, torch

SQUASHING = {
    "sigmoid": "sigmoid",
    "sigmoid_": "sigmoid",
    "special_expit": "sigmoid",
    "tanh": "tanh",
    "tanh_": "tanh",
    "log_sigmoid": "log-sigmoid",
    "logsigmoid": "log-sigmoid",
    "softmax": "softmax",
    "_softmax": "softmax",
    "special_softmax": "softmax",
    "log_softmax": "log-softmax",
    "_log_softmax": "log-softmax",
    "special_log_softmax": "log-softmax",
}
"""Names of torch functions, with and without a trailing overload, and what to call them."""

# fmt: off
_RESHAPING = frozenset(
    (
        "__getitem__", "select", "squeeze", "unsqueeze", "view", "view_as", "reshape", "reshape_as",
        "flatten",
        "unflatten", "transpose", "permute", "swapaxes", "swapdims", "moveaxis", "movedim", "t",
        "clone",
        "contiguous", "narrow", "slice", "alias", "index_select", "take_along_dim", "gather",
        "split", "chunk",
        "unbind", "to", "float", "double", "_to_copy", "_unsafe_view", "flip", "ravel",
    )
)
# fmt: on
"""Functions that move numbers and do not change them."""

_TRANSPOSED = (torch.Tensor.T.__get__, torch.Tensor.mT.__get__)  # pyright: ignore[reportAttributeAccessIssue]


@dataclass(frozen=True, slots=True, eq=False)
class TorchPreactivation:
    """What stands before a squashing function."""

    name: str  # the squashing function
    source: Any  # what went in
    axis: int | None  # the axis of a softmax
    version: int  # counts writes to `source`; later ones make it useless
    steps: tuple[Callable[[Any], Any], ...] = ()  # what was done with the output since

    def value(self) -> Any:
        """The value before the function, with the same steps taken; None if overwritten."""
        if self.source._version != self.version:
            return None
        value = self.source if self.axis is None else log_odds(self.source, self.axis)
        for step in self.steps:
            value = step(value)
        return value


class SquashingWatch(TorchFunctionMode):
    """Watches torch's functions while the network runs."""

    def __init__(self) -> None:
        super().__init__()
        self._memory: dict[int, tuple[Any, int, TorchPreactivation]] = {}

    def before(self, value: Any) -> TorchPreactivation | None:
        """What stands before a value; None where it is not the output of a squashing function."""
        entry = self._memory.get(id(value))
        if entry is None or entry[0] is not value or value._version != entry[1]:
            return None
        return entry[2]

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run a function of torch, and remember what matters of it."""
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "").split(".")[0]
        if name in SQUASHING:
            return self._squash(SQUASHING[name], func, args, kwargs, in_place=name.endswith("_"))
        result = func(*args, **kwargs)
        if (
            (name in _RESHAPING or func in _TRANSPOSED)
            and args
            and isinstance(args[0], torch.Tensor)
        ):
            self._follow(func, args, kwargs, result)
        return result

    def _squash(self, name: str, func: Any, args: Any, kwargs: Any, *, in_place: bool) -> Any:
        source = args[0] if args else kwargs.get("input", kwargs.get("self"))
        axis = _axis(args, kwargs) if "softmax" in name else None
        kept = source.clone() if in_place and isinstance(source, torch.Tensor) else source
        result = func(*args, **kwargs)
        # A softmax over one entry is constant, and one without an axis is a call that torch itself
        # warns of.
        usable = isinstance(result, torch.Tensor) and (
            "softmax" not in name or (axis is not None and result.shape[axis] > 1)
        )
        if usable:
            self._remember(result, TorchPreactivation(name, kept, axis, kept._version))
        return result

    def _follow(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        before = self.before(args[0])
        if before is None:
            return
        rest = args[1:]
        pieces = result if isinstance(result, tuple | list) else (result,)
        for place, piece in enumerate(pieces):

            def step(value: Any, place: int = place) -> Any:
                repeated = func(value, *rest, **kwargs)
                return repeated[place] if isinstance(repeated, tuple | list) else repeated

            steps = (*before.steps, step)
            self._remember(piece, replace(before, steps=steps))

    def _remember(self, result: Any, before: TorchPreactivation) -> None:
        # The tensor itself is kept with its id, so that the id cannot be given to another one.
        self._memory[id(result)] = (result, result._version, before)


def log_odds(scores: Any, axis: int) -> Any:
    """Each score minus the logsumexp of the others, along an axis, without cancellation."""
    log_shares = torch.log_softmax(scores, axis)
    top = torch.zeros_like(scores, dtype=torch.bool).scatter(
        axis, scores.argmax(axis, keepdim=True), True
    )
    # 1 - p cancels only for the largest share, and only there the logsumexp of the others is taken
    # directly. The placeholder keeps its unused branch finite, for otherwise the gradient would be
    # nan.
    small = torch.where(top, torch.full_like(log_shares, -1.0), log_shares)
    others = scores.masked_fill(top, -torch.inf).logsumexp(axis, keepdim=True)
    return torch.where(top, scores - others, small - torch.log1p(-small.exp()))


def _axis(args: Any, kwargs: Any) -> int | None:
    axis = args[1] if len(args) > 1 else kwargs.get("dim", kwargs.get("axis"))
    return axis if isinstance(axis, int) else None
