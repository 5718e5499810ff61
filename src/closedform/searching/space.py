"""SearchSpace: what the user knows about the answer, as limits on the expressions that are
tried.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from closedform.basics.keywords import checked_constructor, suggestion
from closedform.errors import SpaceError
from closedform.expressions.complexity import Costs
from closedform.expressions.expression import Expression
from closedform.expressions.legality import Legality
from closedform.expressions.operators import NAMED_CONSTANTS, OPERATORS, Operator
from closedform.expressions.tree import Constant, Tree, Variable
from closedform.searching.template import check_inputs, read_template

DEFAULT_OPERATORS = (
    "add", "sub", "mul", "div", "pow", "square", "sqrt", "sin", "cos", "exp", "log", "tanh",
)  # fmt: skip
UNBRED = ("min", "max", "abs", "atan")
"""Operators that answers of the usual space may have though nothing is bred with them: a kink fits
a bit of every network's error, and atan is nearly tanh."""

DEFAULT_NESTING = {"sin": ("sin", "cos"), "cos": ("sin", "cos"), "exp": ("exp",), "log": ("log",)}


@checked_constructor
@dataclass(frozen=True)
class SearchSpace:
    """Which expressions a search may return.

    Attributes
    ----------
    operators : sequence of str or Operator
        Operators that may occur, by name or as `closedform.Operator` objects. Those that pyoperon
        lacks (`docs/operators.md`), including all your own, are left to the term search.
    max_complexity : int
        Largest complexity on the front.
    max_degree : int
        Largest total degree of the monomials in the term search.
    nesting : mapping of str to sequence of str
        For each function, the functions that may not occur inside it; ``{"sin": ["sin", "cos"]}``.
    inside : mapping of str to sequence of str
        For each function, the only inputs that may occur inside it; ``{"exp": ["x"]}``.
    max_power : float
        Largest absolute value of a constant exponent.
    variable_exponents : bool
        Whether inputs may occur in exponents, as in ``2**x`` or ``x**y``; ``exp`` is not affected.
    guesses : sequence of Expression or str
        Expressions to start from; their parts enter the term library.
    terms : sequence of Expression or str
        Terms to add to the term library.
    templates : sequence of str
        Forms, one of which the answer must have: unknown functions of named inputs, joined by
        ordinary operators and functions; ``["f(x) + g(v)"]``. See `closedform.searching.template`.
    costs : Costs
        What each node costs.
    legality : Legality or None
        What units allow; `closedform.search` fills it in for a field that has units.

    Examples
    --------
    >>> SearchSpace(operators=["add", "mul"]).allows_operator("sin")
    False
    """

    operators: Sequence[str | Operator] = DEFAULT_OPERATORS
    max_complexity: int = 60
    max_degree: int = 4
    nesting: Mapping[str, Sequence[str]] = field(default_factory=lambda: dict(DEFAULT_NESTING))
    inside: Mapping[str, Sequence[str]] = field(default_factory=dict)
    max_power: float = 6.0
    variable_exponents: bool = False
    guesses: Sequence[Expression | str] = ()
    terms: Sequence[Expression | str] = ()
    templates: Sequence[str] = ()
    costs: Costs = field(default_factory=Costs)
    legality: Legality | None = None

    def __post_init__(self) -> None:
        inner = (name for names in self.nesting.values() for name in names)
        named = [*self.operator_names, *self.nesting, *self.inside, *inner]
        for name in named:
            if name not in OPERATORS:
                raise SpaceError(
                    f"There is no operator named {name!r}{suggestion(name, list(OPERATORS)) or '.'}"
                )
        if not self.operators:
            raise SpaceError("A search space needs at least one operator.")
        # The definitions travel with the space to other processes.
        own = [name for name in self.operator_names if not OPERATORS[name].is_built_in]
        if own:
            carried = tuple(
                OPERATORS[name] if name in own else name for name in self.operator_names
            )
            object.__setattr__(self, "operators", carried)
        if isinstance(self.templates, str):
            raise SpaceError(
                f"Templates are a list of texts; got one text. Write [{self.templates!r}]."
            )
        for template in self.templates:
            read_template(template)

    @cached_property
    def operator_names(self) -> tuple[str, ...]:
        """The operators that may occur, by name."""
        return tuple(item.name if isinstance(item, Operator) else item for item in self.operators)

    @cached_property
    def unbred(self) -> frozenset[str]:
        """Those of the operators `UNBRED` that may occur: all in the usual space."""
        is_usual = tuple(self.operators) == DEFAULT_OPERATORS
        return frozenset(UNBRED if is_usual else {*UNBRED} & {*self.operator_names})

    @cached_property
    def _spelled(self) -> frozenset[str]:
        """All operators that can be written with those of the space."""
        allowed = {"neg", *self.operator_names, *self.unbred}
        return frozenset(
            name
            for name, operator in OPERATORS.items()
            if name in allowed or not allowed.isdisjoint(operator.spelled_by)
        )

    def check_inputs(self, names: Sequence[str]) -> None:
        """Make sure that templates and ``inside`` name inputs that exist."""
        for template in self.templates:
            check_inputs(read_template(template), names)
        for function, inputs in self.inside.items():
            for name in inputs:
                if name not in names:
                    hint = suggestion(name, list(names)) or "."
                    message = (
                        f"The space lets {name!r} stand inside {function}, but there is no such "
                        f"input{hint}"
                    )
                    raise SpaceError(f"{message} The inputs are {', '.join(names)}.")

    def over(self, names: Sequence[str]) -> "SearchSpace":
        """The space over other inputs: without terms, guesses and templates, and ``inside`` for the
        inputs that are left.
        """
        inside = {
            function: [name for name in inputs if name in names]
            for function, inputs in self.inside.items()
        }
        return replace(self, terms=(), guesses=(), templates=(), inside=inside)

    def allows_operator(self, name: str) -> bool:
        """Whether an operator may occur."""
        return name in self.operator_names

    def allows(self, tree: Tree, names: Sequence[str]) -> bool:
        """Whether an expression lies in the space, apart from its complexity.

        Negation is always allowed; a square or a reciprocal is allowed where a product, quotient or
        power is.
        """
        is_possible = self.legality is None or self.legality.allows(tree, names)
        return is_possible and self._is_spelled(tree, names) and self.has_form(tree, names)

    def has_form(self, tree: Tree, names: Sequence[str]) -> bool:
        """Whether an expression has the form of a template, or there are none."""
        return not self.templates or any(
            read_template(template).fits(tree, names) for template in self.templates
        )

    def allows_inside(self, tree: Tree, names: Sequence[str]) -> bool:
        """Whether an expression may be a part of one: `allows` without templates, which describe
        whole expressions.
        """
        is_possible = self.legality is None or self.legality.allows(tree, names, is_whole=False)
        return is_possible and self._is_spelled(tree, names)

    def _is_spelled(self, tree: Tree, names: Sequence[str]) -> bool:
        """Whether operators, nesting and powers are those of the space."""
        used = {token for token in tree.tokens if isinstance(token, str)} - NAMED_CONSTANTS.keys()
        if not used <= self._spelled or not self._powers_allowed(tree):
            return False
        if not self.inside and "pow" not in used and used.isdisjoint(self.nesting):
            return True

        def leaf(token: Any) -> tuple[bool, frozenset[str], frozenset[str]]:
            used = frozenset([names[token.index]]) if isinstance(token, Variable) else frozenset()
            return True, frozenset(), used

        def node(
            name: str, *parts: tuple[bool, frozenset[str], frozenset[str]]
        ) -> tuple[bool, frozenset[str], frozenset[str]]:
            functions = frozenset().union(*(part[1] for part in parts))
            inputs = frozenset().union(*(part[2] for part in parts))
            fine = all(part[0] for part in parts)
            fine = fine and not functions & set(self.nesting.get(name, ()))
            fine = fine and (name not in self.inside or inputs <= set(self.inside[name]))
            fine = fine and (name != "pow" or self.variable_exponents or not parts[1][2])
            return fine, functions | {name}, inputs

        return tree.fold(leaf, node)[0]

    def _powers_allowed(self, tree: Tree) -> bool:
        tokens = tree.tokens
        return all(
            abs(tokens[i - 1].value) <= self.max_power  # type: ignore[union-attr]
            for i, token in enumerate(tokens)
            if token == "pow" and isinstance(tokens[i - 1], Constant)
        )


def as_space(space: SearchSpace | None) -> SearchSpace:
    """The space itself, or the usual one."""
    if space is None:
        return SearchSpace()
    if not isinstance(space, SearchSpace):
        raise SpaceError(
            f"space is {space!r:.60}; pass a closedform.SearchSpace, such as "
            f"SearchSpace(operators=[...])."
        )
    return space
