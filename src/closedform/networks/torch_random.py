"""Random states: taken before, given back after."""

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.basics.optional import require

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", extra="torch")


@contextmanager
def random_state_kept(seed: int, generators: Iterable[Any] = ()) -> Iterator[None]:
    """Seed every global generator, and restore all of them at the end, also after an error.

    Parameters
    ----------
    seed : int
        What the block sees, so that networks and data sets which draw numbers are reproducible.
    generators : iterable of torch.Generator or None
        Further generators to restore.
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
