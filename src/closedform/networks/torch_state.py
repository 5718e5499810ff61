"""The network is left exactly as it was: what is recorded before a pass, and put back after it."""

import random
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.basics.optional import require
from closedform.errors import ExtractionError

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", extra="torch")

COPIED_NUMBERS = 30_000_000
"""Up to this many weights are copied, so that even a forward pass that writes to them is undone."""

_CONTAINERS = (dict, OrderedDict, list, set)


@contextmanager
def untouched(*modules: Any, seed: int) -> Iterator[None]:
    """Run a block in evaluation mode, with gradients on, and restore everything afterwards, also
    after an error.

    Restored are the training flags, hooks, attributes, buffers and weights of the modules,
    `requires_grad` and `.grad`, and the random states. Compiled networks run uncompiled inside,
    since compiled ones do not see new hooks.

    *modules: modules; anything else is passed over.
    seed: seed of the random numbers inside the block.
    """
    roots = [module for module in modules if isinstance(module, torch.nn.Module)]
    _refuse_lazy(roots)
    records = [_record(module) for module in _unique(roots)]
    tensors = _record_tensors(roots)
    with ExitStack() as stack:
        stack.enter_context(random_state_kept(seed))
        stack.callback(_restore, records, tensors)
        for parameter, _ in tensors.grads:
            parameter.grad = None
        for module in _unique(roots):
            # The flag alone: a train() of the user's own may do more than set it.
            module.training = False
        stack.enter_context(torch.compiler.set_stance("force_eager"))
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.enable_grad())
        stack.enter_context(torch.autocast("cpu", enabled=False))
        if torch.cuda.is_available():
            stack.enter_context(torch.autocast("cuda", enabled=False))
            # cuDNN's recurrent layers have no backward pass in evaluation mode.
            stack.enter_context(torch.backends.cudnn.flags(enabled=False))
        yield


@dataclass(frozen=True, slots=True, eq=False)
class _Record:
    module: Any
    attributes: dict[str, Any]
    contents: dict[str, Any]
    training: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Tensors:
    flags: list[tuple[Any, bool]]
    grads: list[tuple[Any, Any]]
    values: list[tuple[Any, Any, Any]]


def _unique(roots: list[Any]) -> list[Any]:
    return list({id(module): module for root in roots for module in root.modules()}.values())


def _refuse_lazy(roots: list[Any]) -> None:
    for root in roots:
        for name, tensor in (*root.named_parameters(), *root.named_buffers()):
            if torch.nn.parameter.is_lazy(tensor):
                raise ExtractionError(
                    f"The weights {name!r} have no shape yet; run the network once on data, "
                    f"then extract."
                )


def _record(module: Any) -> _Record:
    if isinstance(module, torch.jit.ScriptModule):
        return _Record(module, {}, {}, module.training)
    attributes = dict(module.__dict__)
    contents = {
        key: value.copy() for key, value in attributes.items() if type(value) in _CONTAINERS
    }
    return _Record(module, attributes, contents, module.training)


def _record_tensors(roots: list[Any]) -> _Tensors:
    parameters = {id(p): p for root in roots for p in root.parameters()}
    buffers = {id(b): b for root in roots for b in root.buffers()}
    copied = (
        buffers
        if sum(p.numel() for p in parameters.values()) > COPIED_NUMBERS
        else parameters | buffers
    )
    return _Tensors(
        flags=[
            (tensor, tensor.requires_grad)
            for tensor in (parameters | buffers).values()
            if tensor.is_leaf
        ],
        grads=[
            (parameter, parameter.grad) for parameter in parameters.values() if parameter.is_leaf
        ],
        values=[(tensor, tensor.data, tensor.detach().clone()) for tensor in copied.values()],
    )


def _restore(records: list[_Record], tensors: _Tensors) -> None:
    for record in records:
        if not record.attributes:
            record.module.training = record.training
            continue
        _restore_attributes(record)
    for tensor, storage, copy in tensors.values:
        if tensor.data_ptr() != storage.data_ptr():
            tensor.data = storage
        if not torch.equal(storage, copy):
            storage.copy_(copy)
    for tensor, flag in tensors.flags:
        if tensor.requires_grad != flag:
            tensor.requires_grad_(flag)
    for parameter, grad in tensors.grads:
        parameter.grad = grad


def _restore_attributes(record: _Record) -> None:
    # Straight in the dictionary: __setattr__ of modules does more than set.
    current = record.module.__dict__
    for key in [key for key in current if key not in record.attributes]:
        del current[key]
    for key, value in record.attributes.items():
        if current.get(key) is not value:
            current[key] = value
    for key, content in record.contents.items():
        container = record.attributes[key]
        if isinstance(container, list):
            container[:] = content
        else:
            container.clear()
            container.update(content)


@contextmanager
def random_state_kept(seed: int, generators: Iterable[Any] = ()) -> Iterator[None]:
    """Seed every global generator, and restore all of them at the end, also after an error.

    seed: what the block sees, so that networks and data sets which draw numbers are reproducible.
    generators: further generators to restore.
    """
    kept = [(generator, generator.get_state()) for generator in generators if generator is not None]
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002 - the global state is the user's, and is given back
    cpu = torch.get_rng_state()
    cuda = (
        torch.cuda.get_rng_state_all()
        if torch.cuda.is_available() and torch.cuda.is_initialized()
        else None
    )
    mps = torch.mps.get_rng_state() if torch.backends.mps.is_available() else None
    try:
        random.seed(seed)
        np.random.seed(seed % 2**32)  # noqa: NPY002
        _seed_torch(seed, cuda is not None, mps is not None)
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002
        torch.set_rng_state(cpu)
        if cuda is not None:
            torch.cuda.set_rng_state_all(cuda)
        if mps is not None:
            torch.mps.set_rng_state(mps)
        for generator, state in kept:
            generator.set_state(state)


class Draws:
    """A watch on the global generators: whether anything was drawn since it was made."""

    def __init__(self) -> None:
        self._before = _fingerprint()

    def any(self) -> bool:
        """Whether any global generator moved on since."""
        return _fingerprint() != self._before


def _seed_torch(seed: int, cuda: bool, mps: bool) -> None:
    # torch.manual_seed would leave a seed waiting for a device that is started later.
    torch.default_generator.manual_seed(seed)
    if cuda:
        torch.cuda.manual_seed_all(seed)
    if mps:
        torch.mps.manual_seed(seed)


def _fingerprint() -> tuple[bytes, ...]:
    numpy = np.random.get_state(legacy=False)  # noqa: NPY002
    states = [
        torch.get_rng_state().numpy().tobytes(),
        repr(numpy).encode(),
        repr(random.getstate()).encode(),
    ]
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        states += [state.numpy().tobytes() for state in torch.cuda.get_rng_state_all()]
    return tuple(states)
