"""What a tree costs at one point: operations, functions and bytes, counted from the operator
table.
"""

import ast
from collections import Counter
from dataclasses import dataclass, field

from closedform.expressions.operators import BY_CODE
from closedform.expressions.tape import CONSTANT_CODE, VARIABLE_CODE, TapeBatch
from closedform_bench.speed.rates import Rates

NUMBER = 8
"""Bytes."""


@dataclass(slots=True)
class Work:
    """Of trees at one point: value, gradient and misalignment together.

    Attributes
    ----------
    operations : float
        Additions and multiplications.
    functions : dict of str to float
        Divisions, roots and transcendental functions, by name.
    cache_numbers : float
        Numbers that are read or written node by node: rows of a block, which stay in the cache.
    memory_numbers : float
        Numbers that come from memory where there are many points: the point, its direction and its
        weight.
    """

    operations: float = 0.0
    functions: Counter[str] = field(default_factory=Counter)
    cache_numbers: float = 0.0
    memory_numbers: float = 0.0

    def add_form(self, form: str) -> set[str]:
        """Count a formula of the operator table; the names of the numbers that it reads.

        Examples
        --------
        >>> work = Work()
        >>> sorted(work.add_form("-sin(a) / b + 1")), work.operations, sorted(work.functions)
        (['a', 'b'], 1.0, ['division', 'sin'])
        """
        called: set[str] = set()
        nodes = list(ast.walk(ast.parse(form, mode="eval")))
        for node in nodes:
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
                self.functions["division"] += 1
            elif isinstance(node, ast.BinOp):
                self.operations += 1
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                self.functions[node.func.id] += 1
                called.add(node.func.id)
        return {node.id for node in nodes if isinstance(node, ast.Name)} - called

    def limits(self, rates: Rates) -> dict[str, float]:
        """The least seconds by each of the machine's rates."""
        functions = sum(rates.functions[name] * count for name, count in self.functions.items())
        return {
            "operations": self.operations / rates.operations + functions,
            "cache": self.cache_numbers * NUMBER / rates.cache,
            "memory": self.memory_numbers * NUMBER / rates.memory,
        }


def tape_work(tapes: TapeBatch, n_inputs: int) -> Work:
    """The work of all trees of a batch at one point.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> from closedform.expressions.tape import compile_tapes
    >>> work = tape_work(compile_tapes([parse("x*y").tree]), 2)
    >>> work.operations, dict(work.functions), work.memory_numbers
    (27.0, {'division': 1}, 5.0)
    """
    work = Work()
    for code in tapes.codes.tolist():
        if code == VARIABLE_CODE:
            # x times its weight; then the adjoint times the weight, added to the gradient.
            work.operations += 3
            work.cache_numbers += 2 + 3
        elif code == CONSTANT_CODE:
            work.cache_numbers += 1
        else:
            _add_operator(work, code)
    n = tapes.n_trees
    work.operations += n * (5 * n_inputs + 8)
    work.functions["division"] += n
    # Gradient set to zero, its length and its part along the direction; then the judge's own rows.
    work.cache_numbers += n * ((1 + 3 + 4) * n_inputs + 16)
    work.memory_numbers += n * (2 * n_inputs + 1)
    return work


def _add_operator(work: Work, code: int) -> None:
    operator = BY_CODE[code]
    work.cache_numbers += len(work.add_form(str(operator.value)) & {"a", "b"}) + 1
    read = {"s"}
    for form in map(str, operator.slope_forms):
        names = work.add_form(form)
        work.operations += bool(names)
        read |= names & {"a", "b", "v"}
    work.cache_numbers += len(read) + len(operator.slope_forms)
