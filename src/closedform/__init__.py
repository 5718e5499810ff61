"""Read closed-form concepts out of trained neural networks."""

from typing import TYPE_CHECKING, Any

from closedform._version import __version__
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse

if TYPE_CHECKING:
    from closedform.equivalence.same_concept import Equivalence, same_concept

_LAZY = {
    "Equivalence": "closedform.equivalence.same_concept",
    "same_concept": "closedform.equivalence.same_concept",
}

__all__ = ["Equivalence", "Expression", "__version__", "parse", "same_concept"]


def __getattr__(name: str) -> Any:
    """Import what is heavy (SymPy, SciPy, numba) on first use."""
    if name not in _LAZY:
        raise AttributeError(f"module 'closedform' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
