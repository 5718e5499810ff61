"""Networks that torch.export saved: what is refused before and after opening, and how their layers come back."""

import io
import json
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closedform.networks.errors import ModelFileError
from closedform.networks.model_files import LoadedModel
from closedform.optional import require

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", extra="torch")

_PICKLED_OBJECTS = ("custom_obj", "opaque_obj")


def load_exported(file: Path, *, allow_pickle: bool = False) -> LoadedModel:
    """Open a ``.pt2``, with its layers under their own names.

    Raises
    ------
    ModelFileError
        If it cannot be read, holds pickled objects, or was exported in training mode.
    """
    if not allow_pickle:
        refuse_pickles(file)
    try:
        with _torch_warnings_ignored():
            program = torch.export.load(file)
    except Exception as error:  # torch raises many kinds for a file that it cannot read
        raise ModelFileError(f"{file.name} cannot be opened by torch {torch.__version__}: {error}") from error
    found = training_operations(program)
    if found:
        raise ModelFileError(
            f"{file.name} was exported in training mode: it keeps {', '.join(found)}, and evaluation mode cannot undo that. "
            "Call model.eval() before torch.export.export and export it again."
        )
    model = _unflattened(program)
    return LoadedModel(model, fixed_batch=_fixed_batch(program), make_double=lambda: _unflattened(program).double())


def _unflattened(program: Any) -> Any:
    with _torch_warnings_ignored():
        return torch.export.unflatten(program)


@contextmanager
def _torch_warnings_ignored() -> Iterator[None]:
    with warnings.catch_warnings():
        # torch's own reader uses what torch deprecates.
        warnings.simplefilter("ignore", FutureWarning)
        yield


def refuse_pickles(file: Path) -> None:
    """Refuse a file in which torch.export.load would unpickle more than tensors.

    Raises
    ------
    ModelFileError
        If there is such an object, or the file is no archive.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            for name in archive.namelist():
                if name.endswith("_config.json"):
                    _refuse_config(file, json.loads(archive.read(name)))
                elif name.endswith(".pt"):
                    _refuse_payload(file, name, archive.read(name))
    except (zipfile.BadZipFile, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ModelFileError(f"{file.name} is no file of torch.export.save ({error}).") from error


def training_operations(program: Any) -> list[str]:
    """Operations of an exported program that behave as in training.

    Dropout counts if it drops anything, and batch normalisation if it has running statistics and does not use them.
    """
    found: dict[str, None] = {}
    for module in program.graph_module.modules():
        for node in module.graph.nodes if hasattr(module, "graph") else ():
            schema = getattr(node.target, "_schema", None)
            if node.op != "call_function" or schema is None:
                continue
            given = dict(zip((argument.name for argument in schema.arguments), node.args, strict=False)) | dict(node.kwargs)
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
            # A dynamic axis holds a symbol here, which is no int.
            return length if type(length) is int else None
    return None


def _refuse_config(file: Path, config: Any) -> None:
    entries = config.get("config", {}) if isinstance(config, dict) else {}
    for name, entry in entries.items():
        pickled = entry.get("use_pickle") or str(entry.get("path_name", "")).startswith(_PICKLED_OBJECTS)
        if pickled:
            raise _pickle_error(file, name)


def _refuse_payload(file: Path, name: str, payload: bytes) -> None:
    if not payload:
        return
    try:
        torch.load(io.BytesIO(payload), map_location="cpu", weights_only=True)
    except Exception as error:  # whatever it is, it is not plain tensors
        raise _pickle_error(file, name) from error


def _pickle_error(file: Path, name: str) -> ModelFileError:
    return ModelFileError(
        f"{file.name} holds a pickled object ({name}), which would run code when opened. Export a network whose constants are "
        "plain tensors, or pass allow_pickle=True for a file of your own."
    )
