"""Evidence in nats: what a formula leaves over by each witness, and what it costs to write.

The points are not independent: a network is wrong smoothly, and neighbours repeat its error. So a
witness counts as many pieces of evidence as there are stretches of the data over which the error of
the best formulas changes, and no more than a number that was fitted on generated problems.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import cache
from importlib.resources import files
from json import loads

import numpy as np
from scipy.special import expit, logsumexp

from closedform.arrays import FloatArray
from closedform.field.neighborhoods import nearest_others

NEIGHBOURS = 64
"""How far it is followed that neighbours share an error, as a rank of nearness."""

MOST_NATS = 10.0
"""A lead of more says no more: both are beyond doubt by then."""

Pair = tuple[float, float]
"""One number for directions and one for values."""


@dataclass(frozen=True, slots=True)
class Clues:
    """What speaks for or against the heaviest formula of a pool being the truth.

    Of several ways to find out whether something better was not thought of, these six lowered the
    log loss on generated problems; by values where they are known, else by directions.
    """

    # Logarithm of the nats by which each unit of its length pays, compared with every shorter
    # formula. Stand-ins pay less.
    step: float
    left: float  # mean logarithm of what it leaves over
    # Logarithm of the number of points (without values: of the share) as which what it leaves over
    # counts, from how far neighbours share it: a network's error is rough, noise even more so, and
    # a misfit is smooth.
    shared: float
    gap: float  # nats by which it is ahead of the next form; stand-ins come in crowds
    excess: float  # nats by which the best fit of the pool beats it, lengths not counted
    n_fitted: float  # numbers that nobody would write; stand-ins need more of them


@dataclass(frozen=True, slots=True)
class Weighing:
    """The fitted numbers: what each witness counts, what length costs, and what the clues say."""

    most: Pair  # most pieces of evidence, of directions and of values
    price: float  # nats for each unit of description
    # Log odds that the heaviest formula is the truth: a constant, and a factor for each clue.
    sure: tuple[float, ...]

    def counts(self, pieces: Pair) -> Pair:
        """How many pieces each witness counts as."""
        return min(self.most[0], pieces[0]), min(self.most[1], pieces[1])

    def chance_of_truth(self, clues: Clues) -> float:
        """How likely the heaviest formula is the truth."""
        return float(expit(self.sure[0] + np.dot(self.sure[1:], astuple(clues))))


@cache
def weighing(*, has_values: bool) -> Weighing:
    """The numbers for fields with the latent's values, or without."""
    stored = loads(files("closedform.judge").joinpath("weighing.json").read_text(encoding="utf-8"))
    numbers = stored["with values" if has_values else "without values"]
    return Weighing(tuple(numbers["most"]), numbers["price"], tuple(numbers["sure"]))


def clues_of(
    fits: FloatArray, weights: FloatArray, lengths: FloatArray, left: float, shared: float,
    n_fitted: int,
) -> Clues:  # fmt: skip
    """The clues on the heaviest formula, from what all formulas leave over (in nats, lengths not
    counted), their weights and their lengths.
    """
    best = int(weights.argmax())
    order = np.sort(weights)[::-1]
    second = order[1] if len(order) > 1 else 0.0
    ahead = MOST_NATS if second <= 0 else float(np.log(order[0]) - np.log(second))
    gap = min(ahead, MOST_NATS)
    excess = min(float(fits[best] - fits.min()), MOST_NATS)
    shorter = lengths < lengths[best]
    pays = (fits[shorter] - fits[best]) / (lengths[best] - lengths[shorter])
    least = float(pays.min()) if shorter.any() else -float(fits[best] / lengths[best])
    # A user's own prior may prefer what does not pay.
    return Clues(
        float(np.log(max(least, 1 / MOST_NATS))), left, shared, gap, excess, float(n_fitted)
    )


def independent_pieces(errors: FloatArray, scaled: FloatArray) -> float:
    """As how many independent points errors (n_points, n_coordinates) count, from how far
    neighbours in scaled inputs share them.
    """
    count = len(errors)
    most = min(NEIGHBOURS, count)
    lengths = np.linalg.norm(errors, axis=1)
    total = float((lengths**2).mean())
    if count < 2 or total == 0:
        return float(count)
    order = nearest_others(scaled, most - 1)
    shared, start = 1.0, 1
    while start < most:
        rows = order[:, start - 1 : 2 * start - 1]
        products = np.einsum("nd,nkd->n", errors, errors[rows]) / rows.shape[1] / total
        share = float(products.mean())
        # Beyond what chance makes of independent errors; further neighbours share still less.
        if share < 2 * float(products.std()) / np.sqrt(count):
            break
        shared += share * rows.shape[1]
        start *= 2
    return count / shared


def weights_of(scores: FloatArray, groups: Sequence[int]) -> FloatArray:
    """exp(-score), normalised, where formulas of one group (one form in several spellings) count
    once: the best of them has the group's weight, and the others have none.
    """
    best = {group: min(np.flatnonzero(np.equal(groups, group)), key=lambda i: scores[i])
            for group in dict.fromkeys(groups)}  # fmt: skip
    places = list(best.values())
    weights = np.zeros(len(scores))
    weights[places] = np.exp(-scores[places] - logsumexp(-scores[places]))
    return weights
