"""Templates: the user's knowledge of an answer's form, such as f(x) + g(v) with unknown functions f
and g.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache

from closedform.errors import ExpressionError, SpaceError
from closedform.expressions.operators import ALIASES, FUNCTIONS
from closedform.expressions.parse import names_in, parse
from closedform.expressions.sums_and_products import signed_terms
from closedform.expressions.tree import Constant, Tree, Variable, apply, constant

_CALL = re.compile(r"(?P<name>[^\W\d]\w*)\s*\((?P<arguments>[^()]*)\)")


@dataclass(frozen=True, slots=True)
class Template:
    """A form with unknown functions of named inputs.

    Examples
    --------
    >>> form = read_template("f(x, y)*g(z) + h(v)")
    >>> form.unknowns
    (('x', 'y'), ('z',), ('v',))
    >>> names = ("v", "x", "y", "z")
    >>> [form.fits(parse(text, names).tree, names) for text in ("2*x*y*sin(z) - v**2", "x*y + z*v")]
    [True, False]
    """

    text: str
    tree: Tree  # its variables are the unknown functions, then the inputs that stand by themselves
    unknowns: tuple[tuple[str, ...], ...]  # the inputs of each unknown function
    plain: tuple[str, ...]  # the inputs that stand by themselves

    @property
    def inputs(self) -> tuple[str, ...]:
        """Every input that is named, in the order of appearance."""
        return tuple(
            dict.fromkeys([name for names in self.unknowns for name in names] + list(self.plain))
        )

    def fits(self, tree: Tree, names: Sequence[str]) -> bool:
        """Whether an expression has the form; numbers and signs are free, and an unknown function
        may be a number.
        """
        return self._fits(tree, self.tree, names)

    def _fits(self, tree: Tree, form: Tree, names: Sequence[str]) -> bool:
        if tree.is_constant:
            return True
        root = form.root
        if isinstance(root, Variable):
            return self._is_function(tree, root.index, names)
        if isinstance(root, Constant):
            return False
        if root in ("add", "sub", "neg"):
            return self._assign(list(_summands(tree)), list(_summands(form)), names)
        if root in ("mul", "div"):
            return self._assign(list(_factors(tree)), list(_factors(form)), names)
        same = _spelled(tree), _spelled(form)
        if same[0].root != same[1].root:
            return False
        return all(
            self._fits(*pair, names)
            for pair in zip(same[0].children, same[1].children, strict=True)
        )

    def _is_function(self, tree: Tree, column: int, names: Sequence[str]) -> bool:
        if column < len(self.unknowns):
            return all(names[index] in self.unknowns[column] for index in tree.variables)
        return (
            isinstance(tree.root, Variable)
            and names[tree.root.index] == self.plain[column - len(self.unknowns)]
        )

    def _assign(self, pieces: list[Tree], forms: list[Tree], names: Sequence[str]) -> bool:
        """Give each summand or factor to a part of the form: any number to an unknown function, one
        to each other part.
        """
        functions = [form for form in forms if isinstance(form.root, Variable)]
        others = [form for form in forms if not isinstance(form.root, Variable)]
        for piece in pieces:
            if any(self._fits(piece, form, names) for form in functions):
                continue
            place = next(
                (i for i, form in enumerate(others) if self._fits(piece, form, names)), None
            )
            if place is None:
                return False
            del others[place]
        return True


@cache
def read_template(text: str) -> Template:
    """Read unknown functions of inputs, ``f(x, y)``, joined by ordinary operators and functions."""
    if not isinstance(text, str):
        raise SpaceError(f"A template is text such as 'f(x) + g(v)'; got {type(text).__name__}.")
    unknowns: list[tuple[str, ...]] = []
    places: list[str] = []

    def replace(call: re.Match[str]) -> str:
        if call["name"] in FUNCTIONS or call["name"] in ALIASES:
            return call[0]
        unknowns.append(_arguments(call, text))
        places.append(f"unknown_{len(places)}")
        return f"({places[-1]})"

    written = _CALL.sub(replace, text)
    if not unknowns:
        message = (
            f"The template {text!r} has no unknown function of inputs; write one such as 'f(x) + "
            f"g(v)'"
        )
        raise SpaceError(f"{message}{_hint(text)}.")
    try:
        plain = [name for name in names_in(written) if name not in places]
        tree = parse(written, [*places, *plain]).tree
    except ExpressionError as error:
        raise SpaceError(f"The template {text!r} cannot be read: {error}") from error
    return Template(text, tree, tuple(unknowns), tuple(plain))


def _arguments(call: re.Match[str], text: str) -> tuple[str, ...]:
    names = tuple(part.strip().strip("`") for part in call["arguments"].split(","))
    odd = next(
        (
            name
            for name in names
            if not re.fullmatch(r"[^\W\d]\w*", name) and f"`{name}`" not in call[0]
        ),
        None,
    )
    if odd is not None:
        message = (
            f"{call['name']} in the template {text!r} is a function of {odd!r}; an unknown "
            f"function takes names of inputs"
        )
        raise SpaceError(f"{message}, such as {call['name']}(x, y).")
    return names


def _hint(text: str) -> str:
    """Known functions alone leave nothing open."""
    known = sorted({match["name"] for match in _CALL.finditer(text)} & FUNCTIONS.keys())
    return f" ({known[0]} is a known function)" if known else ""


def check_inputs(template: Template, names: Sequence[str]) -> None:
    """Make sure that a template names inputs that exist."""
    for name in template.inputs:
        if name not in names:
            close = get_close_matches(name, names, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else "."
            message = (
                f"The template {template.text!r} names an input {name!r} that does not exist{hint}"
            )
            raise SpaceError(f"{message} The inputs are {', '.join(names)}.")


def _pieces(tree: Tree, opened: Callable[[Tree], list[Tree] | None]) -> Iterator[Tree]:
    pending = [tree]
    while pending:
        part = pending.pop()
        inner = opened(part)
        if inner is not None:
            pending += reversed(inner)
        elif not part.is_constant:
            yield part


def _summands(tree: Tree) -> Iterator[Tree]:
    """The terms of a sum, without signs and constant factors."""

    for _, term in signed_terms(tree):
        scaled = term.root in ("mul", "div") and any(child.is_constant for child in term.children)
        # A number divided by something is no multiple of it.
        if scaled and not (term.root == "div" and term.children[0].is_constant):
            for child in term.children:
                yield from _summands(child)
        elif not term.is_constant:
            yield term


def _factors(tree: Tree) -> Iterator[Tree]:
    """The factors of a product, whatever their constant powers."""

    def opened(part: Tree) -> list[Tree] | None:
        if part.root in ("mul", "div", "neg", "inv", "square", "cube"):
            return list(part.children)
        return [part.children[0]] if part.root == "pow" and part.children[1].is_constant else None

    return _pieces(tree, opened)


def _spelled(tree: Tree) -> Tree:
    """Squares and cubes as powers, so that both spellings are one form."""
    powers = {"square": 2, "cube": 3, "inv": -1}
    if not isinstance(tree.root, str) or tree.root not in powers:
        return tree
    return apply("pow", tree.children[0], constant(powers[tree.root]))
