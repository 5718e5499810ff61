"""How sure the answer is: the weight of its form among all that were thought of, judged on points
that search, choice and fitting have not seen.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import cache
from importlib.resources import files
from json import loads

import numpy as np
from scipy.special import expit, logsumexp

from closedform.arrays import FloatArray
from closedform.canonical.tolerances import COMPATIBLE
from closedform.expressions.complexity import chosen_numbers
from closedform.expressions.expression import Expression
from closedform.field.alignment.tolerances import ROUNDING
from closedform.field.gradient_field import GradientField
from closedform.judge.neighbours.same_form import group_by_form
from closedform.judge.regions import Pair, divide, mean_by_regions
from closedform.judge.witnesses import Heard, Witnesses

MOST_NATS = 10.0
"""A lead of more says no more: both are beyond doubt by then."""

LISTED = 0.95
"""Forms are listed until they hold this share of what is known; an answer that holds as much of
everything is verified."""

EXACT = 1e-3
"""Mean square of errors, in units of what counts at all, below which nothing is shared."""

SLIGHT = 0.05
"""Nats by which what is left over may be larger on unseen points, however small its error: they
matter to nobody."""


@dataclass(frozen=True, slots=True)
class Clues:
    """What speaks for or against the heaviest formula of a pool being the truth.

    Of several ways to find out whether something better was not thought of, these five lowered the
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
    excess: float  # nats by which the best fit of the pool beats it, lengths not counted
    n_chosen: float  # numbers that the data chose, plain ones too; stand-ins need more of them


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
    n_chosen: int,
) -> Clues:  # fmt: skip
    """The clues on the heaviest formula, from what all formulas leave over (in nats, lengths not
    counted), their weights and their lengths.
    """
    best = int(weights.argmax())
    excess = min(float(fits[best] - fits.min()), MOST_NATS)
    shorter = lengths < lengths[best]
    pays = (fits[shorter] - fits[best]) / (lengths[best] - lengths[shorter])
    least = float(pays.min()) if shorter.any() else -float(fits[best] / lengths[best])
    # A user's own prior may prefer what does not pay.
    return Clues(float(np.log(max(least, 1 / MOST_NATS))), left, shared, excess, float(n_chosen))


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


@dataclass(frozen=True, slots=True)
class Judged:
    """Formulas on unseen points."""

    # (n_formulas,): of each form, the unknown apart: they sum to 1. Spellings of one form have the
    # weight of the best of them between them.
    weights: FloatArray
    groups: tuple[int, ...]  # which form each formula is
    unknown: float  # the share of what was not thought of
    # (n_formulas, 2): mean logarithms of what each leaves over, by directions and by values.
    means: FloatArray
    # (n_witnesses, 2): for the answer, by directions and by values: by how many nats it leaves more
    # over than the choice's regions predict, and the standard error of that.
    predicted: FloatArray

    @property
    def confidence(self) -> float:
        """Of the answer, which comes first."""
        return (1 - self.unknown) * float(self.weights[np.equal(self.groups, self.groups[0])].sum())

    @property
    def has_values(self) -> bool:
        """Whether the latent's values were a witness."""
        return len(self.predicted) > 1

    @property
    def holds(self) -> bool:
        """Whether the answer leaves as little over here as where it was chosen."""
        more, error = self.predicted.T
        return bool((more <= COMPATIBLE * error + SLIGHT).all())

    def listed(self) -> list[int]:
        """Places of other forms, heaviest first, until all listed hold 95% of what is known."""
        held = float(self.weights[np.equal(self.groups, self.groups[0])].sum())
        found: list[int] = []
        for place in np.argsort(-self.weights, kind="stable").tolist():
            if held >= LISTED:
                break
            if self.groups[place] != self.groups[0]:
                found.append(place)
                held += float(self.weights[place])
        return found


def judge_formulas(
    formulas: Sequence[Expression],
    costs: Sequence[float],
    lengths: Sequence[float],
    seen: GradientField,
    unseen: GradientField,
    scales: Pair,
    counts: Pair,
    rng: np.random.Generator,
) -> Judged:
    """Weigh formulas, the answer first, with their constants as they are.

    costs, lengths: what each costs to describe, in nats, and its length.
    seen, unseen: where phi is fitted, and the points that judge.
    scales, counts: typical errors, and independent pieces of evidence, as the choice saw them.
    rng: divides points into regions.
    """
    before = Witnesses.of(seen)
    after = Witnesses.of(unseen, before)
    earlier = [before.hear(formula.tree) for formula in formulas]
    later = [
        after.hear(formula.tree, one.phi) for formula, one in zip(formulas, earlier, strict=True)
    ]
    means = np.array([after.means(heard, scales) for heard in later])
    fits = means @ counts
    groups = tuple(group_by_form(formulas, unseen))
    weights = weights_of(fits + np.asarray(costs), groups)
    best = int(weights.argmax())
    numbers = weighing(has_values=after.has_values)
    chance = numbers.chance_of_truth(
        clues_of(
            fits,
            weights,
            np.asarray(lengths),
            float(means[best, int(after.has_values)]),
            shared_error(before, earlier[best], scales),
            unproved_numbers(formulas[best], later[best]),
        )
    )
    heaviest = float(weights[best])
    if chance > heaviest:
        # The clues know more than the weights: what the others have shrinks.
        weights *= (1 - chance) / (1 - heaviest)
        weights[best] = chance
    return Judged(
        weights=weights,
        groups=groups,
        # The heaviest is the truth by this chance, and has this weight among what is known.
        unknown=1 - min(chance / heaviest, 1.0),
        means=means,
        predicted=_predicted((before, earlier[0]), (after, later[0]), scales, rng),
    )


def unproved_numbers(formula: Expression, heard: Heard) -> int:
    """Numbers for which a stand-in may thank its fit; none where the formula is exact to rounding
    on all points, which no stand-in is.
    """
    if float(heard.squares()[0].mean()) <= ROUNDING:
        return 0
    return len(chosen_numbers(formula.tree))


def shared_error(witnesses: Witnesses, heard: Heard, scales: Pair) -> float:
    """How far neighbours share what a formula leaves over: the logarithm of the number of points as
    which the errors of its values count. Without values that of the share of all points: the
    question is then whether it is noise.
    """
    *others, errors = witnesses.errors(heard, scales)
    pieces = float(len(errors))
    if float((errors**2).sum(axis=1).mean()) >= EXACT:
        pieces = witnesses.pieces(errors)
    return float(np.log(pieces if others else pieces / len(errors)))


def _predicted(
    before: tuple[Witnesses, Heard],
    after: tuple[Witnesses, Heard],
    scales: Pair,
    rng: np.random.Generator,
) -> FloatArray:
    """For directions and values: how much more is left over after than before, with its standard
    error over regions.
    """
    sides = []
    for witnesses, heard in (before, after):
        labels = divide(witnesses.field, rng)
        logs = witnesses.logs(heard, scales)
        sides.append(np.array([mean_by_regions(*pair, labels) for pair in logs]).T)
    (first, first_error), (second, second_error) = sides
    return np.stack([second - first, np.hypot(first_error, second_error)], axis=1)
