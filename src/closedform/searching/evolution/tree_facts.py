"""Complexity, structural key and legality of many tapes, compiled: what survival needs to know
besides the misalignment.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from closedform.basics.compiled import compiled, compiled_part
from closedform.expressions.operators import CODES
from closedform.expressions.tape import CONSTANT_CODE, VARIABLE_CODE, TapeBatch
from closedform.searching.evolution.decode import arities
from closedform.searching.space import SearchSpace

_ADD, _MUL, _POW, _SQUARE, _SQRT = (CODES[name] for name in ("add", "mul", "pow", "square", "sqrt"))


@dataclass(frozen=True, slots=True)
class Rules:
    """A space's limits and costs as arrays.

    Attributes
    ----------
    costs : ndarray of int64, shape (n_codes,)
    inside_function : ndarray of int64, shape (n_codes,)
        For each function, as bits, the functions around it that forbid it.
    inside_input : ndarray of int64, shape (n_inputs,)
        For each input likewise.
    max_power : float
    variable_exponents : bool
    """

    costs: NDArray[np.int64]
    inside_function: NDArray[np.int64]
    inside_input: NDArray[np.int64]
    max_power: float
    variable_exponents: bool

    @classmethod
    def of(cls, space: SearchSpace, names: Sequence[str]) -> "Rules":
        """Read a space."""
        costs = np.zeros(max(CODES.values()) + 1, dtype=np.int64)
        costs[CONSTANT_CODE], costs[VARIABLE_CODE] = space.costs.constant, space.costs.variable
        for name, code in CODES.items():
            costs[code] = space.costs.of(name)
        inside_function = np.zeros(len(costs), dtype=np.int64)
        for outer, inners in space.nesting.items():
            for inner in inners:
                inside_function[CODES[inner]] |= 1 << CODES[outer]
        inside_input = np.zeros(len(names), dtype=np.int64)
        for outer, allowed in space.inside.items():
            for column, name in enumerate(names):
                if name not in allowed:
                    inside_input[column] |= 1 << CODES[outer]
        return cls(
            costs, inside_function, inside_input, float(space.max_power), space.variable_exponents
        )


@dataclass(frozen=True, slots=True)
class TreeFacts:
    """What is known of each tree of a batch.

    Attributes
    ----------
    costs : ndarray of int64
        Complexity, almost that of `closedform.expressions.complexity`: rare cheaper spellings are
        overlooked.
    keys : ndarray of uint64
        Equal for trees that differ in the values of constants and the order of summands and factors
        only.
    allowed : ndarray of bool
        Whether nesting, inputs inside functions and powers are within the space; the hall of fame
        asks about units.
    constants : ndarray of int64
        How many constants there are.
    """

    costs: NDArray[np.int64]
    keys: NDArray[np.uint64]
    allowed: NDArray[np.bool_]
    constants: NDArray[np.int64]


def describe(tapes: TapeBatch, rules: Rules) -> TreeFacts:
    """Cost, key and legality of every tree."""
    costs, keys = np.empty(tapes.n_trees, np.int64), np.empty(tapes.n_trees, np.uint64)
    allowed, constants = np.empty(tapes.n_trees, np.bool_), np.empty(tapes.n_trees, np.int64)
    _describe(
        tapes.codes, tapes.first, tapes.second, tapes.inputs, tapes.numbers, tapes.starts,
        tapes.longest, arities(),
        rules.costs, rules.inside_function, rules.inside_input, rules.max_power,
        rules.variable_exponents, costs, keys, allowed, constants,
    )  # fmt: skip
    return TreeFacts(costs, keys, allowed, constants)


def unseen(
    memory: NDArray[np.uint64], keys: NDArray[np.uint64], constants: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Which trees are new, or have constants and so may have got better; the new ones are
    remembered.

    The memory is a table of fixed size in which a newer key replaces an older one.

    Examples
    --------
    >>> unseen(
    ...     np.zeros(8, dtype=np.uint64), np.array([5, 5, 5], dtype=np.uint64), np.array([0, 0, 1])
    ... ).tolist()
    [True, False, True]
    """
    new = np.empty(len(keys), np.bool_)
    _look_up(memory, keys, constants, new)
    return new


@compiled
def _look_up(memory, keys, constants, new):
    for i in range(keys.shape[0]):
        new[i] = True
        if constants[i] == 0:
            place = keys[i] % np.uint64(memory.shape[0])
            new[i] = memory[place] != keys[i]
            memory[place] = keys[i]


@compiled_part
def _mix(number):
    """Spread the bits of a 64-bit number (the finaliser of splitmix64)."""
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


@compiled
def _describe(
    codes, first, second, inputs, numbers, starts, longest, arities, node_costs, inside_function,
    inside_input, max_power,
    variable_exponents, costs, keys, allowed, constants,
):  # fmt: skip
    cost = np.empty(longest, np.int64)
    key = np.empty(longest, np.uint64)
    forbidden = np.empty(longest, np.int64)
    is_constant = np.empty(longest, np.bool_)
    constant_key = _mix(np.uint64(977))
    for tree in range(starts.shape[0] - 1):
        start = starts[tree]
        length = starts[tree + 1] - start
        fine = True
        count = 0
        for i in range(length):
            code = codes[start + i]
            arity = arities[code]
            a = first[start + i]
            b = second[start + i]
            is_constant[i] = False
            forbidden[i] = inside_function[code]
            if code == CONSTANT_CODE:
                cost[i] = node_costs[code]
                key[i] = constant_key
                is_constant[i] = True
                count += 1
                fine = fine and abs(numbers[start + i]) < np.inf
            elif code == VARIABLE_CODE:
                cost[i] = node_costs[code]
                key[i] = _mix(np.uint64(inputs[start + i]) + np.uint64(100003))
                forbidden[i] = inside_input[inputs[start + i]]
            elif is_constant[a] and is_constant[b]:
                cost[i] = min(
                    node_costs[CONSTANT_CODE],
                    node_costs[code] + cost[a] + (cost[b] if arity == 2 else 0),
                )
                key[i] = constant_key
                is_constant[i] = True
            else:
                bit = np.int64(1) << np.int64(code)
                fine = fine and (forbidden[a] & bit) == 0 and (forbidden[b] & bit) == 0
                forbidden[i] |= forbidden[a] | forbidden[b]
                salt = np.uint64(code) * np.uint64(0x9E3779B97F4A7C15)
                if arity == 1:
                    cost[i] = node_costs[code] + cost[a]
                    key[i] = _mix(key[a] ^ salt)
                else:
                    cost[i] = node_costs[code] + cost[a] + cost[b]
                    if code in (_ADD, _MUL):
                        key[i] = _mix(key[a] + key[b] + salt)
                    else:
                        key[i] = _mix(key[a] + _mix(key[b] + salt))
                power_of_constant = node_costs[_POW] + cost[a] + node_costs[CONSTANT_CODE]
                if code == _SQUARE:
                    cost[i] = min(cost[i], min(2 * cost[a] + node_costs[_MUL], power_of_constant))
                elif code == _SQRT:
                    cost[i] = min(cost[i], power_of_constant)
                elif code == _MUL and key[a] == key[b]:
                    cost[i] = min(cost[i], min(node_costs[_SQUARE] + cost[a], power_of_constant))
                elif code == _POW and codes[start + b] == CONSTANT_CODE:
                    fine = fine and abs(numbers[start + b]) <= max_power
                elif code == _POW:
                    fine = fine and (variable_exponents or is_constant[b])
        costs[tree] = cost[length - 1]
        keys[tree] = key[length - 1]
        # A constant has no direction.
        allowed[tree] = fine and not is_constant[length - 1]
        constants[tree] = count
