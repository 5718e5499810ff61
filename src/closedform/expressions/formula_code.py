"""Machine code for the operator table's formulas.

numba takes more than ten milliseconds for each line of a function, much of it for finding types
that are all the same here. So the formulas, with some seventy loops around them, are written for
LLVM directly.
"""

import ast
import math
from collections.abc import Callable, Mapping
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import signature
from numba.extending import intrinsic

from closedform.basics.compiled import fingerprint
from closedform.expressions.numpy_callback import Kind
from closedform.expressions.operators import CODES, OPERATORS, Operator

BLOCK = 256
"""Points in a block: the values of a tree of 30 nodes take 60 KB, and so stay in the processor's
cache."""

LANES = 4
"""Points that one instruction works on; with 8, processors that have such instructions take an
eighth longer. A divisor of BLOCK: what is computed beyond the last point stays in the row."""

OUTSIDE_SYMBOL = f"closedform_outside_{fingerprint()}"

_NUMBER, _INTEGER = ir.DoubleType(), ir.IntType(64)
_ARRAYS = ("values", "adjoints", "changes", "adjoint_changes")
_BINARY = {
    ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv", ast.BitAnd: "and_",
    ast.BitOr: "or_",
}  # fmt: skip
_COMPARED = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_VECTORISED = frozenset({"absolute", "choose", "sign", "sqrt", "times"})
"""Functions that processors have instructions for; all others are called point by point."""

Statements = list[tuple[str, str]]
"""Places that are written to, and formulas of what is written."""


def operator_branches(
    kind: Kind, rows: Mapping[str, tuple[str, int]], statements: Callable[[Operator], Statements]
) -> Any:
    """A function for compiled code: ``(code, first, second, own, n, *arrays)`` does what
    ``statements`` says for the operator with that code, at each point.

    ``rows`` says what the names in formulas mean: an array, and whether they are the row of the
    first operand, of the second or of the operator itself.
    """

    @intrinsic
    def branches(typing_context, code, first, second, own, n, *arrays):
        def generate(context, builder, signature, arguments):
            code, *nodes, n = (
                builder.sext(number, _INTEGER) if number.type != _INTEGER else number
                for number in arguments[:5]
            )
            size = ir.Constant(_INTEGER, BLOCK)
            starts = [builder.mul(node, size) for node in nodes]
            arrays: dict[str, Any] = dict(
                zip(_ARRAYS, cgutils.unpack_tuple(builder, arguments[5]), strict=True)
            )
            done, outside = (builder.append_basic_block(name) for name in ("done", "outside"))
            switch = builder.switch(code, outside)
            for operator in (one for one in OPERATORS.values() if one.in_kernel):
                branch = builder.append_basic_block(operator.name)
                switch.add_case(ir.Constant(_INTEGER, CODES[operator.name]), branch)
                builder.position_at_end(branch)
                _loop(context, builder, rows, statements(operator), starts, n, arrays)
                builder.branch(done)
            builder.position_at_end(outside)
            numbers = [ir.Constant(_INTEGER, kind.value), code, *starts, n, *arrays.values()]
            form = ir.FunctionType(ir.VoidType(), [number.type for number in numbers])
            called = cgutils.get_or_insert_function(builder.module, form, OUTSIDE_SYMBOL)
            builder.call(called, numbers)
            builder.branch(done)
            builder.position_at_end(done)
            return context.get_dummy_value()

        return types.void(code, first, second, own, n, types.StarArgTuple(arrays)), generate

    return branches


def _loop(
    context: Any, builder: Any, rows: Mapping[str, tuple[str, int]], statements: Statements,
    starts: list[Any], n: Any, arrays: Mapping[str, Any],
) -> None:  # fmt: skip
    """Evaluate formulas at each point."""
    trees = [(target, ast.parse(formula, mode="eval").body) for target, formula in statements]
    nodes = [node for _, tree in trees for node in ast.walk(tree)]
    called = {node.func for node in nodes if isinstance(node, ast.Call)}
    words = {node.id for node in called if isinstance(node, ast.Name)}
    names = {node.id for node in nodes if isinstance(node, ast.Name)} - words
    lanes = LANES if words <= _VECTORISED else 1
    form = ir.VectorType(_NUMBER, lanes) if lanes > 1 else _NUMBER

    def address(name: str, at: Any) -> Any:
        array, place = rows[name]
        pointer = builder.gep(arrays[array], [builder.add(starts[place], at)])
        return builder.bitcast(pointer, form.as_pointer())

    step = ir.Constant(_INTEGER, lanes)
    count = builder.udiv(builder.add(n, ir.Constant(_INTEGER, lanes - 1)), step)
    with cgutils.for_range(builder, count) as loop:
        at = builder.mul(loop.index, step)
        known = {name: builder.load(address(name, at), align=8) for name in sorted(names)}
        results = [_evaluate(context, builder, form, tree, known) for _, tree in trees]
        for (target, _), result in zip(trees, results, strict=True):
            builder.store(result, address(target, at), align=8)


def _evaluate(
    context: Any, builder: Any, form: Any, node: ast.expr, known: Mapping[str, Any]
) -> Any:
    """Instructions for a formula, on numbers or vectors of numbers."""

    def constant(number: float) -> Any:
        lanes = getattr(form, "count", None)
        return ir.Constant(form, number if lanes is None else [number] * lanes)

    def visit(node: ast.expr) -> Any:
        match node:
            case ast.Constant(int() | float() as value):
                return constant(float(value))
            case ast.Name(name):
                return known[name]
            case ast.UnaryOp(ast.USub(), operand):
                return builder.fneg(visit(operand))
            case ast.BinOp(left, operation, right):
                return getattr(builder, _BINARY[type(operation)])(visit(left), visit(right))
            case ast.Compare(left, [relation], [right]):
                sign = _COMPARED[type(relation)]
                # As in Python, what is not a number differs from everything.
                compare = builder.fcmp_unordered if sign == "!=" else builder.fcmp_ordered
                return compare(sign, visit(left), visit(right))
            case ast.Call(ast.Name(word), arguments):
                return call(word, *(visit(argument) for argument in arguments))
        raise NotImplementedError(ast.dump(node))

    def differs(number: Any) -> Any:
        return builder.fcmp_unordered("!=", number, constant(0.0))

    def intrinsic(name: str, *arguments: Any) -> Any:
        kind = f"v{form.count}f64" if isinstance(form, ir.VectorType) else "f64"
        function = ir.FunctionType(form, [form] * len(arguments))
        named = f"llvm.{name}.{kind}"
        return builder.call(
            cgutils.get_or_insert_function(builder.module, function, named), arguments
        )

    def call(word: str, *arguments: Any) -> Any:
        match word:
            case "choose":
                return builder.select(*arguments)
            case "times":
                # No change stays no change, also where the factor is not a number.
                factor, change = arguments
                product = builder.fmul(factor, change)
                return builder.select(differs(change), product, constant(0.0))
            case "sign":
                sign = intrinsic("copysign", constant(1.0), arguments[0])
                return builder.select(differs(arguments[0]), sign, constant(0.0))
            case "absolute" | "sqrt" | "power":
                name = {"absolute": "fabs", "power": "pow"}.get(word, word)
                return intrinsic(name, *arguments)
        one = signature(types.float64, *(types.float64,) * len(arguments))
        return context.get_function(getattr(math, word), one)(builder, arguments)

    return visit(node)
