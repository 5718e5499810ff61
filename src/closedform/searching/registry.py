"""Engines by name: those that this and other packages offer under the entry point
``closedform.engines``.

Our own are listed here too, so that they are found in a plain checkout, and so that no other
package can take their names.
"""

from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from closedform.basics.keywords import suggestion
from closedform.errors import EngineError
from closedform.searching.engine import Engine

ENTRY_POINT = "closedform.engines"

_OWN = {
    "auto": "closedform.searching.portfolio:Portfolio",
    "terms": "closedform.searching.terms.term_engine:TermSearch",
    "evolution": "closedform.searching.evolution.evolution_engine:Evolution",
    "structure": "closedform.searching.structure_search.structure_engine:StructureSearch",
}


def engine_names() -> list[str]:
    """Every engine that can be asked for by name, our own first.

    Examples
    --------
    >>> engine_names()[:3]
    ['auto', 'terms', 'evolution']
    """
    return [*_OWN, *sorted({point.name for point in entry_points(group=ENTRY_POINT)} - _OWN.keys())]


def get_engine(engine: "str | Engine", **options: Any) -> Engine:
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
