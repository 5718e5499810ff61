"""Symbolic sizes in exported networks: torch evaluates their text, so a small language passes."""

import ast
import re

from closedform.networks.errors import ModelFileError
from closedform.networks.untrusted.archive import TRUSTED
from closedform.networks.untrusted.limits import LARGEST_SIZE, MAX_SHAPE_TEXT

FUNCTIONS = frozenset(
    {
        "Integer", "Rational", "Float", "Add", "Mul", "Pow", "Mod", "Max", "Min", "Abs",
        "floor", "ceiling", "Eq", "Ne", "Equality", "Unequality", "LessThan", "StrictLessThan",
        "GreaterThan", "StrictGreaterThan", "Le", "Lt", "Ge", "Gt", "And", "Or", "Not",
        "FloorDiv", "ModularIndexing", "Where", "PythonMod", "CleanDiv", "CeilToInt",
        "FloorToInt", "CeilDiv", "LShift", "RShift", "PowByNatural", "FloatPow", "FloatTrueDiv",
        "IntTrueDiv", "TruncToFloat", "TruncToInt", "RoundToInt", "RoundDecimal", "ToFloat",
        "Identity", "IsNonOverlappingAndDenseIndicator",
    }
)  # fmt: skip
"""What may be called: SymPy's arithmetic and comparisons, and torch's own integer functions."""

ASSUMPTIONS = frozenset(
    {
        "integer", "positive", "negative", "nonnegative", "nonpositive", "nonzero", "zero",
        "real", "finite", "even", "odd",
    }
)  # fmt: skip

_SYMBOL = re.compile(r"(s|u|zf|zuf)[0-9]{1,6}")
_CONSTANTS = ("true", "false", "oo", "int_oo")
_GROWING = ("Pow", "PowByNatural", "FloatPow", "LShift", "**", "<<")
_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**",
}  # fmt: skip


def clean_expression(text: object) -> str:
    """The expression, written anew from its parts.

    Raises
    ------
    ModelFileError
        If there is anything in it but numbers, symbols of sizes, arithmetic and known functions.

    Examples
    --------
    >>> clean_expression("Add(Symbol('s77', positive=True, integer=True), Integer(1))")
    "Add(Symbol('s77', positive=True, integer=True), Integer(1))"
    """
    if not isinstance(text, str) or len(text) > MAX_SHAPE_TEXT or not text.isascii():
        raise _refused(text)
    try:
        return _written(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise _refused(text) from error


def _written(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=bool(value)):
            return str(value)
        case ast.Constant(value=int() | float() as value) if abs(value) < LARGEST_SIZE:
            return repr(value)
        case ast.Name(id=name) if _SYMBOL.fullmatch(name) or name in _CONSTANTS:
            return name
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return f"(-{_written(operand)})"
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _BINARY:
            sign = _BINARY[type(operator)]
            _bound_growth(sign, right)
            return f"({_written(left)} {sign} {_written(right)})"
        case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str(text))], keywords=words):
            return _written_text(name, text, words)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            if arguments:
                _bound_growth(name, arguments[-1])
            return f"{name}({', '.join(map(_written, arguments))})"
    raise ValueError("unknown part")


def _written_text(kind: str, text: str, keywords: list[ast.keyword]) -> str:
    """A symbol with what is assumed of it, or a decimal number with its precision."""
    if kind == "Float":
        return f"Float({', '.join([repr(str(float(text))), *map(_precision, keywords)])})"
    if kind != "Symbol" or not _SYMBOL.fullmatch(text):
        raise ValueError("unknown symbol")
    return f"Symbol({', '.join([repr(text), *map(_assumption, keywords)])})"


def _assumption(keyword: ast.keyword) -> str:
    value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
    if keyword.arg in ASSUMPTIONS and isinstance(value, bool):
        return f"{keyword.arg}={value}"
    raise ValueError("unknown assumption")


def _precision(keyword: ast.keyword) -> str:
    value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
    if keyword.arg == "precision" and type(value) is int and 0 < value <= 1000:
        return f"precision={value}"
    raise ValueError("unknown precision")


def _bound_growth(name: str, exponent: ast.expr) -> None:
    """A power of constants would be computed at once, and 9**9**9 fills the memory."""
    if name not in _GROWING:
        return
    while isinstance(exponent, ast.Call) and len(exponent.args) == 1:
        exponent = exponent.args[0]
    inner = exponent.operand if isinstance(exponent, ast.UnaryOp) else exponent
    value = inner.value if isinstance(inner, ast.Constant) else None
    if not isinstance(value, int | float) or abs(value) > 64:
        raise ValueError("unbounded power")


def _refused(text: object) -> ModelFileError:
    return ModelFileError(
        f"The size {text!r:.200} is not plain arithmetic of sizes, and torch would evaluate it as "
        f"Python. Export the network again. {TRUSTED}"
    )
