"""Read closed-form concepts out of trained neural networks."""

from typing import TYPE_CHECKING, Any

from closedform._version import __version__
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse

if TYPE_CHECKING:
    from closedform.discovery import Discovery, discover
    from closedform.equivalence.same_concept import Equivalence, same_concept
    from closedform.estimator import ConceptSearch
    from closedform.field.gradient_field import GradientField
    from closedform.field.storage import load_field
    from closedform.interpretation import Interpretation
    from closedform.interpretation_storage import load_interpretation
    from closedform.networks.extract import extract_field
    from closedform.pipeline import interpret, interpret_field, interpret_fields
    from closedform.searching.budget import Budget
    from closedform.searching.space import SearchSpace
    from closedform.sweeping.effort import Effort
    from closedform.sweeping.result import Sweep
    from closedform.sweeping.sweep import sweep

_LAZY = {
    "Budget": "closedform.searching.budget",
    "ConceptSearch": "closedform.estimator",
    "Discovery": "closedform.discovery",
    "Effort": "closedform.sweeping.effort",
    "Equivalence": "closedform.equivalence.same_concept",
    "GradientField": "closedform.field.gradient_field",
    "Interpretation": "closedform.interpretation",
    "SearchSpace": "closedform.searching.space",
    "Sweep": "closedform.sweeping.result",
    "discover": "closedform.discovery",
    "extract_field": "closedform.networks.extract",
    "interpret": "closedform.pipeline",
    "interpret_field": "closedform.pipeline",
    "interpret_fields": "closedform.pipeline",
    "load_field": "closedform.field.storage",
    "load_interpretation": "closedform.interpretation_storage",
    "same_concept": "closedform.equivalence.same_concept",
    "sweep": "closedform.sweeping.sweep",
}

__all__ = [
    "Budget",
    "ConceptSearch",
    "Discovery",
    "Effort",
    "Equivalence",
    "Expression",
    "GradientField",
    "Interpretation",
    "SearchSpace",
    "Sweep",
    "__version__",
    "discover",
    "extract_field",
    "interpret",
    "interpret_field",
    "interpret_fields",
    "load_field",
    "load_interpretation",
    "parse",
    "same_concept",
    "sweep",
]


def __getattr__(name: str) -> Any:
    """Import what is heavy (SymPy, SciPy, numba, pandas, scikit-learn) on first use."""
    if name not in _LAZY:
        raise AttributeError(f"module 'closedform' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
