"""A formula of sums over sites: an ordinary expression whose inputs are the sums, and which is
evaluated on the sites.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from closedform.arrays import FloatArray, as_points
from closedform.errors import ExpressionError
from closedform.expressions import evaluate
from closedform.expressions.evaluate import Library
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.expressions.printing import to_text
from closedform.expressions.site_groups import Group
from closedform.expressions.site_sums import NEIGHBOURS, SiteSum, quantities

if TYPE_CHECKING:
    import sympy


@dataclass(frozen=True)
class FormulaOfSums(Expression):
    """An expression of sums over sites and of single inputs, callable on arrays of all inputs.

    Attributes
    ----------
    tree, names
        The expression of the sums, in which each is an input with a name such as ``sum(s[i]**2)``.
    sums : tuple of SiteSum
        The first inputs of the tree.
    alone : tuple of int
        Columns of the single inputs that follow them.
    inputs : tuple of str
        All inputs, in the order of the columns of points.

    Examples
    --------
    >>> formula = parse_sums("sum(s[i])**2", {"s": Group([0, 1, 2])}, ["a", "b", "c"])
    >>> print(formula, formula([[1.0, 2.0, 3.0]]), formula.gradient([[1.0, 2.0, 3.0]]))
    sum(s[i])**2 [36.] [[12. 12. 12.]]
    """

    sums: tuple[SiteSum, ...]
    alone: tuple[int, ...]
    inputs: tuple[str, ...]

    def __call__(self, points: ArrayLike) -> FloatArray:
        """Values at points of shape (n_points, n_inputs)."""
        return evaluate.evaluate(self.tree, self.reduced(points))

    def gradient(self, points: ArrayLike) -> FloatArray:
        """Input gradients, shape (n_points, n_inputs); nan where the value is not finite."""
        array = as_points(points, len(self.inputs))
        outer = evaluate.gradient(self.tree, self.reduced(array))
        found = np.zeros(array.shape)
        for place, each in enumerate(self.sums):
            found[:, each.group.columns] += outer[:, place, None] * each.gradient(array)
        found[:, list(self.alone)] += outer[:, len(self.sums) :]
        found[np.isnan(outer).any(axis=1)] = np.nan
        return found

    def reduced(self, points: ArrayLike) -> FloatArray:
        """The sums and single inputs at points of all inputs, one column for each name."""
        array = as_points(points, len(self.inputs))
        with np.errstate(all="ignore"):
            return np.stack(quantities(self.sums, self.alone, array), axis=1)

    def columns(self, points: Any, library: Library) -> list[Any]:
        """The tree's inputs at points (..., n_inputs) of any array library."""
        return quantities(self.sums, self.alone, points, library)

    def rename(self, names: Sequence[str]) -> Expression:
        """The same function of inputs in another order, or, by the names of the sums, the
        expression of these.
        """
        if not set(self.inputs) <= set(names):
            return Expression.rename(Expression(self.tree, self.names), names)
        if tuple(names) == self.inputs:
            return self
        column = {name: place for place, name in enumerate(names)}
        moved = [column[name] for name in self.inputs]

        def at(group: Group) -> Group:
            sites = [moved[column] for column in group.columns.tolist()]
            return Group(sites, group.shape, group.neighbours, group.periodic)

        sums = tuple(SiteSum(each.name, at(each.group), each.term) for each in self.sums)
        alone = tuple(moved[place] for place in self.alone)
        return FormulaOfSums(self.tree, self.names, sums, alone, tuple(names))

    def sympy(self) -> "sympy.Expr":
        """The SymPy expression of all inputs, every sum written out."""
        import sympy

        inputs = [sympy.Symbol(name, real=True) for name in self.inputs]
        outer: Any = Expression.sympy(Expression(self.tree, self.names))
        written = {}
        for each in self.sums:
            term: Any = each.term.sympy()
            given = [sympy.Symbol(name, real=True) for name in each.term.names]
            sites = each.group.columns
            places = sites[each.group.pairs] if each.is_over_pairs else sites[:, None]
            parts = [
                term.xreplace(dict(zip(given, [inputs[p] for p in row], strict=True)))
                for row in places.tolist()
            ]
            written[sympy.Symbol(str(each), real=True)] = sympy.Add(*parts)
        return outer.xreplace(written)

    def latex(self) -> str:
        """LaTeX source, without dollar signs."""
        from closedform.expressions.sympy_bridge import to_latex

        own = {str(each): rf"\left({each.latex()}\right)" for each in self.sums}
        return to_latex(Expression(self.tree, self.names), own)

    def numpy(self) -> Any:
        """A plain function of points (n_points, n_inputs)."""
        return self.__call__

    def __str__(self) -> str:
        text = to_text(self.tree, self.names)
        for each in self.sums:
            text = text.replace(f"`{each}`", str(each))
        return text

    def __repr__(self) -> str:
        return f"FormulaOfSums({str(self)!r}, {len(self.inputs)} inputs)"


_INDEXED = re.compile(r"([^\W\d]\w*)\[([ij])\]")


def parse_sums(text: str, groups: Mapping[str, Group], inputs: Sequence[str]) -> FormulaOfSums:
    """Read a formula in which ``sum(s[i]**2)`` and ``sum(s[i]*s[j], neighbours)`` stand for sums.

    groups: with columns as sites.
    inputs: the names of all columns.
    """
    pieces: list[str] = []
    sums: dict[str, SiteSum] = {}
    rest = text
    while (start := _next_sum(rest)) is not None:
        stop = _closing(rest, start)
        each = _read_sum(rest[start + 1 : stop], groups, text)
        sums[str(each)] = each
        pieces += [rest[: start - len("sum")], f"`{each}`"]
        rest = rest[stop + 1 :]
    grouped = {column for group in groups.values() for column in group.columns.tolist()}
    single = [column for column in range(len(inputs)) if column not in grouped]
    names = [*sums, *(inputs[column] for column in single)]
    outer = parse("".join([*pieces, rest]), names=names)
    return FormulaOfSums(
        outer.tree, outer.names, tuple(sums.values()), tuple(single), tuple(inputs)
    )


def _next_sum(text: str) -> int | None:
    """Where the parenthesis of the next sum opens; names in backticks are left alone."""
    found = re.search(r"`[^`]*`|\bsum\(", text)
    while found is not None and found[0].startswith("`"):
        found = re.compile(r"`[^`]*`|\bsum\(").search(text, found.end())
    return None if found is None else found.end() - 1


def _closing(text: str, start: int) -> int:
    depth = 0
    for place in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place
    raise ExpressionError(f"The parenthesis of a sum is not closed in {text!r:.80}.")


def _read_sum(inner: str, groups: Mapping[str, Group], text: str) -> SiteSum:
    body, _, tail = inner.rpartition(",")
    over_pairs = tail.strip() == NEIGHBOURS
    body = body if over_pairs else inner
    used = {name for name, _ in _INDEXED.findall(body)}
    if len(used) != 1 or not used <= set(groups):
        raise ExpressionError(
            f"sum({inner}) in {text!r:.80} must run over one of the groups "
            f"{', '.join(groups)}: write sum(s[i]**2) or sum(s[i]*s[j], {NEIGHBOURS})."
        )
    name = used.pop()
    wanted = ["i", "j"] if over_pairs else ["i"]
    if over_pairs and not len(groups[name].pairs):
        raise ExpressionError(
            f"sum({inner}) runs over neighbours, and group {name!r} has none; state its shape or "
            f"neighbours: closedform.Group(sites, shape=(10, 10))."
        )
    plain = _INDEXED.sub(lambda match: f"`{match[1]}[{match[2]}]`", body)
    term = parse(plain, names=[f"{name}[{index}]" for index in wanted])
    return SiteSum(name, groups[name], Expression(term.tree, ("x", "y")[: len(wanted)]))
