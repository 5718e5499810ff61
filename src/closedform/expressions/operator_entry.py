"""What an operator is: one entry with everything about it, and the register in which every entry
stands.

Formulas are text in the names ``a`` and ``b`` (operands), ``v`` (the operator's value) and ``da``,
``db``, ``dv`` (their derivatives with respect to a constant). The functions in them (``sin``,
``power``, ``choose`` ...) are bound by whoever evaluates: NumPy, PyTorch, JAX, SymPy, 90-digit
mpmath or compiled loops. So an operator is written once and is the same everywhere.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Literal

from closedform.basics.keywords import checked_constructor
from closedform.errors import ExpressionError

Form = str | Callable[..., Any]
"""A formula, or a function of arrays."""

SPECIAL_WORDS = ("absolute", "choose", "floor", "power", "sign", "pi")
"""Words that stand in formulas and are not operators; every library says what they mean there."""

NAMED_CONSTANTS: Mapping[str, str] = MappingProxyType(
    {"pi": "3.1415926535897932384626433832795028841971693993751058209749445923"}
)
"""Irrational numbers with a name of their own, to more digits than any evaluation uses."""

FIRST_CODE, MOST_CODES = 2, 63
"""On a tape 0 is a constant and 1 an input; sets of operators are bits of one 64-bit number."""

_OPERANDS = ("a", "b", "v", "da", "db", "dv")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_PIECE = re.compile(
    r"(?P<word>[A-Za-z_]\w*)|(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)|[-+*/(),<>=!&|\s]"
)

_operators: dict[str, "Operator"] = {}
_functions: dict[str, "Operator"] = {}
_aliases: dict[str, str] = {}
_codes: dict[str, int] = {}
_by_code: dict[int, "Operator"] = {}
_built_in: set[str] = set()
_completions: list[Callable[["Operator"], None]] = []  # empty until the table has been read

OPERATORS: Mapping[str, "Operator"] = MappingProxyType(_operators)
"""Every operator by name: those of the table in its order, then those that were defined since."""

FUNCTIONS: Mapping[str, "Operator"] = MappingProxyType(_functions)
"""The operators that are written as a function call."""

ALIASES: Mapping[str, str] = MappingProxyType(_aliases)
"""Other words for functions."""

CODES: Mapping[str, int] = MappingProxyType(_codes)
"""The operators' codes on a tape."""

BY_CODE: Mapping[int, "Operator"] = MappingProxyType(_by_code)
"""What the codes mean."""


@checked_constructor
@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """One operator: defining it is enough to parse, evaluate, search, simplify, export and report
    it.

    Once defined, an operator is known by its name in this process, and in workers that get a
    `SearchSpace` with it. Defining it again replaces it. Files hold only the name: define the
    operator before you load a saved answer that uses it.

    Parameters
    ----------
    name : str
        How it is written: ``name(x)`` or ``name(x, y)``.
    value : str or callable
        A formula such as ``"log(1 + exp(a))"``, which serves NumPy, torch, JAX, SymPy and high
        precision alike; or a function of NumPy arrays.
    slopes : str, callable, or a sequence of them, optional
        The partial derivatives, one for each operand: formulas (in which ``v`` is the value), or
        functions of the operands. A formula's are derived by SymPy if none are given.
    bends : like slopes, optional
        How each slope changes along (da, db), which the fitting of constants needs; by finite
        differences if not given.
    arity : int
        1 or 2.
    cost : int
        Complexity; the paper's price of a function is 5.
    domain : str
        Formula that is true where the value is finite and differentiable.
    parity : {"odd", "even"}, optional
        What a minus sign of the operand (of both, if there are two) does to the value.
    homogeneous : int, optional
        The degree h, if f(c*a) = c**h * f(a) for positive c.
    is_symmetric : bool
        Whether the operands may change places.
    power : Fraction, optional
        The exponent, if it is a power.
    numpy, compiled, torch, jax, mpmath, sympy : str or callable, optional
        The function in this library, if it has another name there: a path such as
        ``"scipy.special.erf"``, or the function itself.
    typeset : str, optional
        The word for it in reports, ``"|a|"`` for bars and ``"e^a"`` for a power of e.
    aliases : tuple of str
        Other names that `closedform.parse` reads.
    symbol : str, optional
        Infix or prefix symbol, if it is written with one.
    precedence : int
        Binding strength of the symbol; functions bind strongest.
    spelled_by : tuple of str
        Operators that can spell it: a space with one of them allows it.
    pointless : tuple of str
        Kinds of arguments for which the term search need not try it: "one more", "twice", "square".
    operon : str, optional
        Name of pyoperon's node type; without one the evolutionary engine does not breed it.
    in_kernel : bool
        Whether it is compiled. Other operators are evaluated by NumPy, one block of points at a
        time.

    Raises
    ------
    ExpressionError
        If the name is taken, a formula holds an unknown word, or slopes are missing or wrong.

    Examples
    --------
    >>> import closedform as cf
    >>> softplus = Operator("softplus", "log(1 + exp(a))")
    >>> cf.parse("softplus(x) + y").gradient([[0.0, 1.0]])
    array([[0.5, 1. ]])
    >>> forget("softplus")
    """

    name: str
    value: Form
    slopes: Form | Sequence[Form] = ()
    bends: Form | Sequence[Form] = ()
    arity: int = 1
    cost: int = 5
    domain: str = "True"
    parity: Literal["odd", "even"] | None = None
    homogeneous: int | None = None
    is_symmetric: bool = False
    power: Fraction | None = None
    numpy: Form | None = None
    compiled: Form | None = None
    torch: Form | None = None
    jax: Form | None = None
    mpmath: Form | None = None
    sympy: Form | None = None
    typeset: str | None = None
    aliases: tuple[str, ...] = ()
    symbol: str | None = None
    precedence: int = 9
    spelled_by: tuple[str, ...] = ()
    pointless: tuple[str, ...] = ("one more",)
    operon: str | None = None
    in_kernel: bool = False

    def __post_init__(self) -> None:
        _check(self)
        for complete in _completions:
            complete(self)
        _register(self)

    @property
    def is_built_in(self) -> bool:
        """Whether it is built in."""
        return self.name in _built_in

    @property
    def operands(self) -> str:
        """The names of its operands, as in a function's signature."""
        return "a" if self.arity == 1 else "a, b"

    @property
    def slope_forms(self) -> tuple[Form, ...]:
        """The slopes, one for each operand."""
        return _several(self.slopes)

    @property
    def bend_forms(self) -> tuple[Form, ...]:
        """The bends, one for each operand."""
        return _several(self.bends)

    def own_function(self, library: str) -> Form | None:
        """Its function in a library that knows it by another name."""
        if library == "numpy" and callable(self.value):
            return self.value
        return getattr(self, library)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (_given(self),)


def _given(operator: Operator) -> tuple[Any, ...]:
    """What an operator is defined by; bends that were derived are derived again."""
    values = {field.name: getattr(operator, field.name) for field in fields(operator)}
    if any(hasattr(bend, "is_derived") for bend in operator.bend_forms):
        values["bends"] = ()
    return tuple(values.values())


def _several(given: Form | Sequence[Form]) -> tuple[Form, ...]:
    return (given,) if isinstance(given, str) or callable(given) else tuple(given)


def _restored(values: tuple[Any, ...]) -> Operator:
    """An operator in another process: the one that is known there, if it is the same."""
    known = _operators.get(values[0])
    if known is not None and (known.is_built_in or _given(known) == values):
        return known
    return Operator(*values)


def forget(name: str) -> None:
    """Take an operator that was defined out of the register again; those of the table stay."""
    if name not in _operators or name in _built_in:
        own = ", ".join(each for each in _operators if each not in _built_in)
        raise ExpressionError(
            f"{name!r} is built in or unknown; only operators that you have defined can be "
            f"forgotten: {own or 'none so far'}."
        )
    for word in _operators[name].aliases:
        del _aliases[word]
    _by_code.pop(_codes.pop(name))
    for register in (_operators, _functions):
        register.pop(name, None)


def complete_table(complete: Callable[[Operator], None]) -> None:
    """Say that the table ends here: what is defined from now on is a user's own, and `complete`
    fills in what it leaves out.
    """
    _built_in.update(_operators)
    _completions.append(complete)


def words_in(formula: str) -> set[str]:
    """The words of a formula."""
    words: set[str] = set()
    position = 0
    while position < len(formula):
        match = _PIECE.match(formula, position)
        if match is None:
            raise ExpressionError(
                f"{formula[position]!r} is not part of a formula; it stands in {formula!r}."
            )
        if match["word"]:
            words.add(match["word"])
        position = match.end()
    return words


def exact_numbers(formula: str) -> str:
    """The formula with each number as a call, ``number(1, 10)`` for 0.1, for libraries that are
    exact.

    Examples
    --------
    >>> exact_numbers("0.5 * a")
    'number(1, 2) * a'
    """

    def written(match: re.Match[str]) -> str:
        if not match["number"]:
            return match[0]
        exact = Fraction(match["number"])
        return f"number({exact.numerator}, {exact.denominator})"

    return _PIECE.sub(written, formula)


def _register(operator: Operator) -> None:
    name = operator.name
    if name not in _codes:
        free = next(
            (code for code in range(FIRST_CODE, MOST_CODES) if code not in _codes.values()), None
        )
        if free is None:
            raise ExpressionError(
                f"{name!r} would be one operator too many: at most {MOST_CODES - FIRST_CODE} "
                f"are known."
            )
        _codes[name] = free
    _operators[name] = _by_code[_codes[name]] = operator
    if operator.symbol is None:
        _functions[name] = operator
    _aliases.update(dict.fromkeys(operator.aliases, name))


def _check(operator: Operator) -> None:
    """Refuse names that mean something else, and formulas with unknown words."""
    name = operator.name
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ExpressionError(
            f"An operator cannot be named {name!r}; use a word of letters, digits and underscores."
        )
    taken = {*_built_in, *NAMED_CONSTANTS, *SPECIAL_WORDS, *_OPERANDS}
    for word in (name, *operator.aliases):
        if word in taken or (word in _aliases and _aliases[word] != name):
            raise ExpressionError(
                f"{word!r} has a meaning already; choose another name for the operator."
            )
    if operator.arity not in (1, 2):
        raise ExpressionError(
            f"An operator takes 1 or 2 operands; {name!r} has arity={operator.arity!r}."
        )
    known = _operators.get(name)
    if known is not None and known.arity != operator.arity:
        message = (
            f"{name!r} is known with {known.arity} operand(s), and this one has {operator.arity}"
        )
        raise ExpressionError(f"{message}; choose another name.")
    if not _completions:
        return
    allowed = {*_operators, *SPECIAL_WORDS, name}
    values = {"a"} if operator.arity == 1 else {"a", "b"}
    _check_words(name, [operator.value, operator.domain], allowed | values | {"True"})
    _check_words(name, operator.slope_forms, allowed | values | {"v"})
    _check_words(name, operator.bend_forms, allowed | set(_OPERANDS))


def _check_words(name: str, forms: Any, allowed: set[str]) -> None:
    for form in forms:
        unknown = sorted(words_in(form) - allowed) if isinstance(form, str) else []
        if unknown:
            hint = "The operands are called a and b"
            raise ExpressionError(
                f"The formula {form!r} of {name!r} holds the unknown word {unknown[0]!r}. {hint}."
            )
