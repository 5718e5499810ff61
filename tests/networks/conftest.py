"""Fixtures: everything about a torch network that extraction must leave as it was, as bytes and
plain values.
"""

import os
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

Unchanged = Callable[[torch.nn.Module], AbstractContextManager[None]]

HOOKS = (
    "_forward_hooks",
    "_forward_pre_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks_with_kwargs",
    "_backward_hooks",
    "_backward_pre_hooks",
)


def _bytes(tensor: torch.Tensor | None) -> bytes | None:
    return (
        None
        if tensor is None
        else tensor.detach().clone().contiguous().view(-1).view(torch.uint8).numpy().tobytes()
    )


def _state_of(model: torch.nn.Module) -> dict[str, Any]:
    state: dict[str, Any] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        state[f"parameter {name}"] = (
            id(parameter),
            _bytes(parameter),
            parameter.requires_grad,
            parameter.dtype,
        )
        state[f"grad {name}"] = (
            id(parameter.grad) if parameter.grad is not None else None,
            _bytes(parameter.grad),
        )
    for name, buffer in model.named_buffers(remove_duplicate=False):
        state[f"buffer {name}"] = (id(buffer), _bytes(buffer), buffer.requires_grad)
    for name, module in model.named_modules(remove_duplicate=False):
        state[f"module {name}"] = (id(module), type(module), module.training)
        state[f"attributes {name}"] = {key: id(value) for key, value in vars(module).items()}
        for hooks in HOOKS:
            state[f"{hooks} {name}"] = [
                (key, id(value)) for key, value in getattr(module, hooks).items()
            ]
    state["torch"] = torch.get_rng_state().numpy().tobytes()
    state["numpy"] = repr(np.random.get_state())  # noqa: NPY002 - the global state is what is watched
    state["python"] = repr(random.getstate())
    state["gradients on"] = torch.is_grad_enabled()
    return state


def _make_lived_in(model: torch.nn.Module) -> torch.nn.Module:
    """A network as users have it: in training mode, with gradients, a frozen weight and a hook of
    their own.
    """
    model.train()
    for place, (_, parameter) in enumerate(model.named_parameters()):
        parameter.grad = torch.full_like(parameter, 0.5) if place % 2 else None
        parameter.requires_grad_(place != 0)
    model.register_forward_hook(lambda module, args, output: None)
    return model


@contextmanager
def _unchanged(model: torch.nn.Module) -> Iterator[None]:
    before = _state_of(model)
    try:
        yield
    finally:
        after = _state_of(model)
        assert before.keys() == after.keys()
        for key, value in before.items():
            assert after[key] == value, key


@pytest.fixture
def unchanged() -> Unchanged:
    """A block after which a network, and every random state, must be the same bit for bit."""
    return _unchanged


@pytest.fixture
def make_lived_in() -> Callable[[torch.nn.Module], torch.nn.Module]:
    return _make_lived_in


EVIL_MODULE = "open('canary', 'w').close()\nimport enum\nclass Evil(enum.Enum):\n    X = 1\n"
BUILDER = "from torch import nn\ndef make():\n    return nn.Sequential(nn.Linear(3, 2))\n"


@pytest.fixture
def quarantine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder for attacks, deep in an empty one, so that writing above it shows too."""
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    (inside / "evil_module.py").write_text(EVIL_MODULE)
    (inside / "attack_builder.py").write_text(BUILDER)
    monkeypatch.chdir(inside)
    monkeypatch.syspath_prepend(str(inside))
    yield inside
    for name in ("evil_module", "attack_builder"):
        sys.modules.pop(name, None)


@pytest.fixture
def harmless(quarantine: Path, tmp_path: Path) -> Callable[[], AbstractContextManager[None]]:
    """A block in which an attack must neither write a file nor import its module."""

    def files() -> set[str]:
        found = {str(path) for path in tmp_path.rglob("*") if "__pycache__" not in path.parts}
        return found | {name for name in ("/tmp/canary", "/canary") if os.path.exists(name)}

    @contextmanager
    def check() -> Iterator[None]:
        before = files()
        yield
        assert files() == before
        assert "evil_module" not in sys.modules

    return check
