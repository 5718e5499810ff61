"""Sums over sites: one function of one site, or of two neighbours, added up over a group of inputs
that are alike.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.evaluate import NUMPY, Library, value, value_and_gradient
from closedform.expressions.expression import Expression
from closedform.expressions.site_groups import Group

NEIGHBOURS = "neighbours"
"""The word that says that a sum runs over neighbouring pairs."""


@dataclass(frozen=True)
class SiteSum:
    """A sum over the sites of a group, or over its pairs of neighbours.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> total = SiteSum("s", Group([0, 1, 2]), parse("x**2", names=["x"]))
    >>> print(total, total.values(np.array([[1.0, 2.0, 3.0]])))
    sum(s[i]**2) [14.]
    """

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
