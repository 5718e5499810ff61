"""The gradient on the sites of one group, and what sums over these leave of it and of the neuron's
values.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.sites import Group
from closedform.networks.flips import two_values
from closedform.reading.alike.site_terms import SiteTerm

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
        """Gradients of sums, shape (n_points, n_sites, n_terms).

        A flip is not a small step: of a function of the sums it also shows the second derivatives,
        which multiply products of changes. They are explained and mean nothing, so they follow the
        terms as columns of their own.
        """
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
        """Share of the variance of the neuron's values that a smooth function of the sums leaves,
        each point judged by one that has not seen it.
        """
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
