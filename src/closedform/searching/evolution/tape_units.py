"""Which of many tapes units make impossible: evolution does not judge these.

In other units of measurement every input is another number: each is multiplied by what its unit
says. A formula that units allow is then multiplied by a number too, or, as the logarithm or the
exponential of a quantity, shifted or raised to a power. So every formula is computed in two systems
of units, and what changes in any other way is impossible.

The rules are those of `closedform.expressions.units.analysis` for constants that are pure numbers
or powers of known constants. A tape that passes may still be impossible; the hall of fame asks the
full analysis.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
from closedform.basics.compiled import compiled
from closedform.expressions.kernel import to_blocks
from closedform.expressions.sweeps import forward, load_sweeps
from closedform.expressions.tape import VARIABLE_CODE, TapeBatch
from closedform.expressions.units.legality import Legality, analyst_of
from closedform.expressions.units.units import TOLERANCE
from closedform.searching.evolution.decode import arities

N_POINTS = 15
"""Where formulas are computed: a line has two numbers, and a third of these points tells more."""


@dataclass(frozen=True, slots=True)
class UnitRules:
    """Points in two systems of units.

    Attributes
    ----------
    blocks : ndarray, shape (1, n_inputs, BLOCK)
        `N_POINTS` points, and the same ones in other units.
    is_open : ndarray of bool, shape (n_inputs,)
        Inputs whose unit is not stated.
    """

    blocks: FloatArray
    is_open: NDArray[np.bool_]

    @classmethod
    def of(cls, legality: Legality | None, names: Sequence[str]) -> "UnitRules | None":
        """Rules for constants that carry no units; None where there is nothing to rule out."""
        if legality is None or legality.may_carry:
            return None
        analyst = analyst_of(legality.units, names)
        pure = np.zeros(len(analyst.bases) + 1)
        known = [pure if each is None else each for each in analyst.inputs]
        exponents = np.array([analyst.without_known(each) for each in known])
        rng = np.random.default_rng(0)
        # Every base unit becomes another number of times as large, so that none makes up for
        # another; the last column is the size of a unit, which may be 1e-19 (an electronvolt).
        other = rng.uniform(1.0, 2.0, exponents.shape[1])
        other[-1] /= 10
        # Positive and around 1, where most functions are defined.
        points = np.exp(rng.uniform(-3.0, 1.0, (N_POINTS, len(names))))
        both = np.concatenate([points, points * np.exp(exponents @ other)])
        return cls(to_blocks(both), np.array([each is None for each in analyst.inputs]))


def possible(tapes: TapeBatch, rules: UnitRules) -> NDArray[np.bool_]:
    """Which trees units do not rule out.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> from closedform.expressions.tape import compile_tapes
    >>> from closedform.expressions.units.units import Units
    >>> names = ["x", "t"]
    >>> strict = Legality(Units({"x": "m", "t": "s"}), may_carry=False)
    >>> texts = ("x/t", "x + t", "sin(x)", "x*sin(t)", "log(x) - log(t)")
    >>> tapes = compile_tapes([parse(text, names=names).tree for text in texts])
    >>> possible(tapes, UnitRules.of(strict, names)).tolist()
    [True, False, True, False, True]
    """
    values = np.empty((tapes.n_trees, 2 * N_POINTS))
    load_sweeps("forward")
    _inner_values(
        tapes.codes, tapes.first, tapes.second, tapes.inputs, tapes.numbers, tapes.starts,
        tapes.longest, arities(), rules.blocks, values,
    )  # fmt: skip
    with np.errstate(all="ignore"):
        here, there = values[:, :N_POINTS], values[:, N_POINTS:]
        sizes = np.log(np.abs(here)), np.log(np.abs(there))
        found = _follows(here, there, steeper=False) | _follows(*sizes, steeper=True)
    is_free = (tapes.codes == VARIABLE_CODE) & rules.is_open[tapes.inputs]
    return found | np.logical_or.reduceat(is_free, tapes.starts[:-1])


def _follows(here: FloatArray, there: FloatArray, *, steeper: bool) -> NDArray[np.bool_]:
    """Whether the second are the first plus a number, or, if one may be steeper, linear in them;
    for each row. Where hardly any numbers are finite nothing is known.
    """
    known = np.isfinite(here) & np.isfinite(there)
    count = known.sum(axis=1, keepdims=True)
    x, y = (np.where(known, part, 0.0) for part in (here, there))
    x, y = ((part - part.sum(axis=1, keepdims=True) / count) * known for part in (x, y))
    slope = (x * y).sum(axis=1, keepdims=True) / (x * x).sum(axis=1, keepdims=True)
    left = y - np.where(steeper & np.isfinite(slope), slope, 1.0) * x
    # Exponents that count as equal differ by as much.
    most = TOLERANCE * np.maximum(np.abs(y).max(axis=1, keepdims=True), 1.0)
    return (np.abs(left) <= most).all(axis=1) | (count[:, 0] < N_POINTS // 3)


@compiled
def _inner_values(
    codes, first, second, inputs, numbers, starts, longest, arities, blocks, values
):  # fmt: skip
    """Values of each tree without the invertible functions of the whole."""
    node_values = np.empty((longest, blocks.shape[2]))
    varies = np.empty(longest, np.bool_)
    tape = codes.ctypes, first.ctypes, second.ctypes, inputs.ctypes, numbers.ctypes
    for tree in range(starts.shape[0] - 1):
        start = starts[tree]
        length = starts[tree + 1] - start
        forward(*tape, start, length, blocks[0].ctypes, values.shape[1], node_values.ctypes)
        for i in range(length):
            arity = arities[codes[start + i]]
            varies[i] = codes[start + i] == VARIABLE_CODE
            if arity > 0:
                varies[i] = varies[first[start + i]] or (arity > 1 and varies[second[start + i]])
        top = length - 1
        while arities[codes[start + top]] > 0:
            a, b = first[start + top], second[start + top]
            if arities[codes[start + top]] == 1:
                top = a
            elif varies[a] == varies[b]:
                break
            else:
                top = a if varies[a] else b
        for k in range(values.shape[1]):
            values[tree, k] = node_values[top, k]
