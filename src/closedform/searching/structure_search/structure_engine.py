"""The engine `structure`: inputs that enter through one combination are replaced by it, until one
formula is left.
"""

from dataclasses import dataclass
from dataclasses import field as default
from typing import Any

import numpy as np

from closedform.basics.progress import Progress
from closedform.basics.threads import single_threaded
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Budget
from closedform.searching.engine import Engine, SearchResult
from closedform.searching.evolution.evolution_engine import Evolution
from closedform.searching.front import Front
from closedform.searching.space import SearchSpace
from closedform.searching.structure_search.merges import compile_structure
from closedform.searching.structure_search.structure_run import StructureRun
from closedform.searching.terms.term_engine import TermSearch

FEWEST = 30
"""Usable points below which nothing is said about structure."""


@dataclass(frozen=True, slots=True)
class StructureSearch:
    """Options of the search by structure.

    Examples
    --------
    >>> from closedform.basics.progress import Silent
    >>> points = np.random.default_rng(0).uniform(1, 2, (300, 3))
    >>> x, y, z = points.T
    >>> slopes = np.column_stack([y / z, x / z, -x * y / z**2])
    >>> field = GradientField.from_arrays(points, slopes, names=["x", "y", "z"])
    >>> result = StructureSearch().search(
    ...     field, SearchSpace(), Budget(seconds=5), np.random.default_rng(0), Silent()
    ... )
    >>> print(result.front.best.expression)
    x*y/z
    """

    points: int = 700  # on which structure is looked for; formulas are fitted and judged on all
    terms: TermSearch = default(default_factory=lambda: TermSearch(stages=(45, 400), max_terms=6))
    evolution: Evolution = default(default_factory=Evolution)  # reads what is left
    pieces: Engine | None = None  # looks for minima and maxima where nothing merges exactly
    exactly: bool = False  # whether exact merges are all that is tried
    inexact: float = 1.0  # share of the budget that is used where nothing merges exactly
    apart: float = 0.85  # share of that for merging quantities
    small: float = 0.6  # share for small fields, all together, which `terms` reads
    divided: float = 0.3  # share for minima and maxima

    @property
    def name(self) -> str:
        """The name under which the engine is registered."""
        return "structure"

    @single_threaded
    def search(
        self,
        field: GradientField,
        space: SearchSpace,
        budget: Budget,
        rng: np.random.Generator,
        progress: Progress,
    ) -> SearchResult:
        """Look for combinations of inputs through which the concept depends on them, and for the
        concept in them.
        """
        space.check_inputs(field.names)
        compile_structure()
        clock = budget.start()
        statistics: dict[str, Any] = {"engine": self.name, "seconds": 0.0, "evaluations": 0}
        reason = why_not(field)
        if reason is not None:
            progress.close()
            return SearchResult(Front(), "finished", {**statistics, "remark": reason})
        run = StructureRun(self, field, space, clock, rng, progress)
        try:
            run.go()
        except KeyboardInterrupt:
            run.status = "interrupted"
        finally:
            progress.close()
        return run.result()


def why_not(field: GradientField) -> str | None:
    """Why nothing can be said about a field's structure; None if something can.

    On a surface an input cannot change by itself, so a partial gradient means nothing. The row
    space of several latents is known up to a rotation at each point, so the partial gradients of
    one of them are not known.
    """
    if field.tangent.kind != "none":
        return "Structure is not looked for where the data's tangent space is not the whole space."
    if field.rank > 1:
        return "Structure is not looked for in fields of several latents."
    if (field.weights > 0).sum() < FEWEST:
        return f"Structure is not looked for with fewer than {FEWEST} usable points."
    return None
