"""Randomness enters through one door: a seed, a Generator or nothing becomes one seed or one NumPy
Generator.
"""

import numpy as np

from closedform.errors import ClosedformError

Randomness = int | np.integer | np.random.SeedSequence | np.random.Generator | None
"""What a public function takes as `rng`."""


class SeedError(ClosedformError, TypeError):
    """A value is neither a seed, nor a Generator, nor None."""


def as_generator(rng: Randomness = None) -> np.random.Generator:
    """Make a Generator of a seed; a Generator passes through, so that its stream goes on, and None
    draws a fresh seed from the operating system.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    # True is an integer to Python, but nobody means it as a seed.
    is_seed = isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0
    if rng is None or is_seed or isinstance(rng, np.random.SeedSequence):
        return np.random.default_rng(int(rng) if isinstance(rng, np.integer) else rng)
    raise SeedError(
        f"rng is {rng!r}; pass a seed (an integer, 0 or larger), a numpy.random.Generator, or None."
    )


def as_seed(rng: Randomness = None) -> int:
    """A seed that can be written down: the one given, or one drawn from the generator."""
    generator = as_generator(rng)
    return int(rng) if isinstance(rng, int | np.integer) else int(generator.integers(2**31))
