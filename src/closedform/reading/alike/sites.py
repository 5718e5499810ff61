"""What may stand under a sum over sites, and what sums leave of a neuron's gradient and values."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

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
    """All functions that are finite and vary on a group's values, (n_points, n_sites)."""
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


DEGREES = (10, 6, 4)
"""Of the polynomial of one, two or three sums that the neuron's values are compared with: up to 35
numbers, as a spline of phi has 20."""

SEPARATE = 0.1
"""Ratio of singular values below which the gradients of the sums at a point are parallel: in an
ordered lattice, those of the magnetisation and of the energy are."""


@dataclass(frozen=True)
class Sites:
    """The gradient on the sites of one group."""

    name: str
    group: Group  # with columns as sites
    points: FloatArray  # (n_points, n_inputs): all inputs
    # (n_points, n_sites): the group's part of gradients that are 1 long, in inputs divided by their
    # spread.
    gradients: FloatArray
    # (n_points,): values of the neuron, where they are a function of this group alone.
    latents: FloatArray | None = None

    @cached_property
    def values(self) -> FloatArray:
        """The group's inputs."""
        return self.points[:, self.group.columns]

    @cached_property
    def flips(self) -> FloatArray | None:
        """How far each site moves when it is flipped; None unless sites have two values."""
        found = two_values(self.values)
        return None if found is None else sum(found) - 2 * self.values

    def some(self, count: int) -> "Sites":
        """At some of the points, evenly chosen."""
        rows = np.linspace(0, len(self.points) - 1, min(count, len(self.points))).astype(int)
        return Sites(self.name, self.group, self.points[rows], self.gradients[rows])

    def slopes(self, terms: Sequence[SiteTerm]) -> FloatArray:
        """Gradients of sums, shape (n_points, n_sites, n_terms)."""
        # A flip is not a small step: of a function of the sums it also shows the second
        # derivatives, which multiply products of changes. They mean nothing here, and follow as
        # columns of their own.
        columns = [term.summed(self.name, self.group).gradient(self.points) for term in terms]
        if self.flips is not None:
            columns += [
                self.flips * columns[a] * columns[b]
                for a in range(len(terms)) for b in range(a, len(terms))
            ]  # fmt: skip
        return np.stack(columns, axis=2)

    def left(self, terms: Sequence[SiteTerm]) -> FloatArray:
        """What sums leave of the gradient on each site, shape (n_points, n_sites)."""
        columns = self.slopes(terms)
        basis = np.linalg.qr(columns / np.maximum(np.abs(columns).max(axis=(0, 1)), 1e-300))[0]
        along = np.einsum("pnm,pn->pm", basis, self.gradients)
        return self.gradients - np.einsum("pnm,pm->pn", basis, along)

    def share(self, terms: Sequence[SiteTerm]) -> float:
        """What sums leave of the squared gradient."""
        return kept_share((self.left(terms) ** 2).sum(axis=1), (self.gradients**2).sum(axis=1))

    def values_left(self, terms: Sequence[SiteTerm]) -> float:
        """Share of the variance of the values that a smooth function of the sums leaves, unseen."""
        assert self.latents is not None
        scaled: list[FloatArray] = []
        for term in terms:
            each = term.summed(self.name, self.group).values(self.points)
            low, middle, high = np.quantile(each, [0.1, 0.5, 0.9])
            # Any function of the sum that rises with it will do, and this one has no tails.
            scaled.append(np.tanh((each - middle) / max(high - low, 1e-300)))
        powers = product(range(DEGREES[len(terms) - 1] + 1), repeat=len(terms))
        columns = [
            np.prod([one**power for one, power in zip(scaled, each, strict=True)], axis=0)
            for each in powers
            if sum(each) <= DEGREES[len(terms) - 1]
        ]
        basis = np.linalg.qr(np.stack(columns, axis=1))[0]
        own = self.latents - self.latents.mean()
        left = (own - basis @ (basis.T @ own)) / np.maximum(1 - (basis**2).sum(axis=1), 0.1)
        return float((left**2).sum() / max((own**2).sum(), 1e-300))

    def weights(self, terms: Sequence[SiteTerm]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The slope along each sum at each point, (n_points, n_terms), its variance if what is left
        is independent from site to site, infinite where the sums' gradients are parallel, and what
        the sums leave on each site, (n_points, n_sites).
        """
        columns, count = self.slopes(terms), len(terms)
        sizes = np.sqrt((columns**2).mean(axis=(0, 1)))
        sizes[sizes == 0] = 1.0
        inverse = np.linalg.pinv(columns / sizes, rcond=1e-9) / sizes[:, None]
        every = np.einsum("pmn,pn->pm", inverse, self.gradients)
        left = self.gradients - np.einsum("pnm,pm->pn", columns, every)
        freedom = max(columns.shape[1] - columns.shape[2], 1)
        variance = (inverse**2).sum(axis=2) * (left**2).sum(axis=1)[:, None] / freedom
        found, variance = every[:, :count], variance[:, :count]
        if self.flips is not None:
            # A slope is known as well as flips show it, and not the second derivatives.
            first, second = (
                (np.einsum("pnm,pm->pn", columns[:, :, part], every[:, part]) ** 2).sum(axis=1)
                for part in (slice(count), slice(count, None))
            )
            variance += found**2 * (second / np.maximum(first, 1e-9 * second + 1e-300))[:, None]
        values = np.linalg.svd(columns[:, :, :count] / sizes[:count], compute_uv=False)
        variance[values[:, -1] <= SEPARATE * values[:, 0]] = np.inf
        return found, variance, left


def kept_share(squares: FloatArray, total: FloatArray) -> float:
    """Of the whole, without the twentieth of the points that leaves most."""
    kept = np.argsort(squares)[: max(1, round(0.95 * len(squares)))]
    return float(np.maximum(squares[kept], 0.0).sum() / max(total[kept].sum(), 1e-300))
