"""Inputs that are alike, such as the sites of a lattice: groups of them, sums over a group or its
pairs of neighbours, and formulas of such sums.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from closedform.arrays import FloatArray, as_points
from closedform.basics.keywords import checked_constructor
from closedform.errors import ExpressionError, FieldError
from closedform.expressions import evaluate
from closedform.expressions.evaluate import value, value_and_gradient
from closedform.expressions.expression import Expression
from closedform.expressions.libraries import NUMPY, Library
from closedform.expressions.parse import parse
from closedform.expressions.printing import check_names, to_text

if TYPE_CHECKING:
    import sympy

FEWEST_SITES = 3
"""A sum over two inputs is an ordinary formula of two inputs."""


@checked_constructor
@dataclass(frozen=True)
class Group:
    """Inputs that are alike.

    Attributes
    ----------
    sites : sequence of int or of str
        The inputs, by column or by name, in the order of the lattice.
    shape : tuple of int, optional
        The lattice: the last axis counts fastest, and nearest neighbours along each axis are
        neighbours.
    neighbours : sequence of pairs of int, optional
        In place of a shape: pairs of neighbouring sites, counted from 0 within the group, each pair
        once.
    periodic : bool
        Whether the last site along an axis of the lattice is a neighbour of the first.

    Examples
    --------
    >>> Group(range(6), shape=(2, 3), periodic=False).pairs.tolist()
    [[0, 3], [1, 4], [2, 5], [0, 1], [1, 2], [3, 4], [4, 5]]
    """

    sites: Sequence[int] | Sequence[str]
    shape: tuple[int, ...] | None = None
    neighbours: Sequence[tuple[int, int]] | None = None
    periodic: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "sites", tuple(_plain(site) for site in self.sites))
        count = len(self.sites)
        if count < FEWEST_SITES or len(set(self.sites)) != count:
            raise FieldError(
                f"A group of {count} sites, {len(set(self.sites))} of them different; pass at "
                f"least {FEWEST_SITES} different inputs."
            )
        if self.shape is not None:
            object.__setattr__(self, "shape", tuple(int(length) for length in self.shape))
            if self.neighbours is not None or int(np.prod(self.shape)) != count:
                raise FieldError(
                    f"The lattice {self.shape} does not fit a group of {count} sites with "
                    f"neighbours={'None' if self.neighbours is None else '...'}; pass a shape with "
                    f"as many sites as the group has, or neighbours, not both."
                )
        if self.neighbours is not None:
            listed = np.asarray(self.neighbours)
            is_pairs = listed.ndim == 2 and listed.shape[1] == 2 and listed.dtype.kind in "iu"
            if not is_pairs or not (listed.min() >= 0 and listed.max() < count):
                raise FieldError(
                    f"neighbours has shape {listed.shape}; pass pairs of whole numbers from 0 to "
                    f"{count - 1}, the places of two sites in the group."
                )
            object.__setattr__(self, "neighbours", tuple((int(a), int(b)) for a, b in listed))

    @cached_property
    def columns(self) -> NDArray[np.int64]:
        """The sites, where they are columns."""
        return np.array([int(site) for site in self.sites], dtype=np.int64)

    @cached_property
    def pairs(self) -> NDArray[np.int64]:
        """Neighbouring places within the group, shape (n_pairs, 2); none if nothing is known."""
        if self.neighbours is not None:
            return np.asarray(self.neighbours, dtype=np.int64)
        if self.shape is None:
            return np.empty((0, 2), dtype=np.int64)
        places = np.arange(len(self.sites)).reshape(self.shape)
        found = []
        for axis, length in enumerate(self.shape):
            if length < 2:
                continue
            # Around a ring of two the neighbour on both sides is the same one.
            around = self.periodic and length > 2
            here = places if around else np.take(places, np.arange(length - 1), axis)
            beyond = np.take(np.roll(places, -1, axis), np.arange(here.shape[axis]), axis)
            found.append(np.stack([here.ravel(), beyond.ravel()], axis=1))
        return np.concatenate(found) if found else np.empty((0, 2), dtype=np.int64)


GroupsLike = Mapping[str, Any]
"""What users pass: names to lists of inputs, or to `Group`."""


def as_groups(groups: GroupsLike, names: Sequence[str]) -> dict[str, Group]:
    """Groups with their sites as columns of a table with these names."""
    if not isinstance(groups, Mapping) or not groups:
        raise FieldError(
            f"groups is {groups!r:.60}; pass a name and the inputs that are alike: "
            f"groups={{'s': range(100)}}."
        )
    check_names(list(groups))
    places = {name: column for column, name in enumerate(names)}
    found: dict[str, Group] = {}
    taken: set[int] = set()
    for name, given in groups.items():
        group = given if isinstance(given, Group) else Group(given)
        columns = [_column(name, site, places) for site in group.sites]
        if taken.intersection(columns) or len(set(columns)) < len(columns):
            raise FieldError(f"An input of group {name!r} occurs twice in groups; list it once.")
        taken.update(columns)
        found[name] = Group(columns, group.shape, group.neighbours, group.periodic)
    return found


def names_with_groups(groups: GroupsLike, count: int) -> list[str]:
    """Names for inputs that have none: s[0], s[1] and so on, and x with the column for the rest."""
    names = [f"x{column}" for column in range(count)]
    for name, group in as_groups(groups, names).items():
        for place, column in enumerate(group.columns.tolist()):
            names[column] = f"{name}[{place}]"
    return names


def _plain(site: Any) -> int | str:
    return site if isinstance(site, str) else int(site)


def _column(group: str, site: int | str, places: Mapping[str, int]) -> int:
    column = places.get(site) if isinstance(site, str) else site
    if column is None or not 0 <= column < len(places):
        raise FieldError(
            f"Group {group!r} holds {site!r}, which is not among the {len(places)} inputs; pass "
            f"columns counted from 0, or names."
        )
    return column


NEIGHBOURS = "neighbours"
"""The word that says that a sum runs over neighbouring pairs."""


@dataclass(frozen=True)
class SiteSum:
    """A sum over the sites of a group, or over its pairs of neighbours."""

    name: str  # the group's
    group: Group  # with columns as sites
    # Of one input, the value at a site, or of two, those at neighbouring sites; then it does not
    # change when they are exchanged.
    term: Expression

    @property
    def is_over_pairs(self) -> bool:
        """Whether it runs over neighbours."""
        return len(self.term.names) == 2

    def __str__(self) -> str:
        places = [f"{self.name}[{index}]" for index in "ij"[: len(self.term.names)]]
        text = str(Expression(self.term.tree, tuple(places))).replace("`", "")
        return f"sum({text}, {NEIGHBOURS})" if self.is_over_pairs else f"sum({text})"

    def latex(self) -> str:
        """LaTeX source."""
        places = tuple(f"{_letter(self.name)}_{index}" for index in "ij"[: len(self.term.names)])
        below = r"\langle i, j \rangle" if self.is_over_pairs else "i"
        inner = Expression(self.term.tree, places).latex()
        is_plain = not re.search(r"(?<!\^)[-+](?![^{]*\})", inner)
        return rf"\sum_{{{below}}} " + (inner if is_plain else rf"\left({inner}\right)")

    def value(self, points: Any, library: Library = NUMPY) -> Any:
        """The sum at points of shape (..., n_inputs), in any array library."""
        return value(self.term.tree, self._inputs(points), library).sum(-1)

    def values(self, points: FloatArray) -> FloatArray:
        """The sum at points (n_points, n_inputs); what is not finite stays visible."""
        with np.errstate(all="ignore"):
            return np.asarray(self.value(points), dtype=np.float64)

    def gradient(self, points: FloatArray) -> FloatArray:
        """Derivatives by the group's sites, shape (n_points, n_sites)."""
        inputs = self._inputs(points)
        with np.errstate(all="ignore"):
            _, slopes = value_and_gradient(self.term.tree, inputs)
        shape = inputs[0].shape
        if not self.is_over_pairs:
            return np.array(np.broadcast_to(slopes.get(0, 0.0), shape))
        # Added up site by site: np.add.at is an order of magnitude slower than a sparse product.
        from scipy.sparse import csr_array

        found = np.zeros((shape[0], len(self.group.sites)))
        for side, slope in slopes.items():
            ends = self.group.pairs[:, side]
            ones = (np.ones(len(ends)), (np.arange(len(ends)), ends))
            each = csr_array(ones, shape=(len(ends), found.shape[1]))
            found += (each.T @ np.broadcast_to(slope, shape).T).T
        return found

    def _inputs(self, points: Any) -> list[Any]:
        sites = self.group.columns
        if not self.is_over_pairs:
            return [points[..., sites]]
        return [points[..., sites[self.group.pairs[:, side]]] for side in (0, 1)]


def quantities(
    sums: Sequence[SiteSum], alone: Sequence[int], points: Any, library: Library = NUMPY
) -> list[Any]:
    """The sums and the inputs that are in no group, each of shape (...), at points (..., n)."""
    return [
        *(each.value(points, library) for each in sums), *(points[..., column] for column in alone)
    ]  # fmt: skip


def _letter(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z]+", name) else "x"


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
    found = (match for match in re.finditer(r"`[^`]*`|\bsum\(", text) if match[0][0] != "`")
    first = next(found, None)
    return None if first is None else first.end() - 1


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
