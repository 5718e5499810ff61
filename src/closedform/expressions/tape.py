"""Tapes: trees as the plain arrays that compiled loops read, one tree or thousands in one batch."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
from closedform.expressions.evaluate import operand_positions
from closedform.expressions.operator_entry import FIRST_CODE
from closedform.expressions.operators import CODES, NAMED_CONSTANTS, POWERS
from closedform.expressions.tree import Constant, Tree, Variable

CONSTANT_CODE, VARIABLE_CODE = range(FIRST_CODE)
_FIXED_POWERS = {exponent: name for name, exponent in POWERS.items()}


@dataclass(frozen=True, slots=True)
class TapeBatch:
    """Many trees, their nodes one after the other in postfix order."""

    # (n_trees + 1,): where each tree's nodes begin; tree t holds the nodes ``starts[t]`` to
    # ``starts[t + 1] - 1``.
    starts: NDArray[np.int64]
    codes: NDArray[np.int16]  # (n_nodes,): what each node is
    # first, second: (n_nodes,): positions of the operands, counted from the tree's own start.
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    inputs: NDArray[np.int32]  # (n_nodes,): the column, for an input
    # (n_nodes,): the value of a constant, or the weight of an input (1 for trees of ours).
    numbers: FloatArray

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return len(self.starts) - 1

    @property
    def longest(self) -> int:
        """Number of nodes of the longest tree."""
        return int(np.diff(self.starts).max(initial=1))

    def with_numbers(self, numbers: FloatArray) -> "TapeBatch":
        """The same trees with other constants."""
        return replace(self, numbers=np.ascontiguousarray(numbers, dtype=np.float64))


def compile_tapes(trees: Sequence[Tree]) -> TapeBatch:
    """Write trees on tapes. Powers with the exponents 2, 3, -1 and 1/2 become the operator that
    they are.

    Examples
    --------
    >>> from closedform.expressions.tree import apply, constant, variable
    >>> compile_tapes([apply("pow", variable(0), constant(2))]).codes.tolist() == [
    ...     VARIABLE_CODE,
    ...     CODES["square"],
    ... ]
    True
    """
    columns: list[tuple[int, int, int, int, float]] = []
    starts = [0]
    for tree in trees:
        columns += _nodes(tree)
        starts.append(len(columns))
    codes, first, second, inputs, numbers = (
        zip(*columns, strict=True) if columns else ((), (), (), (), ())
    )
    return TapeBatch(
        starts=np.array(starts, dtype=np.int64),
        codes=np.array(codes, dtype=np.int16),
        first=np.array(first, dtype=np.int32),
        second=np.array(second, dtype=np.int32),
        inputs=np.array(inputs, dtype=np.int32),
        numbers=np.array(numbers, dtype=np.float64),
    )


def join_tapes(batches: Sequence[TapeBatch]) -> TapeBatch:
    """Several batches as one."""
    lengths = np.concatenate([np.diff(batch.starts) for batch in batches])
    parts = ("codes", "first", "second", "inputs", "numbers")
    return TapeBatch(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        *(np.concatenate([getattr(batch, part) for batch in batches]) for part in parts),
    )


def node_positions(tree: Tree) -> dict[int, int]:
    """Where the tokens of a tree stand on its tape, by their position in the tree; some exponents
    have no place there.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> node_positions(parse("x**2 + 0.3").tree)
    {0: 0, 2: 1, 3: 2, 4: 3}
    """
    dropped, _ = _fixed_powers(tree, operand_positions(tree))
    kept = [position for position in range(tree.size) if position not in dropped]
    return {position: node for node, position in enumerate(kept)}


def _nodes(tree: Tree) -> list[tuple[int, int, int, int, float]]:
    operands = operand_positions(tree)
    dropped, operator_at = _fixed_powers(tree, operands)
    nodes: list[tuple[int, int, int, int, float]] = []
    place: dict[int, int] = {}
    for position, token in enumerate(tree.tokens):
        if position in dropped:
            continue
        place[position] = len(nodes)
        if isinstance(token, Variable):
            nodes.append((VARIABLE_CODE, 0, 0, token.index, 1.0))
        elif isinstance(token, Constant):
            nodes.append((CONSTANT_CODE, 0, 0, 0, token.value.numerator / token.value.denominator))
        elif token in NAMED_CONSTANTS:
            nodes.append((CONSTANT_CODE, 0, 0, 0, float(NAMED_CONSTANTS[token])))
        else:
            kept = [place[child] for child in operands[position] if child not in dropped]
            nodes.append((CODES[operator_at.get(position, token)], kept[0], kept[-1], 0, 0.0))
    return nodes


def _fixed_powers(tree: Tree, operands: list[tuple[int, ...]]) -> tuple[set[int], dict[int, str]]:
    """The exponents that need no node of their own, and the operators in their place."""
    dropped: set[int] = set()
    operator_at: dict[int, str] = {}
    for position, token in enumerate(tree.tokens):
        if token == "pow":
            exponent = tree.tokens[operands[position][1]]
            name = _FIXED_POWERS.get(exponent.value) if isinstance(exponent, Constant) else None
            if name is not None:
                dropped.add(operands[position][1])
                operator_at[position] = name
    return dropped, operator_at
