"""What each ONNX operator is in torch.

An entry takes the inputs, None for one that is left out, and the node's attributes, to which
``opset`` and ``outputs`` (how many are asked for) are added. It returns a tensor, or a tuple of
them. An operator that is not here is never run. ``tests/networks/test_onnx_operators.py`` compares
each one with ONNX's own reference, in every version that differs; one without such a test does not
belong here.
"""

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from closedform.networks.torch_state import nn, torch

F = nn.functional
Inputs = Sequence[Any]
Given = dict[str, Any]
Operator = Callable[[Inputs, Given], Any]

_REAL, _BOOL, _WHOLE = (1, 10, 11), 9, (6, 7)
"""Types that a cast may name: those of TensorProto."""


def _numbers(inputs: Inputs, place: int, given: Given, name: str) -> list[int] | None:
    """A list that old operator sets keep in an attribute and new ones in an input."""
    if len(inputs) > place and inputs[place] is not None:
        return inputs[place].reshape(-1).tolist()
    return given.get(name)


def _optional(inputs: Inputs, place: int) -> Any:
    return inputs[place] if len(inputs) > place else None


def _divide(x: Any, y: Any) -> Any:
    return x / y if x.is_floating_point() else torch.div(x, y, rounding_mode="trunc")


def _softplus(x: Any) -> Any:
    # torch's own is the identity beyond 20, which is 2e-9 off.
    return torch.logaddexp(x, torch.zeros_like(x))


def _gemm(inputs: Inputs, given: Given) -> Any:
    first = inputs[0].T if given.get("transA") else inputs[0]
    second = inputs[1].T if given.get("transB") else inputs[1]
    product = given.get("alpha", 1.0) * (first @ second)
    added = _optional(inputs, 2)
    return product if added is None else product + given.get("beta", 1.0) * added


def _clip(inputs: Inputs, given: Given) -> Any:
    if given["opset"] < 11:
        low, high = given.get("min"), given.get("max")
    else:
        low, high = _optional(inputs, 1), _optional(inputs, 2)
    return inputs[0] if low is None and high is None else torch.clamp(inputs[0], low, high)


def _softmax(function: Any) -> Operator:
    def apply(inputs: Inputs, given: Given) -> Any:
        x = inputs[0]
        if given["opset"] >= 13:
            return function(x, given.get("axis", -1))
        # Before, all axes from this one on were taken together.
        axis = given.get("axis", 1) % x.ndim
        rows = math.prod(x.shape[:axis])
        return function(x.reshape(rows, math.prod(x.shape[axis:])), 1).reshape(x.shape)

    return apply


def _batch_normalization(inputs: Inputs, given: Given) -> Any:
    if given.get("training_mode"):
        raise ValueError("it was exported in training mode; call model.eval() before")
    x, *parts = inputs
    scale, shift, mean, variance = (part.reshape(-1, *[1] * (x.ndim - 2)) for part in parts)
    return (x - mean) / torch.sqrt(variance + given.get("epsilon", 1e-5)) * scale + shift


def _layer_normalization(inputs: Inputs, given: Given) -> Any:
    x, scale, shift = inputs[0], inputs[1], _optional(inputs, 2)
    axes = tuple(range(given.get("axis", -1) % x.ndim, x.ndim))
    centred = x - x.mean(axes, keepdim=True)
    variance = (centred * centred).mean(axes, keepdim=True)
    normal = centred / torch.sqrt(variance + given.get("epsilon", 1e-5)) * scale
    return normal if shift is None else normal + shift


def _reduced(function: Any) -> Operator:
    def apply(inputs: Inputs, given: Given) -> Any:
        x, axes = inputs[0], _numbers(inputs, 1, given, "axes")
        if not axes and given.get("noop_with_empty_axes"):
            raise ValueError("it reduces no axes")
        return function(x, tuple(axes or range(x.ndim)), bool(given.get("keepdims", 1)))

    return apply


def _reshape(inputs: Inputs, given: Given) -> Any:
    x, shape = inputs[0], inputs[1].tolist()
    if not given.get("allowzero"):
        shape = [length or x.shape[axis] for axis, length in enumerate(shape)]
    return x.reshape(shape)


def _flatten(inputs: Inputs, given: Given) -> Any:
    x, axis = inputs[0], given.get("axis", 1)
    axis += x.ndim if axis < 0 else 0
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


def _squeeze(inputs: Inputs, given: Given) -> Any:
    axes = _numbers(inputs, 1, given, "axes")
    return inputs[0].squeeze() if axes is None else inputs[0].squeeze(tuple(axes))


def _unsqueeze(inputs: Inputs, given: Given) -> Any:
    axes = _numbers(inputs, 1, given, "axes") or []
    count = inputs[0].ndim + len(axes)
    new = {axis % count for axis in axes}
    return inputs[0][tuple(None if axis in new else slice(None) for axis in range(count))]


def _slice(inputs: Inputs, given: Given) -> Any:
    x = inputs[0]
    starts, ends, axes, steps = (
        _numbers(inputs, place, given, name)
        for place, name in enumerate(("starts", "ends", "axes", "steps"), 1)
    )
    starts, ends = starts or [], ends or []
    for start, end, axis, step in zip(
        starts, ends, axes or range(len(starts)), steps or [1] * len(starts), strict=True
    ):
        taken = range(x.shape[axis])[start:end:step]
        # torch has no steps backwards.
        forwards = taken if step > 0 else taken[::-1]
        part = slice(forwards.start, forwards.stop, forwards.step)
        x = x.movedim(axis, 0)[part].movedim(0, axis)
        x = x if step > 0 else x.flip(axis)
    return x


def _split(inputs: Inputs, given: Given) -> Any:
    x, axis = inputs[0], given.get("axis", 0)
    sizes = _numbers(inputs, 1, given, "split")
    if sizes is None:
        sizes = -(-x.shape[axis] // given["outputs"])
    return torch.split(x, sizes, axis)


def _gather(inputs: Inputs, given: Given) -> Any:
    x, index = inputs
    axis = given.get("axis", 0) % x.ndim
    length = x.shape[axis]
    flat = torch.where(index < 0, index + length, index).reshape(-1)
    shape = (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :])
    return x.index_select(axis, flat).reshape(shape)


def _shape(inputs: Inputs, given: Given) -> Any:
    lengths = list(inputs[0].shape)[given.get("start", 0) : given.get("end")]
    # Numbers even where shapes alone are followed.
    return torch.tensor(lengths, dtype=torch.int64, device="cpu")


def _cast(inputs: Inputs, given: Given) -> Any:
    if given["to"] in _REAL:
        return inputs[0].to(torch.float64)
    if given["to"] == _BOOL:
        return inputs[0].to(torch.bool)
    if given["to"] in _WHOLE:
        return inputs[0].to(torch.int64)
    raise ValueError(f"a cast to type {given['to']}")


def _constant_of_shape(inputs: Inputs, given: Given) -> Any:
    value = given.get("value")
    value = torch.zeros((), dtype=torch.float64, device="cpu") if value is None else value
    return torch.full(inputs[0].tolist(), value.item(), dtype=value.dtype)


def _linear_regressor(inputs: Inputs, given: Given) -> Any:
    if given.get("post_transform", "NONE") != "NONE":
        raise ValueError(f"it ends in {given['post_transform']}")
    x, targets = inputs[0], given.get("targets", 1)
    slopes = x.new_tensor(given["coefficients"]).reshape(targets, -1)
    return x @ slopes.T + x.new_tensor(given.get("intercepts") or [0.0] * targets)


def _scaler(inputs: Inputs, given: Given) -> Any:
    x = inputs[0]
    return (x - x.new_tensor(given["offset"])) * x.new_tensor(given["scale"])


# fmt: off
_OF_ONE: dict[str, Any] = {
    **{
        name.capitalize(): getattr(torch, name)
        for name in (
            "relu", "tanh", "sigmoid", "exp", "log", "sqrt", "abs", "neg", "reciprocal", "erf",
            "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh",
        )
    },
    "Identity": lambda x: x, "Softplus": _softplus, "Softsign": F.softsign,
    "HardSwish": lambda x: x * torch.clamp(x / 6 + 0.5, 0, 1),
    "Mish": lambda x: x * torch.tanh(_softplus(x)), "Not": torch.logical_not,
}
_OF_TWO: dict[str, Any] = {
    "Add": torch.add, "Sub": torch.sub, "Mul": torch.mul, "Div": _divide, "Pow": torch.pow,
    "MatMul": torch.matmul, "Greater": torch.gt, "Less": torch.lt, "GreaterOrEqual": torch.ge,
    "LessOrEqual": torch.le, "Equal": torch.eq, "And": torch.logical_and, "Or": torch.logical_or,
    "PRelu": lambda x, slope: torch.where(x < 0, slope * x, x),
}
_OF_ANY: dict[str, Any] = {"Sum": torch.add, "Max": torch.maximum, "Min": torch.minimum}
_REDUCING: dict[str, Any] = {
    "ReduceSum": torch.sum, "ReduceMean": torch.mean, "ReduceMax": torch.amax,
    "ReduceMin": torch.amin, "ReduceLogSumExp": torch.logsumexp,
    "ReduceL2": lambda x, axes, keep: torch.linalg.vector_norm(x, 2, axes, keep),
    "ReduceSumSquare": lambda x, axes, keep: torch.sum(x * x, axes, keep),
}

TABLE: dict[str, Operator] = {
    **{name: lambda a, _, f=f: f(a[0]) for name, f in _OF_ONE.items()},
    **{name: lambda a, _, f=f: f(a[0], a[1]) for name, f in _OF_TWO.items()},
    **{name: lambda a, _, f=f: reduce(f, a) for name, f in _OF_ANY.items()},
    **{name: _reduced(f) for name, f in _REDUCING.items()},
    "Gemm": _gemm, "Clip": _clip, "Softmax": _softmax(torch.softmax),
    "LogSoftmax": _softmax(torch.log_softmax),
    "Elu": lambda a, g: F.elu(a[0], g.get("alpha", 1.0)),
    "Celu": lambda a, g: F.celu(a[0], g.get("alpha", 1.0)),
    "Selu": lambda a, g: (
        g.get("gamma", 1.0507010221481323) * F.elu(a[0], g.get("alpha", 1.6732631921768188))
    ),
    "LeakyRelu": lambda a, g: F.leaky_relu(a[0], g.get("alpha", 0.01)),
    "HardSigmoid": lambda a, g: torch.clamp(g.get("alpha", 0.2) * a[0] + g.get("beta", 0.5), 0, 1),
    "Gelu": lambda a, g: F.gelu(a[0], approximate=g.get("approximate", "none")),
    "Swish": lambda a, g: a[0] * torch.sigmoid(g.get("alpha", 1.0) * a[0]),
    "BatchNormalization": _batch_normalization, "LayerNormalization": _layer_normalization,
    "Where": lambda a, _: torch.where(a[0], a[1], a[2]), "Cast": _cast,
    "Reshape": _reshape, "Flatten": _flatten, "Squeeze": _squeeze, "Unsqueeze": _unsqueeze,
    "Transpose": lambda a, g: a[0].permute(g.get("perm") or tuple(range(a[0].ndim))[::-1]),
    "Concat": lambda a, g: torch.cat(tuple(a), g["axis"]), "Slice": _slice, "Split": _split,
    "Gather": _gather, "Shape": _shape, "ConstantOfShape": _constant_of_shape,
    "Expand": lambda a, _: a[0].expand(torch.broadcast_shapes(a[0].shape, a[1].tolist())),
    "ai.onnx.ml.Scaler": _scaler, "ai.onnx.ml.LinearRegressor": _linear_regressor,
    "ai.onnx.ml.ArrayFeatureExtractor": lambda a, _: a[0].index_select(-1, a[1].reshape(-1)),
}
"""The operators, by name."""

READ_AS_NUMBERS: dict[str, tuple[int, ...]] = {
    "Reshape": (1,), "Squeeze": (1,), "Unsqueeze": (1,), "Slice": (1, 2, 3, 4), "Split": (1,),
    "Expand": (1,), "ConstantOfShape": (0,), **dict.fromkeys(_REDUCING, (1,)),
}
"""Places of inputs that decide about shapes."""
# fmt: on
