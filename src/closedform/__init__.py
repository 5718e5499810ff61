"""Read closed-form concepts out of trained neural networks."""

from typing import TYPE_CHECKING, Any

from closedform._version import __version__
from closedform.errors import ClosedformError, ClosedformWarning

if TYPE_CHECKING:
    from closedform.canonical.same_concept import Equivalence, same_concept
    from closedform.expressions.expression import Expression
    from closedform.expressions.operators import Operator
    from closedform.expressions.parse import parse
    from closedform.expressions.sites import Group
    from closedform.expressions.units import Units
    from closedform.field.field_file import load_field
    from closedform.field.gradient_field import GradientField
    from closedform.interpretation.answer import Interpretation
    from closedform.interpretation.storage import load_interpretation
    from closedform.interpretation.verdict import Verdict
    from closedform.judge.select_stage import Selection, select
    from closedform.judge.thresholds import Thresholds
    from closedform.judge.verify_stage import verify
    from closedform.networks.extract import extract_field
    from closedform.networks.model_files import load_network
    from closedform.reading.estimator import ConceptSearch
    from closedform.reading.laws.discovery import Discovery, discover
    from closedform.reading.laws.finding import conserved
    from closedform.reading.laws.found_laws import Law, Laws
    from closedform.reading.network import interpret
    from closedform.reading.one_field import interpret_field
    from closedform.reading.several_networks import interpret_fields
    from closedform.reading.symmetries.finding import symmetries
    from closedform.reading.symmetries.found_symmetries import Generator, Symmetries
    from closedform.reading.theories.contest_stage import contest, contest_field
    from closedform.reading.theories.outcome import Contest
    from closedform.searching.budget import Budget
    from closedform.searching.engine import SearchResult
    from closedform.searching.search_stage import search
    from closedform.searching.space import SearchSpace
    from closedform.sweeping.compare import compare
    from closedform.sweeping.neuron_task import Effort
    from closedform.sweeping.sweep import sweep
    from closedform.sweeping.sweep_result import Sweep

_LAZY = {
    "Budget": "closedform.searching.budget",
    "ConceptSearch": "closedform.reading.estimator",
    "Contest": "closedform.reading.theories.outcome",
    "Discovery": "closedform.reading.laws.discovery",
    "Effort": "closedform.sweeping.neuron_task",
    "Equivalence": "closedform.canonical.same_concept",
    "Expression": "closedform.expressions.expression",
    "Generator": "closedform.reading.symmetries.found_symmetries",
    "GradientField": "closedform.field.gradient_field",
    "Group": "closedform.expressions.sites",
    "Interpretation": "closedform.interpretation.answer",
    "Law": "closedform.reading.laws.found_laws",
    "Laws": "closedform.reading.laws.found_laws",
    "Operator": "closedform.expressions.operators",
    "SearchResult": "closedform.searching.engine",
    "SearchSpace": "closedform.searching.space",
    "Selection": "closedform.judge.select_stage",
    "Sweep": "closedform.sweeping.sweep_result",
    "Symmetries": "closedform.reading.symmetries.found_symmetries",
    "Thresholds": "closedform.judge.thresholds",
    "Units": "closedform.expressions.units",
    "Verdict": "closedform.interpretation.verdict",
    "compare": "closedform.sweeping.compare",
    "conserved": "closedform.reading.laws.finding",
    "contest": "closedform.reading.theories.contest_stage",
    "contest_field": "closedform.reading.theories.contest_stage",
    "discover": "closedform.reading.laws.discovery",
    "extract_field": "closedform.networks.extract",
    "interpret": "closedform.reading.network",
    "interpret_field": "closedform.reading.one_field",
    "interpret_fields": "closedform.reading.several_networks",
    "load_field": "closedform.field.field_file",
    "load_interpretation": "closedform.interpretation.storage",
    "load_network": "closedform.networks.model_files",
    "parse": "closedform.expressions.parse",
    "same_concept": "closedform.canonical.same_concept",
    "search": "closedform.searching.search_stage",
    "select": "closedform.judge.select_stage",
    "sweep": "closedform.sweeping.sweep",
    "symmetries": "closedform.reading.symmetries.finding",
    "verify": "closedform.judge.verify_stage",
}

_ANSWERS = ("load_interpretation", "verify")
"""These give answers without the reading, which lets an answer be extended."""

__all__ = [
    "Budget", "ClosedformError", "ClosedformWarning", "ConceptSearch",
    "Contest", "Discovery", "Effort", "Equivalence",
    "Expression", "Generator", "GradientField", "Group",
    "Interpretation", "Law", "Laws", "Operator",
    "SearchResult", "SearchSpace", "Selection", "Sweep",
    "Symmetries", "Thresholds", "Units", "Verdict",
    "__version__", "compare", "conserved", "contest",
    "contest_field", "discover", "extract_field", "interpret",
    "interpret_field", "interpret_fields", "load_field", "load_interpretation",
    "load_network", "parse", "same_concept", "search",
    "select", "sweep", "symmetries", "verify",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import everything on first use: much of it is heavy (NumPy, SymPy, SciPy, numba, pandas), so
    the command line answers Ctrl-C from its first moments.
    """
    if name not in _LAZY:
        raise AttributeError(f"module 'closedform' has no attribute {name!r}")
    from importlib import import_module

    if not _LAZY[name].startswith("closedform.expressions."):
        # These give answers, loaded ones too, their reports, plots and replacements.
        import_module("closedform.report")
        import_module("closedform.reading.replacing")
    if name in _ANSWERS:
        import_module("closedform.reading.one_field")
    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
