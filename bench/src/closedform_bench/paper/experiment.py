"""What an experiment is: data in triplets, and what is stated about the data. Not what the network
should learn.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from closedform.arrays import FloatArray

Sampler = Callable[[int, np.random.Generator], FloatArray]
"""From a number of triplets and a generator to an array of shape (n, 3, n_inputs)."""

_SPLITS = ("training", "validation", "test")


@dataclass(frozen=True, slots=True)
class Experiment:
    """One data set of triplets.

    Attributes
    ----------
    number : int
        As in the paper.
    name : str
        What the data are.
    inputs : tuple of str
        Names of the inputs, in the order of the columns.
    sampler : callable
        ``sampler(n, rng)`` draws n triplets (anchor, positive, negative), shape (n, 3, n_inputs).
        Anchor and positive share the invariants, anchor and negative do not, but for what `held`
        says.
    held : tuple of str
        What has the same value on the whole data set, as constraints: known to who makes the data,
        and so told to the extraction.

    Examples
    --------
    >>> from closedform_bench.paper.experiment_catalogue import EXPERIMENTS
    >>> EXPERIMENTS[7].inputs, EXPERIMENTS[7].split("test", 5, seed=0).shape
    (('x', 'v'), (5, 3, 2))
    """

    number: int
    name: str
    inputs: tuple[str, ...]
    sampler: Sampler
    held: tuple[str, ...] = ()

    def split(
        self, name: Literal["training", "validation", "test"], n: int, *, seed: int
    ) -> FloatArray:
        """Triplets of one split of the data, shape (n, 3, n_inputs); splits and seeds are
        independent of each other.
        """
        return self.sampler(n, np.random.default_rng([seed, self.number, _SPLITS.index(name)]))
