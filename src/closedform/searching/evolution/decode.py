"""From pyoperon's node hashes to tapes, compiled; what lies outside an expression's essential part
is left out.

A gradient's direction does not change when a function of one variable is put around an expression:
3 + 2*g, exp(g), 1/g and sin(g) all point the way of g. So only the part inside all such functions
is decoded, judged and fitted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
from closedform.basics.compiled import compiled
from closedform.expressions.operators import CODES, OPERATORS
from closedform.expressions.tape import CONSTANT_CODE, VARIABLE_CODE, TapeBatch


def arities() -> NDArray[np.int64]:
    """Operands of each code on a tape."""
    result = np.zeros(max(CODES.values()) + 1, dtype=np.int64)
    for name, code in CODES.items():
        result[code] = OPERATORS[name].arity
    return result


@dataclass(frozen=True, slots=True)
class Alphabet:
    """What pyoperon's hashes mean, sorted by hash.

    Attributes
    ----------
    hashes : ndarray of uint64
    codes : ndarray of int16
        Code on a tape.
    columns : ndarray of int32
        Column of an input, 0 for everything else.
    """

    hashes: NDArray[np.uint64]
    codes: NDArray[np.int16]
    columns: NDArray[np.int32]

    @classmethod
    def of(cls, constant: int, functions: Mapping[int, str], inputs: Sequence[int]) -> "Alphabet":
        """Sort the hashes of constants, functions (by operator name) and inputs (by column)."""
        rows = [(constant, CONSTANT_CODE, 0)]
        rows += [(key, CODES[name], 0) for key, name in functions.items()]
        rows += [(key, VARIABLE_CODE, column) for column, key in enumerate(inputs)]
        hashes, codes, columns = zip(*sorted(rows), strict=True)
        return cls(
            np.array(hashes, np.uint64), np.array(codes, np.int16), np.array(columns, np.int32)
        )


@dataclass(frozen=True, slots=True)
class Decoded:
    """The essential parts of trees, and where their leaves stand among the coefficients that were
    read.

    Attributes
    ----------
    tapes : TapeBatch
    leaves : ndarray of int64, shape (n_nodes,)
        For a leaf of a tape its place in the coefficients, -1 for other nodes.
    """

    tapes: TapeBatch
    leaves: NDArray[np.int64]


def decode(
    alphabet: Alphabet,
    hashes: NDArray[np.uint64],
    coefficients: FloatArray,
    starts: NDArray[np.int64],
    leaf_starts: NDArray[np.int64],
) -> Decoded:
    """Decode many trees in one call. pyoperon's weights of inputs are ignored."""
    n_trees, n_nodes = len(starts) - 1, len(hashes)
    codes, columns = np.empty(n_nodes, np.int16), np.zeros(n_nodes, np.int32)
    first, second = np.zeros(n_nodes, np.int32), np.zeros(n_nodes, np.int32)
    numbers, leaves = np.zeros(n_nodes), np.full(n_nodes, -1, np.int64)
    new_starts = np.zeros(n_trees + 1, np.int64)
    count = _decode(
        alphabet.hashes, alphabet.codes, alphabet.columns, hashes, coefficients, starts,
        leaf_starts, arities(),
        codes, columns, first, second, numbers, leaves, new_starts,
    )  # fmt: skip
    tapes = TapeBatch(
        new_starts, codes[:count], first[:count], second[:count], columns[:count], numbers[:count]
    )
    return Decoded(tapes, leaves[:count])


def take(tapes: TapeBatch, trees: NDArray[np.int64]) -> tuple[TapeBatch, NDArray[np.int64]]:
    """Some of the trees of a batch, and the positions of their nodes in it."""
    lengths = np.diff(tapes.starts)[trees]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    nodes = np.repeat(tapes.starts[:-1][trees] - starts[:-1], lengths) + np.arange(starts[-1])
    chosen = TapeBatch(
        starts,
        tapes.codes[nodes],
        tapes.first[nodes],
        tapes.second[nodes],
        tapes.inputs[nodes],
        tapes.numbers[nodes],
    )
    return chosen, nodes


@compiled
def _decode(
    known, known_codes, known_columns, hashes, coefficients, starts, leaf_starts, arities,
    codes, columns, first, second, numbers, leaves, new_starts,
):  # fmt: skip
    longest = 1
    for tree in range(starts.shape[0] - 1):
        longest = max(longest, starts[tree + 1] - starts[tree])
    code = np.empty(longest, np.int16)
    column = np.empty(longest, np.int32)
    left = np.empty(longest, np.int64)
    right = np.empty(longest, np.int64)
    begin = np.empty(longest, np.int64)
    leaf = np.empty(longest, np.int64)
    is_constant = np.empty(longest, np.bool_)
    stack = np.empty(longest + 1, np.int64)
    count = 0
    for tree in range(starts.shape[0] - 1):
        start = starts[tree]
        length = starts[tree + 1] - start
        top = 0
        next_leaf = leaf_starts[tree]
        for i in range(length):
            entry = np.searchsorted(known, hashes[start + i])
            code[i] = known_codes[entry]
            column[i] = known_columns[entry]
            arity = arities[code[i]]
            leaf[i] = -1
            begin[i] = i
            if arity == 0:
                leaf[i] = next_leaf
                next_leaf += 1
                is_constant[i] = code[i] == CONSTANT_CODE
            elif arity == 1:
                left[i] = right[i] = stack[top - 1]
                top -= 1
                is_constant[i] = is_constant[left[i]]
                begin[i] = begin[left[i]]
            else:
                # pyoperon's first operand is the node just before its parent, the reverse of usual
                # postfix order.
                left[i] = stack[top - 1]
                right[i] = stack[top - 2]
                top -= 2
                is_constant[i] = is_constant[left[i]] and is_constant[right[i]]
                begin[i] = begin[right[i]]
            stack[top] = i
            top += 1
        root = length - 1
        while not is_constant[root] and arities[code[root]] > 0:
            if arities[code[root]] == 1 or is_constant[right[root]]:
                root = left[root]
            elif is_constant[left[root]]:
                root = right[root]
            else:
                break
        offset = begin[root]
        for i in range(offset, root + 1):
            codes[count] = code[i]
            if arities[code[i]] > 0:
                first[count] = left[i] - offset
                second[count] = right[i] - offset
            elif code[i] == VARIABLE_CODE:
                columns[count] = column[i]
                numbers[count] = 1.0
            else:
                numbers[count] = coefficients[leaf[i]]
            leaves[count] = leaf[i]
            count += 1
        new_starts[tree + 1] = count
    return count
