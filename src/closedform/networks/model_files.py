"""Files with networks and files with data: `FORMATS` lists those that are opened. Nothing in a file
is run without an explicit word.
"""

import importlib
import inspect
import os
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from closedform.basics import limits
from closedform.basics.files import read_arrays, reading
from closedform.basics.keywords import checked_keywords
from closedform.basics.optional import require
from closedform.errors import ModelFileError
from closedform.expressions.printing import check_names
from closedform.networks.whole_network import LoadedModel

_WRAPPERS = ("state_dict", "model_state_dict", "model")
_PREFIXES = ("module.", "_orig_mod.", "model.", "net.")


@checked_keywords
def load_network(
    path: str | os.PathLike[str], *, builder: str | None = None, trust: bool = False
) -> LoadedModel:
    """Open a file with a network, or with its weights.

    Parameters
    ----------
    path : path
        An ``.onnx`` file; or weights as ``.safetensors``, with a builder; or, with `trust`, a
        ``.pt2`` of torch.export or what torch.save wrote: a network, or its weights with a builder.
    builder : str, optional
        ``"package.module:function"``; the function returns the network whose weights the file
        holds. The path of the file is passed if it takes an argument, for files that say in their
        metadata how large the network is.
    trust : bool
        Whether to let torch open what may run code of the file's maker. Use this only for files
        whose maker you trust as you trust the code that you install.

    Returns
    -------
    LoadedModel
        Takes the place of a network in `closedform.interpret`, `closedform.extract_field` and
        `closedform.sweep`.

    Raises
    ------
    DamagedFileError
        If the file cannot be read, must not be, or does not fit the builder.
    """
    try:
        return _loaded(_existing(path), builder, trust)
    except ModelFileError as error:
        error.path = str(path)
        raise


def _existing(path: str | os.PathLike[str]) -> Path:
    file = Path(path)
    if not file.is_file():
        raise ModelFileError(f"There is no file {str(file)!r}.", path=str(file))
    return file


def _loaded(file: Path, builder: str | None, trust: bool) -> LoadedModel:
    ending = file.suffix.lower()
    form = FORMATS.get(ending)
    if form is None or form.holds == "data":
        known = ", ".join(each for each, found in FORMATS.items() if found.holds != "data")
        raise ModelFileError(
            f"{file.name}: networks are read from {known}; got {ending or 'no ending'}."
        )
    if form.runs_code and not trust:
        raise ModelFileError(
            f"{file.name} is opened by torch, which may run code that is in it. If you trust its "
            "maker as you trust the code that you install, pass trust=True (--trust). Otherwise "
            "ask for the network as ONNX (torch.onnx.export(model, inputs, 'net.onnx')) or for its "
            "weights as safetensors (safetensors.torch.save_file(model.state_dict(), path)), which "
            "are data."
        )
    if form.holds == "network":
        return form.read(file)
    if builder is not None:
        return _built(file, builder, form.read)
    if form.holds == "weights":
        raise ModelFileError(
            f"{file.name} holds weights only. Say how to make the network: "
            f"builder='package.module:function' (--builder)."
        )
    module = require("torch", extra="torch").nn.Module
    wanted = "a network; give a builder for a state dict"
    return LoadedModel(_of_kind(form.read(file), module, file, wanted))


def _of_kind(found: Any, kind: type, file: Path, wanted: str) -> Any:
    if not isinstance(found, kind):
        raise ModelFileError(f"{file.name} holds a {type(found).__name__}, not {wanted}.")
    return found


def load_inputs(path: str | os.PathLike[str]) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """Open a data file: ``.npz`` with an array `inputs`, points along the first axis, and
    optionally `names`.

    Returns
    -------
    inputs : ndarray, shape (n_points, ...)
    names : tuple of str or None

    Raises
    ------
    DamagedFileError
        If the file is damaged, of another kind, or holds something else.
    """
    file = _existing(path)
    form = FORMATS.get(file.suffix.lower())
    read = form.read if form is not None and form.holds == "data" else read_data
    arrays = read(file)
    if "inputs" not in arrays:
        raise ModelFileError(
            f"{file} holds {', '.join(arrays) or 'nothing'}; it must hold an array named 'inputs'.",
            path=str(file),
        )
    inputs, names = arrays["inputs"], arrays.get("names")
    if inputs.ndim < 2 or len(inputs) == 0 or inputs.dtype.kind not in "fiu":
        found = f"shape {inputs.shape} and type {inputs.dtype}"
        raise ModelFileError(
            f"{file.name}: 'inputs' has {found}; real numbers of shape (n_points, n_inputs) "
            f"are needed."
        )
    inputs = inputs if inputs.dtype.kind == "f" else inputs.astype(np.float64)
    if names is None:
        return inputs, None
    expected = int(np.prod(inputs.shape[1:]))
    if names.shape != (expected,) or names.dtype.kind not in "US":
        raise ModelFileError(
            f"{file.name}: 'names' has shape {names.shape}; {expected} texts are needed, one "
            f"for each input."
        )
    with reading(file, "write names that can stand in a formula"):
        labels = tuple(name.decode() if isinstance(name, bytes) else str(name) for name in names)
        check_names(labels)
    return inputs, labels


def build(builder: str, file: Path) -> Any:
    """Import and call ``"package.module:function"``, looking in the current directory too."""
    module_name, _, function_name = builder.partition(":")
    if not module_name or not function_name:
        raise ModelFileError(
            f"The builder {builder!r} must have the form 'package.module:function'."
        )
    torch = require("torch", extra="torch")
    here = os.getcwd()
    sys.path.insert(0, here)
    try:
        function = getattr(importlib.import_module(module_name), function_name)
    except (ImportError, AttributeError) as error:
        raise ModelFileError(
            f"The builder {builder!r} cannot be imported: {error}. Is its package installed?"
        ) from error
    finally:
        sys.path.remove(here)
    try:
        model = function(file) if _wants_argument(function) else function()
    except ModelFileError:
        raise
    except Exception as error:  # it is the user's, and may raise anything
        raise ModelFileError(
            f"The builder {builder!r} failed: {type(error).__name__}: {error}. Call it in Python "
            "to see where.",
            path=str(file),
        ) from error
    if not isinstance(model, torch.nn.Module):
        raise ModelFileError(
            f"The builder {builder!r} returned a {type(model).__name__}; it must return a "
            f"torch module."
        )
    return model


def _wants_argument(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some builtins tell nothing about themselves
        return False
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return any(
        parameter.kind in places and parameter.default is inspect.Parameter.empty
        for parameter in parameters
    )


def _built(file: Path, builder: str, read: Callable[[Path], Any]) -> LoadedModel:
    model = build(builder, file)
    found = _of_kind(read(file), Mapping, file, "a state dict. Save model.state_dict()")
    weights, notes = _fitting(dict(found), set(model.state_dict()))
    try:
        model.load_state_dict(weights, strict=True)
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise ModelFileError(
            f"The weights in {file.name} do not fit the network of {builder!r}: {reason}"
        ) from error
    return LoadedModel(model, notes=notes)


def _fitting(weights: dict[str, Any], expected: set[str]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The weights under the network's own names: training frameworks wrap and prefix them."""
    for name in _WRAPPERS:
        if name in weights and isinstance(weights[name], Mapping):
            weights = dict(weights[name])
    for prefix in _PREFIXES:
        if set(weights) != expected and {key.removeprefix(prefix) for key in weights} == expected:
            return {key.removeprefix(prefix): value for key, value in weights.items()}, (
                f"The weights carry the prefix {prefix!r}; it was removed.",
            )
    return weights, ()


def read_data(file: Path) -> Mapping[str, np.ndarray]:
    """The arrays of an ``.npz``, by name."""
    return read_arrays(file, remedy="write it with numpy.savez(path, inputs=...)")


def read_onnx(file: Path) -> LoadedModel:
    """An ONNX file, as plain operations."""
    from closedform.networks.onnx_network import load_onnx

    return load_onnx(file)


def read_safetensors(file: Path) -> Mapping[str, Any]:
    """Tensors by name; the file is mapped, so that none takes memory before it is used."""
    safetensors = require("safetensors.torch", extra="torch")
    try:
        with file.open("rb") as opened:
            length = int.from_bytes(opened.read(8), "little")
        if length > limits.TEXT:
            raise ValueError(f"its header claims {length:,} bytes")
        return safetensors.load_file(str(file))
    except Exception as error:  # its own kind is not a public name in every version
        message = f"{file.name} is damaged or not a .safetensors file ({error}). Write it again."
        raise ModelFileError(message) from error


def read_pickled(file: Path) -> Any:
    """What torch.save wrote: a network, or weights."""
    torch = require("torch", extra="torch")
    try:
        return torch.load(file, map_location="cpu", weights_only=False)
    except Exception as error:  # unpickling may raise anything
        reason = str(error).rstrip(" .") or type(error).__name__
        raise ModelFileError(
            f"{file.name} cannot be unpickled: {reason}. The classes that it holds must be "
            "importable here; or save model.state_dict() and pass builder=."
        ) from error


def read_exported(file: Path) -> LoadedModel:
    """A network that torch.export saved, with its layers under their own names."""
    torch = require("torch", extra="torch")

    def unflattened() -> Any:
        with warnings.catch_warnings(action="ignore", category=FutureWarning):
            return torch.export.unflatten(program)

    try:
        # torch's own reader uses what torch deprecates.
        with warnings.catch_warnings(action="ignore", category=FutureWarning):
            program = torch.export.load(file)
    except Exception as error:  # torch raises many kinds for a file that it cannot read
        reason = str(error).rstrip(" .") or type(error).__name__
        raise ModelFileError(
            f"{file.name} cannot be opened by torch {torch.__version__}: {reason}. Export it again "
            "with this version of torch, or install the version that wrote it."
        ) from error
    try:
        found = training_operations(program)
        model = None if found else unflattened()
        fixed_batch = _fixed_batch(program)
    except Exception as error:  # torch raises many kinds for a network that contradicts itself
        raise ModelFileError(
            f"{file.name} describes a network that torch {torch.__version__} cannot build "
            f"({str(error)[:300]}). Export it again."
        ) from error
    if found:
        raise ModelFileError(
            f"{file.name} was exported in training mode: it keeps {', '.join(found)}, and "
            "evaluation mode cannot undo that. Call model.eval() before torch.export.export and "
            "export it again."
        )
    return LoadedModel(model, fixed_batch=fixed_batch, make_double=lambda: unflattened().double())


def training_operations(program: Any) -> list[str]:
    """Operations of an exported program that behave as in training: dropout that drops, and batch
    normalisation that does not use the running statistics it has.
    """
    found: dict[str, None] = {}
    for module in program.graph_module.modules():
        for node in module.graph.nodes if hasattr(module, "graph") else ():
            schema = getattr(node.target, "_schema", None)
            if node.op != "call_function" or schema is None:
                continue
            given = dict(
                zip((argument.name for argument in schema.arguments), node.args, strict=False)
            ) | dict(node.kwargs)
            if _is_training(given):
                found[str(schema.name).removeprefix("aten::")] = None
    return list(found)


def _is_training(given: dict[str, Any]) -> bool:
    if given.get("dropout_p"):
        return True
    if given.get("train") is not True and given.get("training") is not True:
        return False
    share = given.get("p", given.get("dropout"))
    if share is not None:
        return share > 0
    return "running_mean" not in given or given["running_mean"] is not None


def _fixed_batch(program: Any) -> int | None:
    names = program.graph_signature.user_inputs
    for node in program.graph.nodes:
        if node.op == "placeholder" and node.name in names:
            length = next(iter(getattr(node.meta.get("val"), "shape", ())), None)
            # A dynamic axis holds a symbol here, which is not an int.
            return length if type(length) is int else None
    return None


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file that users bring. Our own fields and answers have readers of their own."""

    holds: Literal["network", "weights", "network or weights", "data"]
    read: Callable[[Path], Any]  # a LoadedModel, a module, or tensors or arrays by name
    module: str  # what the reader imports, which `closedform doctor` does not count as its time
    runs_code: bool = False  # of the file's maker, so that it is opened only with trust


_PICKLED = Format("network or weights", read_pickled, "torch", runs_code=True)
FORMATS: dict[str, Format] = {
    ".onnx": Format("network", read_onnx, "closedform.networks.onnx_network"),
    ".safetensors": Format("weights", read_safetensors, "safetensors.torch"),
    ".pt2": Format("network", read_exported, "torch", runs_code=True),
    **dict.fromkeys((".pt", ".pth", ".bin", ".ckpt"), _PICKLED),
    ".npz": Format("data", read_data, "closedform.field.field_file"),
}
"""The files that are opened, by ending."""
