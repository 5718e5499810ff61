# The one table of public names: type checkers read it, and __init__.py imports what it says.

from closedform import errors as errors
from closedform.canonical.same_concept import Equivalence as Equivalence
from closedform.canonical.same_concept import same_concept as same_concept
from closedform.errors import ClosedformError as ClosedformError
from closedform.errors import ClosedformWarning as ClosedformWarning
from closedform.expressions.expression import Expression as Expression
from closedform.expressions.operators import Operator as Operator
from closedform.expressions.parse import parse as parse
from closedform.expressions.sites import Group as Group
from closedform.expressions.units import Units as Units
from closedform.field.field_file import load_field as load_field
from closedform.field.gradient_field import GradientField as GradientField
from closedform.interpretation.answer import Interpretation as Interpretation
from closedform.interpretation.answer import load_interpretation as load_interpretation
from closedform.interpretation.verdict import Verdict as Verdict
from closedform.judge.select_stage import Selection as Selection
from closedform.judge.select_stage import select as select
from closedform.judge.thresholds import Thresholds as Thresholds
from closedform.judge.verify_stage import verify as verify
from closedform.networks.extract import extract_field as extract_field
from closedform.networks.model_files import load_network as load_network
from closedform.reading.estimator import ConceptSearch as ConceptSearch
from closedform.reading.laws.discovery import Discovery as Discovery
from closedform.reading.laws.discovery import discover as discover
from closedform.reading.laws.finding import conserved as conserved
from closedform.reading.laws.found_laws import Law as Law
from closedform.reading.laws.found_laws import Laws as Laws
from closedform.reading.network import interpret as interpret
from closedform.reading.one_field import interpret_field as interpret_field
from closedform.reading.several_networks import interpret_fields as interpret_fields
from closedform.reading.symmetries.finding import symmetries as symmetries
from closedform.reading.symmetries.found_symmetries import Generator as Generator
from closedform.reading.symmetries.found_symmetries import Symmetries as Symmetries
from closedform.reading.theories.contest_stage import contest as contest
from closedform.reading.theories.contest_stage import contest_field as contest_field
from closedform.reading.theories.outcome import Contest as Contest
from closedform.searching.budget import Budget as Budget
from closedform.searching.engine import SearchResult as SearchResult
from closedform.searching.search_stage import search as search
from closedform.searching.space import SearchSpace as SearchSpace
from closedform.sweeping.compare import compare as compare
from closedform.sweeping.neuron_task import Effort as Effort
from closedform.sweeping.sweep import sweep as sweep
from closedform.sweeping.sweep_result import Sweep as Sweep

__version__: str
__all__: list[str]
