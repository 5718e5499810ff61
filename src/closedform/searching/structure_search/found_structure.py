"""From the state of a search by structure to what its user sees."""

from collections.abc import Sequence

from closedform.expressions.printing import to_text
from closedform.searching.decomposition import Combination, Decomposition
from closedform.searching.structure_search.quantities import Data, Quantity, State


def decompose(data: Data, state: State, unused: Sequence[str]) -> Decomposition:
    """A state as the user sees it."""
    found = tuple(_combination(data, quantity) for quantity in state.quantities)
    return Decomposition(found, tuple(unused), state.loss)


def _combination(data: Data, quantity: Quantity) -> Combination:
    parts = tuple(_combination(data, parent) for parent in quantity.parents)
    inputs = tuple(data.names[column] for column in sorted(quantity.tree.variables))
    return Combination(to_text(quantity.tree, data.names), inputs, *quantity.misalignment, parts)
