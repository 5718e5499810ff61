"""What may stand under a sum over sites: functions of one site, some with a number inside, and
functions of two neighbours.
"""

from dataclasses import dataclass

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.expressions.sites import Group, SiteSum
from closedform.networks.flips import two_values

OF_ONE = (
    "x", "x**2", "x**3", "x**4", "abs(x)", "sqrt(x)", "log(x)", "1/x", "1/x**2", "x**(3/2)",
    "x*log(x)", "exp(x)", "exp(-x)", "sin(x)", "cos(x)", "tanh(x)", "exp(-x**2)", "1/(1 + x**2)",
    "log(1 + x**2)", "sqrt(1 + x**2)", "x*exp(-x)", "x*sin(x)",
)  # fmt: skip
"""Powers, and the elementary functions that order parameters, energies, entropies and robust
averages are made of."""

WITH_NUMBER = ("exp({k}*x)", "exp(-{k}*x)", "sin({k}*x)", "cos({k}*x)", "tanh({k}*x)",
               "exp(-{k}*x**2)", "log(1 + {k}*x**2)")  # fmt: skip
"""The same with a number inside, which is fitted to the field."""

NUMBERS = (0.5, 2.0, 4.0)
"""Where fits of such a number start, in units of 1 over the group's spread: a factor of two apart
from each other and from 1, which a fit bridges."""

OF_TWO = ("x*y", "(x - y)**2", "abs(x - y)", "cos(x - y)", "x**2*y**2", "(x - y)**4",
          "exp(-(x - y)**2)", "sin(x)*sin(y)")  # fmt: skip
"""Of neighbours: correlations, gradients on a lattice, and phases."""


@dataclass(frozen=True)
class SiteTerm:
    """A function that may stand under a sum, perhaps with a number inside."""

    text: str
    number: float | None = None
    over_pairs: bool = False

    @property
    def expression(self) -> Expression:
        """The function of x, or of x and y."""
        return parse(self.written(), names=["x", "y"] if self.over_pairs else ["x"])

    def written(self) -> str:
        """With the number in its place."""
        if self.number is None:
            return self.text
        return self.text.format(k=f"{self.number:.12g}")

    def summed(self, name: str, group: Group) -> SiteSum:
        """The sum over a group."""
        return SiteSum(name, group, self.expression)

    @property
    def length(self) -> int:
        """Complexity, with one more for a number that was fitted."""
        return self.expression.complexity() + (self.number is not None)


def terms_for(values: FloatArray, group: Group) -> list[SiteTerm]:
    """All functions that are finite, with finite slopes that are not all zero, on a group's values.

    values (n_points, n_sites)
    """
    pairs = [SiteTerm(text, over_pairs=True) for text in OF_TWO] if len(group.pairs) else []
    if two_values(values) is not None:
        # On two values every function of a site is a straight line, and every symmetric function
        # of two sites is their product and straight lines.
        ones = [SiteTerm("x")]
        return [*ones, *pairs[:1]]
    spread = float(np.std(values))
    numbers = [SiteTerm(text, n / spread) for text in WITH_NUMBER for n in (1.0, *NUMBERS)]
    low, high = values.min(), values.max()
    some = np.linspace(low, high, 41)
    some = np.append(some, 0.0) if low < 0 < high else some
    return [
        term
        for term in [*(SiteTerm(text) for text in OF_ONE), *numbers, *pairs]
        if term.over_pairs or _is_smooth(term.expression, some)
    ]


def _is_smooth(term: Expression, values: FloatArray) -> bool:
    with np.errstate(all="ignore"):
        slopes = term.gradient(values[:, None])[:, 0]
    return bool(np.isfinite(slopes).all() and slopes.any())
