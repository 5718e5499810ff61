"""Compile what the engines use, before a clock starts."""

from functools import cache

from closedform.searching.evolution import operon
from closedform.searching.evolution.evolution_engine import compile_evolution
from closedform.searching.structure_search.merges import compile_structure
from closedform.searching.terms.term_run import compile_terms


@cache
def compile_engines() -> None:
    """Call every compiled function of the engines that can run here once."""
    compile_terms()
    compile_structure()
    if operon.why_unavailable() is None:
        compile_evolution()
