"""The interface that every search engine keeps; closedform.testing ships the contract that checks
it.
"""

from typing import Protocol, runtime_checkable

import numpy as np

from closedform.basics.progress import Progress
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Budget
from closedform.searching.result import SearchResult, Status
from closedform.searching.space import SearchSpace

__all__ = ["Engine", "SearchResult", "Status"]


@runtime_checkable
class Engine(Protocol):
    """A search engine: a frozen dataclass of options that pickles, with a name and one method.

    The same seed and evaluation budget give the same front, bit for bit. Ctrl-C ends the search
    within a second with the best so far. A field on which nothing can be found gives an empty or
    poor front, never an exception.
    """

    @property
    def name(self) -> str:
        """The name under which the engine is registered."""
        ...

    def search(
        self,
        field: GradientField,
        space: SearchSpace,
        budget: Budget,
        rng: np.random.Generator,
        progress: Progress,
    ) -> SearchResult:
        """Look for expressions whose gradients lie in the field's row space."""
        ...
