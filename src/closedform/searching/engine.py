"""The interface that every search engine keeps, and what it returns; closedform.testing ships the
contract that checks it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from closedform.basics.progress import Progress
from closedform.expressions.complexity import Costs
from closedform.expressions.json_files import JsonFormat
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Budget
from closedform.searching.decomposition import Decomposition
from closedform.searching.front import Front
from closedform.searching.space import SearchSpace

Status = Literal["finished", "target", "time", "evaluations", "interrupted"]
"""Why a search ended: it was done, met its target, ran out of time or evaluations, or was stopped
by Ctrl-C.
"""

_FORMAT = JsonFormat("closedform search result", schema=1, written_by="SearchResult.save")


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found.

    An engine fills in the first four. `closedform.search` adds where it looked, so that later steps
    use the same points.

    Attributes
    ----------
    front : Front
    status : str
    statistics : mapping
        Plain numbers and texts; at least ``engine``, ``seconds`` and ``evaluations``.
    structure : Decomposition or None
        Which inputs enter through which combination, from an engine that looks for that.
    engine : str
        Which engine was asked for.
    digest : str
        Of the field that was searched, from `GradientField.digest`.
    seen : tuple of int
        The field's points that the search saw; the verdict uses the others.
    costs : Costs
        The costs behind the complexities on the front.
    """

    front: Front
    status: Status
    statistics: Mapping[str, Any] = field(default_factory=dict)
    structure: Decomposition | None = None
    engine: str = ""
    digest: str = ""
    seen: tuple[int, ...] = ()
    costs: Costs = field(default_factory=Costs)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the search saw of the field's structure, in words."""
        return () if self.structure is None else tuple(self.structure.text.splitlines())

    @property
    def evaluations(self) -> int:
        """Candidates that were judged."""
        return int(self.statistics.get("evaluations", 0))

    def save(self, path: str | Path) -> None:
        """Write the result as JSON; `SearchResult.load` reads it."""
        _FORMAT.write(_FORMAT.plain(self), path)

    @classmethod
    def load(cls, path: str | Path) -> "SearchResult":
        """Read what `save` wrote.

        Raises
        ------
        StorageError
            If the file is missing, or is not such a file.
        """
        return _FORMAT.load(path, lambda content: _FORMAT.structured(content, cls))


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
