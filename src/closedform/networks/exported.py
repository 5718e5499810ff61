"""Networks that torch.export saved: opened without running code, with their layers named."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closedform.networks.errors import ModelFileError
from closedform.networks.model_files import LoadedModel
from closedform.networks.untrusted.exported_archive import clean_archive
from closedform.networks.untrusted.guard import no_unpickling
from closedform.optional import require

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", extra="torch")


def load_exported(file: Path, *, allow_pickle: bool = False) -> LoadedModel:
    """Open a ``.pt2``, with its layers under their own names.

    Raises
    ------
    ModelFileError
        If it cannot be read, holds anything that could run code, or was exported in training mode.
    """
    program = _opened(file, file) if allow_pickle else _opened_safely(file)
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


def _opened_safely(file: Path) -> Any:
    """The network in a copy of the file that holds no code; torch never reads the file itself."""
    clean = clean_archive(file)
    with no_unpickling(), _torch_log_quiet():
        return _opened(file, clean)


def _opened(file: Path, source: Any) -> Any:
    try:
        with _torch_warnings_ignored():
            return torch.export.load(source)
    except Exception as error:  # torch raises many kinds for a file that it cannot read
        reason = str(error).rstrip(" .") or type(error).__name__
        raise ModelFileError(
            f"{file.name} cannot be opened by torch {torch.__version__}: {reason}. Export it again "
            "with this version of torch, or install the version that wrote it."
        ) from error


def _unflattened(program: Any) -> Any:
    with _torch_warnings_ignored():
        return torch.export.unflatten(program)


@contextmanager
def _torch_warnings_ignored() -> Iterator[None]:
    with warnings.catch_warnings():
        # torch's own reader uses what torch deprecates.
        warnings.simplefilter("ignore", FutureWarning)
        yield


@contextmanager
def _torch_log_quiet() -> Iterator[None]:
    """Without torch's advice on files of its older layouts: closedform reads them on purpose."""
    names = ("torch.export", "torch.export.pt2_archive._package")
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


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
            # A dynamic axis holds a symbol here, which is no int.
            return length if type(length) is int else None
    return None
