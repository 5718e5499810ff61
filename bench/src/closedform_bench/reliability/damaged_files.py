"""Files that are damaged on their way: opened without an error, or refused by name."""

import random
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import closedform as cf
from closedform.errors import StorageError
from closedform_bench.reliability.mutations import damaged_archive, damaged_bytes, damaged_json
from closedform_bench.reliability.trial import TrialKind, each

SHARE_OF_PAGES = 10
"""One answer in so many gets its page too, which takes longer than all the rest."""

Damage = Callable[[bytes, random.Random], bytes]


def _field() -> cf.GradientField:
    points = np.random.default_rng(0).uniform(-1, 1, (120, 2))
    return cf.GradientField.from_arrays(points, 2 * points, names=["x", "v"], units=None)


@cache
def _result() -> cf.SearchResult:
    return cf.search(_field(), engine="terms", budget=cf.Budget(evaluations=300), rng=0)


@cache
def _answer() -> cf.Interpretation:
    return cf.interpret_field(_field(), engine="terms", budget=cf.Budget(evaluations=300), rng=0)


@cache
def _original(name: str) -> bytes:
    """A sound file of each kind."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        if name == "field.npz":
            _field().save(path)
        elif name == "answer.json":
            _answer().save(path)
        elif name == "result.json":
            _result().save(path)
        elif name == "inputs.npz":
            np.savez(path, inputs=_field().points, names=np.array(["x", "v"]))
        else:
            _save_network(path)
        return path.read_bytes()


def build_network() -> Any:
    """The network whose weights the model files hold; its builder."""
    import torch

    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)).eval()


def _save_network(path: Path) -> None:
    import torch
    from safetensors.torch import save_file

    network = build_network()
    if path.suffix == ".safetensors":
        save_file(network.state_dict(), str(path))
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the newer way of torch needs onnxscript
            torch.onnx.export(
                network, (torch.zeros(5, 2),), str(path), dynamo=False, input_names=["x"],
                dynamic_axes={"x": {0: "rows"}},
            )  # fmt: skip


def _open_model(path: Path) -> None:
    from closedform.networks.model_files import load_network

    builder = None if path.suffix == ".onnx" else f"{__name__}:build_network"
    load_network(path, builder=builder)


def _open_answer(path: Path) -> None:
    from closedform.cli.answer_commands import show, summary

    found = cf.load_interpretation(path)
    show(found)
    summary(found)
    if len(path.read_bytes()) % SHARE_OF_PAGES == 0:
        found.report(path.with_suffix(".html"))


def _open_inputs(path: Path) -> None:
    from closedform.networks.model_files import load_inputs

    load_inputs(path)


def _trial(
    name: str, open_file: Callable[[Path], Any], ways: tuple[Damage, ...], number: int
) -> str:
    rng = random.Random(f"{name} {number}")
    content = rng.choice(ways)(_original(name), rng)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        try:
            open_file(path)
        except StorageError as error:
            return "refused" if name in str(error) else f"failed: {error} does not name the file"
    return "opened"


def _kind(
    name: str, files: tuple[str, ...], open_file: Callable[[Path], Any], ways: tuple[Damage, ...],
    full: int, what: str,
) -> TrialKind:  # fmt: skip
    def trial(number: int) -> str:
        return _trial(files[number % len(files)], open_file, ways, number)

    said = f"{what}: opened, or refused by name."
    return TrialKind(name, said, full, each(trial))


_IN_ARCHIVES = (damaged_bytes, damaged_archive)
_MODELS = ("model.onnx", "model.safetensors")

KINDS = (
    _kind("fields", ("field.npz",), cf.load_field, _IN_ARCHIVES, 20_000, "Damaged field files"),
    _kind(
        "answers", ("answer.json",), _open_answer, (damaged_bytes, damaged_json), 20_000,
        "Damaged answers, loaded and shown",
    ),
    _kind(
        "results", ("result.json",), cf.SearchResult.load, (damaged_bytes, damaged_json), 20_000,
        "Damaged results of searches",
    ),
    _kind("inputs", ("inputs.npz",), _open_inputs, _IN_ARCHIVES, 20_000, "Damaged data files"),
    _kind(
        "models", _MODELS, _open_model, (damaged_bytes,), 5_000,
        "Damaged networks (.onnx) and weights (.safetensors)",
    ),
)  # fmt: skip
