"""Networks that torch.export saved: opened by torch, with their layers named."""

import warnings
from pathlib import Path
from typing import Any

from closedform.errors import ModelFileError
from closedform.networks.model_files import LoadedModel
from closedform.networks.torch_library import torch


def load_exported(file: Path) -> LoadedModel:
    """Open a ``.pt2`` whose maker is trusted, with its layers under their own names."""
    program = _opened(file)
    try:
        found = training_operations(program)
        model = None if found else _unflattened(program)
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
    return LoadedModel(
        model, fixed_batch=fixed_batch, make_double=lambda: _unflattened(program).double()
    )


def _opened(file: Path) -> Any:
    try:
        # torch's own reader uses what torch deprecates.
        with warnings.catch_warnings(action="ignore", category=FutureWarning):
            return torch.export.load(file)
    except Exception as error:  # torch raises many kinds for a file that it cannot read
        reason = str(error).rstrip(" .") or type(error).__name__
        raise ModelFileError(
            f"{file.name} cannot be opened by torch {torch.__version__}: {reason}. Export it again "
            "with this version of torch, or install the version that wrote it."
        ) from error


def _unflattened(program: Any) -> Any:
    with warnings.catch_warnings(action="ignore", category=FutureWarning):
        return torch.export.unflatten(program)


def training_operations(program: Any) -> list[str]:
    """Operations of an exported program that behave as in training.

    Dropout counts if it drops anything, and batch normalisation if it has running statistics and
    does not use them.
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
