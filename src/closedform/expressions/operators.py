"""The one table of operators: every other room reads what it needs from here.

The formulas are text in the names ``a`` and ``b`` (operands), ``v`` (the operator's value) and ``da``, ``db``, ``dv``
(their derivatives with respect to a constant). The functions in them (``sin``, ``power``, ``choose`` ...) are bound by
whoever evaluates: NumPy, PyTorch, JAX, 50-digit mpmath (``evaluate.py``) or compiled loops (``kernel.py``). So an operator is
written once and is the same everywhere.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator of the expression language.

    Attributes
    ----------
    name : str
        Its name in text, unless it has a symbol.
    arity : int
        1 or 2.
    value : str
        Formula of its value.
    slopes : tuple of str
        Its partial derivatives, one for each operand.
    bends : tuple of str
        How each slope changes along (da, db): what Levenberg-Marquardt on constants needs.
    sympy : callable
        ``sympy(module, *operands)`` builds the SymPy counterpart.
    cost : int
        Default complexity.
    domain : str
        Formula that is true where the value is finite and differentiable.
    symbol : str or None
        Infix or prefix symbol, if it is written with one.
    precedence : int
        Binding strength of the symbol; functions bind strongest.
    operon : str or None
        Name of pyoperon's node type, if there is one.
    """

    name: str
    arity: int
    value: str
    slopes: tuple[str, ...]
    bends: tuple[str, ...]
    sympy: Callable[..., Any]
    cost: int
    domain: str = "True"
    symbol: str | None = None
    precedence: int = 9
    operon: str | None = None


# The paper's appendix gives constants 3, sqrt and square 4, sin and exp 5, everything else that it uses 1. Operators that it
# does not use cost what their nearest relative costs: with cos at 1 a search would write every sin as a shifted cos.
CONSTANT_COST = 3
VARIABLE_COST = 1

_TABLE = (
    Operator(
        "add", 2, "a + b", ("1.0", "1.0"), ("0.0", "0.0"), lambda s, a, b: a + b, 1,
        symbol="+", precedence=1, operon="Add",
    ),
    Operator(
        "sub", 2, "a - b", ("1.0", "-1.0"), ("0.0", "0.0"), lambda s, a, b: a - b, 1,
        symbol="-", precedence=1, operon="Sub",
    ),
    Operator("mul", 2, "a * b", ("b", "a"), ("db", "da"), lambda s, a, b: a * b, 1, symbol="*", precedence=2, operon="Mul"),
    Operator(
        "div", 2, "a / b", ("1 / b", "-v / b"), ("-db / (b * b)", "-(dv - v * db / b) / b"), lambda s, a, b: a / b, 1,
        domain="b != 0", symbol="/", precedence=2, operon="Div",
    ),
    Operator("neg", 1, "-a", ("-1.0",), ("0.0",), lambda s, a: -a, 1, symbol="-", precedence=3),
    Operator(
        "pow", 2, "power(a, b)",
        ("choose(b == 0, 0.0, b * power(a, b - 1))", "choose((a == 0) & (b > 0), 0.0, v * log(a))"),
        (
            "b * (b - 1) * power(a, b - 2) * da + choose(db == 0, 0.0, db * power(a, b - 1) * (1 + b * log(a)))",
            "choose((da == 0) & (dv == 0), 0.0, dv * log(a) + v * da / a)",
        ),
        lambda s, a, b: a**b, 1, domain="(a > 0) | ((b == floor(b)) & ((a != 0) | (b >= 0)))",
        symbol="**", precedence=4, operon="Pow",
    ),
    Operator("square", 1, "a * a", ("2 * a",), ("2 * da",), lambda s, a: a**2, 4, operon="Square"),
    Operator("cube", 1, "a * a * a", ("3 * a * a",), ("6 * a * da",), lambda s, a: a**3, 4),
    Operator(
        "sqrt", 1, "sqrt(a)", ("0.5 / v",), ("-0.5 * dv / (v * v)",), lambda s, a: s.sqrt(a), 4,
        domain="a > 0", operon="Sqrt",
    ),
    Operator("abs", 1, "absolute(a)", ("sign(a)",), ("0.0",), lambda s, a: s.Abs(a), 1, domain="a != 0", operon="Abs"),
    Operator("inv", 1, "1 / a", ("-v * v",), ("-2 * v * dv",), lambda s, a: 1 / a, 1, domain="a != 0"),
    Operator("sin", 1, "sin(a)", ("cos(a)",), ("-v * da",), lambda s, a: s.sin(a), 5, operon="Sin"),
    Operator("cos", 1, "cos(a)", ("-sin(a)",), ("-v * da",), lambda s, a: s.cos(a), 5, operon="Cos"),
    Operator("tan", 1, "tan(a)", ("1 + v * v",), ("2 * v * dv",), lambda s, a: s.tan(a), 5, domain="cos(a) != 0", operon="Tan"),
    Operator("exp", 1, "exp(a)", ("v",), ("dv",), lambda s, a: s.exp(a), 5, operon="Exp"),
    Operator("log", 1, "log(a)", ("1 / a",), ("-da / (a * a)",), lambda s, a: s.log(a), 5, domain="a > 0", operon="Log"),
    Operator("tanh", 1, "tanh(a)", ("1 / (cosh(a) * cosh(a))",), ("-2 * v * dv",), lambda s, a: s.tanh(a), 5, operon="Tanh"),
    Operator(
        "atan", 1, "atan(a)", ("1 / (1 + a * a)",), ("-2 * a * da / ((1 + a * a) * (1 + a * a))",),
        lambda s, a: s.atan(a), 5, operon="Atan",
    ),
)  # fmt: skip

OPERATORS: Mapping[str, Operator] = MappingProxyType({operator.name: operator for operator in _TABLE})
"""Every operator by name, in the table's order."""

FUNCTIONS: Mapping[str, Operator] = MappingProxyType({o.name: o for o in _TABLE if o.symbol is None})
"""The operators that are written as a function call."""

NAMED_CONSTANTS: Mapping[str, str] = MappingProxyType(
    {"pi": "3.1415926535897932384626433832795028841971693993751058209749445923"}
)
"""Irrational numbers with a name of their own, to more digits than any evaluation uses."""


def operator_table() -> str:
    """List the operators as a Markdown table, for the documentation.

    Examples
    --------
    >>> print(operator_table().splitlines()[0])
    | operator | written | derivative | domain | complexity | pyoperon |
    """
    rows = ["| operator | written | derivative | domain | complexity | pyoperon |", "|---|---|---|---|---|---|"]
    for o in _TABLE:
        operands = "a" if o.arity == 1 else "a, b"
        written = f"{o.name}({operands})" if o.symbol is None else (f"{o.symbol}a" if o.arity == 1 else f"a {o.symbol} b")
        slopes = "; ".join(o.slopes)
        domain = "everywhere" if o.domain == "True" else o.domain
        cells = [o.name, f"`{written}`", f"`{slopes}`", f"`{domain}`".replace("|", "\\|"), str(o.cost), o.operon or "-"]
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)
