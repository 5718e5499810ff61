"""Model files and data files: what the command line opens. Nothing in a file is run without an
explicit word.
"""

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from closedform.array_files import read_arrays
from closedform.expressions.input_names import check_names
from closedform.files import reading
from closedform.networks.errors import ModelFileError
from closedform.optional import require

STATE_DICTS = (".pt", ".pth", ".bin", ".ckpt")
"""Endings of files that torch.save wrote."""

_WEIGHTS_ONLY_SINCE = (2, 10)
"""Before, a file could corrupt memory in torch.load even with weights_only (CVE-2026-24747)."""

_WRAPPERS = ("state_dict", "model_state_dict", "model")
_PREFIXES = ("module.", "_orig_mod.", "model.", "net.")


@dataclass(frozen=True, slots=True, eq=False)
class LoadedModel:
    """A network out of a file.

    Attributes
    ----------
    model : torch.nn.Module
    fixed_batch : int or None
        The one number of points that an exported network takes at once, if it was exported so.
    make_double : callable or None
        Makes a copy in float64, where copying the module itself does not work.
    notes : tuple of str
        What was decided while loading.
    """

    model: Any
    fixed_batch: int | None = None
    make_double: Callable[[], Any] | None = None
    notes: tuple[str, ...] = ()


def load_model(
    path: str | os.PathLike[str], *, builder: str | None = None, allow_pickle: bool = False
) -> LoadedModel:
    """Open a model file.

    Parameters
    ----------
    path : path
        A ``.pt2`` of torch.export; or weights as ``.safetensors``, or as a state dict that
        torch.save wrote, with a builder.
    builder : str, optional
        ``"package.module:function"``; the function returns the network whose weights the file
        holds. It takes nothing, or the path of the file, for files that say in their metadata how
        large the network is.
    allow_pickle : bool
        Whether to unpickle. A pickled model runs any code that its maker put in it, so use this
        only for your own files.

    Returns
    -------
    LoadedModel

    Raises
    ------
    ModelFileError
        If the file cannot be read, must not be, or does not fit the builder.
    """
    try:
        return _loaded(Path(path), builder, allow_pickle)
    except ModelFileError as error:
        error.path = str(path)
        raise


def _loaded(file: Path, builder: str | None, allow_pickle: bool) -> LoadedModel:
    if not file.is_file():
        raise ModelFileError(f"There is no file {str(file)!r}.")
    ending = file.suffix.lower()
    if ending == ".pt2":
        from closedform.networks.exported import load_exported

        return load_exported(file, allow_pickle=allow_pickle)
    if ending == ".safetensors":
        return _built(file, builder, lambda: _safetensors(file))
    if ending in STATE_DICTS and allow_pickle and not builder:
        return _unpickled(file)
    if ending in STATE_DICTS:
        return _built(file, builder, lambda: _state_dict(file))
    if ending == ".onnx":
        raise ModelFileError(
            f"{file.name}: ONNX files are not supported, because converters to torch cover only "
            "part of ONNX. Export the network with torch.export to a .pt2, or in Python pass a "
            "function that runs the file (gradients by finite differences)."
        )
    raise ModelFileError(
        f"{file.name}: models are read from .pt2, .safetensors and {', '.join(STATE_DICTS)}; "
        f"got {ending or 'no ending'}."
    )


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
    file = Path(path)
    if not file.is_file():
        raise ModelFileError(f"There is no file {str(file)!r}.", path=str(file))
    arrays = read_arrays(file, remedy="write it with numpy.savez(path, inputs=...)")
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
    return inputs, _checked_names(file, names)


def _checked_names(file: Path, names: np.ndarray) -> tuple[str, ...]:
    """Names that can stand in a formula and be shown; bytes are read as UTF-8."""
    with reading(file, "write names that can stand in a formula"):
        labels = tuple(name.decode() if isinstance(name, bytes) else str(name) for name in names)
        check_names(labels)
    return labels


def build(builder: str, file: Path) -> Any:
    """Import and call ``"package.module:function"``, looking in the current directory too; it is
    given the file if it asks.

    Raises
    ------
    ModelFileError
        If it cannot be imported, or does not return a torch module.
    """
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


def _built(file: Path, builder: str | None, read: Callable[[], Mapping[str, Any]]) -> LoadedModel:
    if builder is None:
        raise ModelFileError(
            f"{file.name} holds weights only. Say how to make the network: "
            f"builder='package.module:function' (--builder)."
        )
    model = build(builder, file)
    weights, notes = _fitting(dict(read()), set(model.state_dict()))
    try:
        model.load_state_dict(weights, strict=True)
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise ModelFileError(
            f"The weights in {file.name} do not fit the network of {builder!r}: {reason}"
        ) from error
    return LoadedModel(model, notes=notes)


def _fitting(weights: dict[str, Any], expected: set[str]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The weights under the names that the network uses: training frameworks wrap and prefix
    them.
    """
    for name in _WRAPPERS:
        if name in weights and isinstance(weights[name], Mapping):
            weights = dict(weights[name])
    for prefix in _PREFIXES:
        if set(weights) != expected and {key.removeprefix(prefix) for key in weights} == expected:
            return {key.removeprefix(prefix): value for key, value in weights.items()}, (
                f"The weights carry the prefix {prefix!r}; it was removed.",
            )
    return weights, ()


def _safetensors(file: Path) -> Mapping[str, Any]:
    safetensors = require("safetensors.torch", extra="torch")
    try:
        return safetensors.load_file(str(file))
    except Exception as error:  # its own kind is not a public name in every version
        message = f"{file.name} is damaged or not a .safetensors file ({error}). Write it again."
        raise ModelFileError(message) from error


def _state_dict(file: Path) -> Mapping[str, Any]:
    from closedform.networks.untrusted.archive import is_archive
    from closedform.networks.untrusted.tensors import read_tensors

    with file.open("rb") as opened:
        is_zip = is_archive(opened.read(4))
    weights = read_tensors(file, name=file.name) if is_zip else _old_state_dict(file)
    if not isinstance(weights, Mapping):
        kind = type(weights).__name__
        message = f"{file.name} holds a {kind}, not a state dict. Save model.state_dict()."
        raise ModelFileError(message)
    return weights


def _old_state_dict(file: Path) -> Mapping[str, Any]:
    """A state dict as torch before 1.6 wrote it: no archive; torch's restricted reader opens it."""
    torch = require("torch", extra="torch")
    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    if version < _WEIGHTS_ONLY_SINCE:
        raise ModelFileError(
            f"{file.name} is not a ZIP archive. torch wrote such files before 1.6, and torch "
            f"{torch.__version__} cannot read them safely. Use torch 2.10 or later, or write the "
            "file again as .safetensors."
        )
    try:
        return torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many kinds for a file that it refuses
        reason = (str(error).splitlines() or [type(error).__name__])[0][:300]
        raise ModelFileError(
            f"{file.name} is not a plain state dict ({reason}). Save model.state_dict(), or export "
            "a .pt2; a pickled model is opened only with allow_pickle=True, which runs whatever "
            "code is in it."
        ) from error


def _unpickled(file: Path) -> LoadedModel:
    torch = require("torch", extra="torch")
    try:
        model = torch.load(file, map_location="cpu", weights_only=False)
    except Exception as error:  # unpickling may raise anything
        reason = str(error).rstrip(" .") or type(error).__name__
        raise ModelFileError(
            f"{file.name} cannot be unpickled: {reason}. The classes that it holds must be "
            "importable here; or save model.state_dict() and pass builder=."
        ) from error
    if not isinstance(model, torch.nn.Module):
        raise ModelFileError(
            f"{file.name} holds a {type(model).__name__}, not a network; give a builder for "
            f"a state dict."
        )
    return LoadedModel(model)
