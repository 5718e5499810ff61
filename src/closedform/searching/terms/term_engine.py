"""The engine `terms`: sums of library terms, their coefficients by an eigenproblem."""

from dataclasses import dataclass

import numpy as np

from closedform.basics.progress import Progress
from closedform.basics.threads import single_threaded
from closedform.errors import SpaceError
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Budget
from closedform.searching.engine import SearchResult
from closedform.searching.front import Front
from closedform.searching.space import SearchSpace
from closedform.searching.terms.term_run import TermRun, compile_terms


@dataclass(frozen=True, slots=True)
class TermSearch:
    """Options of the term search.

    Attributes
    ----------
    max_terms : int
        Largest number of terms in a sum.
    width : int
        Supports that each step of the beam search keeps.
    per_complexity : int
        Supports of each complexity that it keeps in addition.
    stages : tuple of int
        Sizes of the libraries that are searched one after the other, until one fits perfectly;
        without any, only sums in null spaces are found, which fit exactly.
    n_points : int
        Points on which coefficients are fitted; the result is judged on all.
    reweightings : int
        Solves after the first, with weights that turn the eigenproblem's quotient into the
        misalignment.
    n_line_points : int
        Points on which it is judged how much a further term would help.
    pairs : int
        Up to this library size every pair of terms is judged so; beyond, only perfect pairs are
        sure to be seen.
    n_others : int
        How many further candidates of small misalignment the statistics list.

    Examples
    --------
    >>> from closedform.basics.progress import Silent
    >>> points = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    >>> field = GradientField.from_arrays(points, points * [1.0, 4.0], names=["x", "v"])
    >>> result = TermSearch().search(
    ...     field, SearchSpace(), Budget(seconds=10), np.random.default_rng(0), Silent()
    ... )
    >>> print(result.front.best.expression)
    0.25*x**2 + v**2
    """

    max_terms: int = 9
    width: int = 30
    per_complexity: int = 3
    stages: tuple[int, ...] = (45, 400, 2000)
    n_points: int = 400
    reweightings: int = 3
    n_line_points: int = 80
    pairs: int = 500
    n_others: int = 20

    def __post_init__(self) -> None:
        for name in ("max_terms", "width", "per_complexity", "n_points", "n_line_points", "pairs"):
            if getattr(self, name) < 1:
                raise SpaceError(
                    f"The term search's {name} must be at least 1; got {getattr(self, name)}."
                )
        if min(self.stages, default=1) < 1:
            raise SpaceError(
                f"The term search's stages must be positive library sizes; got {self.stages}."
            )

    @property
    def name(self) -> str:
        """The name under which the engine is registered."""
        return "terms"

    @single_threaded
    def search(
        self,
        field: GradientField,
        space: SearchSpace,
        budget: Budget,
        rng: np.random.Generator,
        progress: Progress,
    ) -> SearchResult:
        """Look for sums of terms whose gradients lie in the field's row space."""
        space.check_inputs(field.names)
        compile_terms()
        clock = budget.start()
        if not (field.weights > 0).any():
            return SearchResult(
                Front(),
                "finished",
                {"engine": self.name, "seconds": clock.seconds, "evaluations": 0},
            )
        run = None
        try:
            run = TermRun(self, field, space, clock, rng, progress)
            run.stages()
        except KeyboardInterrupt:
            if run is None:
                statistics = {"engine": self.name, "seconds": clock.seconds, "evaluations": 0}
                return SearchResult(Front(), "interrupted", statistics)
            run.status = "interrupted"
        finally:
            progress.close()
        return SearchResult(run.finds.front(), run.status, run.statistics())
