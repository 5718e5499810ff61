"""The interface that every search engine keeps; closedform.testing ships the contract that checks it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from closedform.field.gradient_field import GradientField
from closedform.progress import Progress
from closedform.search.budget import Budget
from closedform.search.front import Front
from closedform.search.space import SearchSpace

Status = Literal["finished", "target", "time", "evaluations", "interrupted"]
"""Why a search ended: it was done, met its target, ran out of time or evaluations, or was stopped by Ctrl-C."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found.

    Attributes
    ----------
    front : Front
    status : str
    statistics : mapping
        Plain numbers and texts; at least ``engine``, ``seconds`` and ``evaluations``.
    structure : object or None
        Which inputs enter through which combination, with a ``text``, from an engine that looks for that; see
        `closedform.search.structure_search.decomposition.Decomposition`.
    """

    front: Front
    status: Status
    statistics: Mapping[str, Any] = field(default_factory=dict)
    structure: Any = None


@runtime_checkable
class Engine(Protocol):
    """A search engine: a frozen dataclass of options that pickles, with a name and one method.

    The same seed and evaluation budget give the same front, bit for bit. Ctrl-C ends the search within a second with the best
    so far. A field on which nothing can be found gives an empty or poor front, never an exception.
    """

    @property
    def name(self) -> str:
        """The name under which the engine is registered."""
        ...

    def search(
        self, field: GradientField, space: SearchSpace, budget: Budget, rng: np.random.Generator, progress: Progress
    ) -> SearchResult:
        """Look for expressions whose gradients lie in the field's row space."""
        ...
