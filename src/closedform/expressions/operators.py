"""The one table of operators: every other room reads what it needs from here.

An entry is an `Operator`, whose docstring says what each field means. The entry is all: the parser,
the printer, every evaluator and exporter, the compiled sweeps, the engines, the canonical form and
the report take what they need from it.
"""

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

from closedform.expressions.libraries import completed
from closedform.expressions.operator_entry import (
    ALIASES,
    BY_CODE,
    CODES,
    FUNCTIONS,
    NAMED_CONSTANTS,
    OPERATORS,
    Operator,
    complete_table,
)

__all__ = [
    "ALIASES",
    "BY_CODE",
    "CODES",
    "CONSTANT_COST",
    "FUNCTIONS",
    "NAMED_CONSTANTS",
    "OPERATORS",
    "POWERS",
    "VARIABLE_COST",
    "Operator",
]

# The paper's appendix gives constants 3, sqrt and square 4, sin and exp 5, everything else that it
# uses 1. Operators that it does not use cost what their nearest relative costs: with cos at 1 a
# search would write every sin as a shifted cos.
CONSTANT_COST = 3
VARIABLE_COST = 1

_TABLE = (
    Operator(
        "add", "a + b", ("1.0", "1.0"), ("0.0", "0.0"), arity=2, cost=1, symbol="+", precedence=1,
        operon="Add", in_kernel=True,
    ),
    Operator(
        "sub", "a - b", ("1.0", "-1.0"), ("0.0", "0.0"), arity=2, cost=1, symbol="-", precedence=1,
        spelled_by=("add",), operon="Sub", in_kernel=True,
    ),
    Operator(
        "mul", "a * b", ("b", "a"), ("db", "da"), arity=2, cost=1, symbol="*", precedence=2,
        operon="Mul", in_kernel=True,
    ),
    Operator(
        "div", "a / b", ("1 / b", "-v / b"), ("-db / (b * b)", "-(dv - v * db / b) / b"), arity=2,
        cost=1,
        domain="b != 0", symbol="/", precedence=2, spelled_by=("inv",), operon="Div",
        in_kernel=True,
    ),
    Operator("neg", "-a", "-1.0", "0.0", cost=1, symbol="-", precedence=3, in_kernel=True),
    Operator(
        "pow", "power(a, b)",
        ("choose(b == 0, 0.0, b * power(a, b - 1))", "choose((a == 0) & (b > 0), 0.0, v * log(a))"),
        (
            "b * (b - 1) * power(a, b - 2) * da + choose(db == 0, 0.0, db * power(a, b - 1) "
                "* (1 + b * log(a)))",
            "choose((da == 0) & (dv == 0), 0.0, dv * log(a) + v * da / a)",
        ),
        arity=2, cost=1, domain="(a > 0) | ((b == floor(b)) & ((a != 0) | (b >= 0)))",
        symbol="**", precedence=4, spelled_by=("mul", "square"), operon="Pow", in_kernel=True,
    ),
    Operator(
        "square", "a * a", "2 * a", "2 * da", cost=4, power=Fraction(2), spelled_by=("mul", "pow"),
        operon="Square", in_kernel=True,
    ),
    Operator(
        "cube", "a * a * a", "3 * a * a", "6 * a * da", cost=4, power=Fraction(3),
        spelled_by=("mul", "pow"),
        in_kernel=True,
    ),
    Operator(
        "sqrt", "sqrt(a)", "0.5 / v", "-0.5 * dv / (v * v)", cost=4, domain="a > 0",
        power=Fraction(1, 2),
        spelled_by=("pow",), pointless=("square", "twice"), operon="Sqrt", in_kernel=True,
    ),
    Operator(
        "abs", "absolute(a)", "sign(a)", "0.0", cost=1, domain="a != 0", parity="even",
        homogeneous=1, sympy="Abs",
        typeset="|a|", aliases=("Abs",), pointless=("square", "twice", "one more"), operon="Abs",
        in_kernel=True,
    ),
    Operator(
        "inv", "1 / a", "-v * v", "-2 * v * dv", cost=1, domain="a != 0", power=Fraction(-1),
        spelled_by=("div", "pow"), in_kernel=True,
    ),
    Operator("sin", "sin(a)", "cos(a)", "-v * da", parity="odd", sympy="sin", operon="Sin",
     in_kernel=True),
    Operator("cos", "cos(a)", "-sin(a)", "-v * da", parity="even", sympy="cos", operon="Cos",
     in_kernel=True),
    Operator(
        "tan", "tan(a)", "1 + v * v", "2 * v * dv", domain="cos(a) != 0", parity="odd", sympy="tan",
        operon="Tan", in_kernel=True,
    ),
    Operator("exp", "exp(a)", "v", "dv", sympy="exp", typeset="e^a", operon="Exp", in_kernel=True),
    Operator(
        "log", "log(a)", "1 / a", "-da / (a * a)", domain="a > 0", sympy="log", aliases=("ln",),
        pointless=("square", "twice"), operon="Log", in_kernel=True,
    ),
    Operator(
        "tanh", "tanh(a)", "1 / (cosh(a) * cosh(a))", "-2 * v * dv", parity="odd", sympy="tanh",
        operon="Tanh", in_kernel=True,
    ),
    Operator(
        "atan", "atan(a)", "1 / (1 + a * a)", "-2 * a * da / ((1 + a * a) * (1 + a * a))",
        parity="odd",
        numpy="numpy.arctan", jax="jax.numpy.arctan", sympy="atan", typeset="arctan",
        aliases=("arctan",),
        operon="Atan", in_kernel=True,
    ),
    Operator("sinh", "sinh(a)", "cosh(a)", "v * da", parity="odd", sympy="sinh", operon="Sinh"),
    Operator("cosh", "cosh(a)", "sinh(a)", "v * da", parity="even", sympy="cosh", operon="Cosh"),
    Operator(
        "asin", "asin(a)", "1 / sqrt(1 - a * a)", "a * da / ((1 - a * a) * sqrt(1 - a * a))",
        domain="(a > -1) & (a < 1)", parity="odd", numpy="numpy.arcsin", jax="jax.numpy.arcsin",
        sympy="asin",
        typeset="arcsin", aliases=("arcsin",), operon="Asin",
    ),
    Operator(
        "acos", "acos(a)", "-1 / sqrt(1 - a * a)", "-a * da / ((1 - a * a) * sqrt(1 - a * a))",
        domain="(a > -1) & (a < 1)", numpy="numpy.arccos", jax="jax.numpy.arccos", sympy="acos",
        typeset="arccos", aliases=("arccos",), operon="Acos",
    ),
    Operator(
        "erf", "erf(a)", "2 / sqrt(pi) * exp(-a * a)", "-4 / sqrt(pi) * a * da * exp(-a * a)",
        parity="odd",
        numpy="scipy.special.erf", jax="jax.scipy.special.erf", sympy="erf",
    ),
    Operator(
        "atan2", "atan2(a, b)", ("b / (a * a + b * b)", "-a / (a * a + b * b)"),
        (
            "(db - 2 * b * (a * da + b * db) / (a * a + b * b)) / (a * a + b * b)",
            "-(da - 2 * a * (a * da + b * db) / (a * a + b * b)) / (a * a + b * b)",
        ),
        arity=2, domain="(b > 0) | (a != 0)", homogeneous=0, numpy="numpy.arctan2",
        jax="jax.numpy.arctan2",
        sympy="atan2", typeset="arctan2", aliases=("arctan2",),
    ),
    # The sum is reached where an operand is not a number, which must stay visible. In pyoperon
    # 0.6.2 the node type that Python calls Fmax is the minimum, and the other way round.
    Operator(
        "min", "choose(a <= b, a, choose(b < a, b, a + b))",
        ("0.5 + 0.5 * sign(b - a)", "0.5 + 0.5 * sign(a - b)"),
        ("0.0", "0.0"), arity=2, cost=1, domain="a != b", homogeneous=1, is_symmetric=True,
        sympy="Min", operon="Fmax",
    ),
    Operator(
        "max", "choose(a >= b, a, choose(b > a, b, a + b))",
        ("0.5 + 0.5 * sign(a - b)", "0.5 + 0.5 * sign(b - a)"),
        ("0.0", "0.0"), arity=2, cost=1, domain="a != b", homogeneous=1, is_symmetric=True,
        sympy="Max", operon="Fmin",
    ),
)  # fmt: skip
complete_table(completed)

POWERS: Mapping[str, Fraction] = MappingProxyType(
    {o.name: o.power for o in _TABLE if o.power is not None}
)
"""The operators that are powers, and their exponents."""
