"""The interface that every search engine keeps, what it returns, and engines by name.

Other packages offer engines under the entry point ``closedform.engines``; `closedform.testing`
ships the contract that checks them. Our own are listed here too, so that they are found in a plain
checkout, and so that no other package can take their names.
"""

# A combination is made of combinations; as text the annotation can be resolved by what writes and
# reads files.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from closedform.basics.keywords import suggestion
from closedform.basics.progress import Progress
from closedform.errors import EngineError
from closedform.expressions.complexity import Costs
from closedform.expressions.json_files import JsonFormat
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Budget
from closedform.searching.front import Front
from closedform.searching.space import SearchSpace

Status = Literal["finished", "target", "time", "evaluations", "interrupted"]
"""Why a search ended: it was done, met its target, ran out of time or evaluations, or was stopped
by Ctrl-C.
"""

_FORMAT = JsonFormat("closedform search result", schema=1, written_by="SearchResult.save")

ENTRY_POINT = "closedform.engines"

_OWN = {
    "auto": "closedform.searching.portfolio:Portfolio",
    "terms": "closedform.searching.terms.term_engine:TermSearch",
    "evolution": "closedform.searching.evolution.evolution_engine:Evolution",
    "structure": "closedform.searching.structure_search.structure_engine:StructureSearch",
}


@dataclass(frozen=True, slots=True)
class Combination:
    """A quantity and what it is made of.

    Attributes
    ----------
    formula : str
        In the user's inputs.
    inputs : tuple of str
        The inputs that occur.
    misalignment, low, high : float
        Of the partial gradient on what it is made of, with an interval of 95%; all 0 for an input
        itself.
    parts : tuple of Combination
        What it is made of; none for an input.
    """

    formula: str
    inputs: tuple[str, ...]
    misalignment: float
    low: float
    high: float
    parts: tuple[Combination, ...] = ()


@dataclass(frozen=True, slots=True)
class Decomposition:
    """The combinations through which a concept depends on its inputs.

    Attributes
    ----------
    combinations : tuple of Combination
        One if the whole formula was found so.
    unused : tuple of str
        Inputs that do not matter.
    unexplained : float
        Misalignment that no function of the combinations can explain.

    Examples
    --------
    >>> halves = tuple(Combination(name, (name,), 0.0, 0.0, 0.0) for name in ("x", "y"))
    >>> print(
    ...     Decomposition(
    ...         (Combination("x*y", ("x", "y"), 1e-6, 0.0, 2e-6, halves),), ("z",), 1e-6
    ...     ).text
    ... )
    The concept is a function of x*y alone.
      x*y: misalignment 1.0e-06 (0.0e+00 to 2.0e-06), of x and y
    It does not depend on z.
    """

    combinations: tuple[Combination, ...]
    unused: tuple[str, ...]
    unexplained: float

    @property
    def text(self) -> str:
        """The tree in words, a line for each combination."""
        named = _listed([combination.formula for combination in self.combinations])
        lines = [f"The concept is a function of {named} alone."]
        pending = [(combination, 1) for combination in reversed(self.combinations)]
        while pending:
            combination, depth = pending.pop()
            if combination.parts:
                lines.append("  " * depth + _line(combination))
            pending += [(part, depth + 1) for part in reversed(combination.parts)]
        if self.unused:
            lines.append(f"It does not depend on {_listed(self.unused)}.")
        return "\n".join(lines)


def _line(combination: Combination) -> str:
    interval = f"{combination.low:.1e} to {combination.high:.1e}"
    made_of = _listed([part.formula for part in combination.parts])
    return (
        f"{combination.formula}: misalignment {combination.misalignment:.1e} ({interval}), of "
        f"{made_of}"
    )


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


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
    def load(cls, path: str | Path) -> SearchResult:
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


def engine_names() -> list[str]:
    """Every engine that can be asked for by name, our own first.

    Examples
    --------
    >>> engine_names()[:3]
    ['auto', 'terms', 'evolution']
    """
    return [*_OWN, *sorted({point.name for point in entry_points(group=ENTRY_POINT)} - _OWN.keys())]


def get_engine(engine: str | Engine, **options: Any) -> Engine:
    """An engine by its name, with options, or the engine itself.

    Raises
    ------
    EngineError
        If there is no engine of that name, or it does not know an option.
    """
    if isinstance(engine, Engine) and not isinstance(engine, type):
        return engine
    if not isinstance(engine, str):
        raise EngineError(
            f"The engine is {engine!r:.60}; pass a name ({', '.join(engine_names())}) or an engine."
        )
    # Reading what all packages offer takes longer than some searches.
    if engine not in _OWN and engine not in engine_names():
        hint = suggestion(engine, engine_names()) or "."
        raise EngineError(
            f"There is no engine named {engine!r}{hint} Known: {', '.join(engine_names())}."
        )
    try:
        return _factory(engine)(**options)
    except TypeError as error:
        raise EngineError(f"The engine {engine!r} does not take these options: {error}.") from error


def _factory(name: str) -> Any:
    if name in _OWN:
        module, _, attribute = _OWN[name].partition(":")
        return getattr(import_module(module), attribute)
    return next(point for point in entry_points(group=ENTRY_POINT) if point.name == name).load()
