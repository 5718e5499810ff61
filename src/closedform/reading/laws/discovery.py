"""From pairs to all invariants, without knowing how many there are: train, count, read, and stop
with 'no more'.

The module is not called discover.py, for a module of that name would hide the function
`closedform.discover`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from closedform.arrays import FloatArray
from closedform.basics.keywords import KeywordError, checked_keywords, suggestion
from closedform.basics.progress import ProgressLike
from closedform.basics.randomness import Randomness, as_seed
from closedform.errors import ShapeError
from closedform.expressions.expression import Expression
from closedform.field.gradient_field import GradientField
from closedform.interpretation.answer import Interpretation
from closedform.judge.checks import Check
from closedform.judge.rules import RuleLike
from closedform.judge.thresholds import Thresholds
from closedform.networks.extract import extract_field
from closedform.reading.laws.finding import conserved
from closedform.reading.laws.found_laws import (
    Laws,
    OrbitCheck,
    change_along_orbits,
    counted,
    fit_on_orbits,
)
from closedform.reading.one_field import interpret_field
from closedform.reading.settings import Settings
from closedform.searching.budget import Budget, as_budget
from closedform.searching.engine import Engine
from closedform.searching.space import SearchSpace

if TYPE_CHECKING:
    from closedform.networks.siamese import TrainedSiamese
    from closedform.networks.siamese_training import SiameseOptions

Sampler = Callable[[int, np.random.Generator], FloatArray]
"""From a number of pairs and a generator to an array of shape (n, 2, n_inputs)."""

Reader = Callable[[GradientField], Interpretation]
"""Reads a field with all that was asked for."""

HOW = ("auto", "pairs", "grow", "hold")

MOST_DIRECT = 5000
"""Pairs that are read without a network: more change nothing."""

N_TESTED = 4000
"""Fresh pairs that formulas of networks are fitted to and tested on."""

NEIGHBOURS = 8
"""With concepts held fixed, a negative is one of so many samples that have nearly the anchor's
values of them."""

ENOUGH = 2
"""Growing stops when this many networks in a row had latents to spare, since one may have been
trained badly. If the largest number of latents comes first, one such network is enough."""


@dataclass(frozen=True, slots=True)
class Round:
    """One network that was trained on the way."""

    latents: int
    rank: int
    """How many independent quantities its latents hold, together with what was held fixed."""
    spectrum: tuple[float, ...]  #: what the rank was read off
    seconds: float  #: of the training


@dataclass(frozen=True, slots=True)
class Discovery:
    """Every invariant that was found in pairs, by networks or directly.

    Attributes
    ----------
    concepts : tuple of Expression
    interpretations : tuple of Interpretation
        One of all concepts for `how="grow"`, one for each for `how="hold"`; empty for
        `how="pairs"`.
    rounds : tuple of Round
    is_complete : bool
        Whether there are no more: a network with latents to spare, or with the known concepts held
        fixed, learned nothing new. For `how="pairs"`, whether the bounds of `laws.count` agree.
    sentence : str
        How many there are, and why there are no more.
    laws : Laws or None
        What was read from the pairs without a network, if that was tried.
    tests : tuple of OrbitCheck
        How much each concept changes within held-out pairs.
    """

    concepts: tuple[Expression, ...]
    interpretations: tuple[Interpretation, ...]
    rounds: tuple[Round, ...]
    is_complete: bool
    sentence: str
    laws: Laws | None = None
    tests: tuple[OrbitCheck, ...] = ()

    def __str__(self) -> str:
        return "\n".join([*map(str, self.concepts), self.sentence])


@checked_keywords
def discover(
    sampler: Sampler,
    *,
    names: Sequence[str] | None = None,
    how: Literal["auto", "pairs", "grow", "hold"] = "auto",
    most: int | None = None,
    training: "SiameseOptions | None" = None,
    n_pairs: int = 20_000,
    n_points: int = 4000,
    budget: float | Budget = 60.0,
    rng: Randomness = None,
    engine: str | Engine = "auto",
    space: SearchSpace | None = None,
    rule: RuleLike = "evidence",
    checks: Sequence[Check] | None = None,
    thresholds: Thresholds | None = None,
    progress: ProgressLike = None,
) -> Discovery:
    """Find all functions that have the same value at both points of every pair.

    Parameters
    ----------
    sampler : callable
        ``sampler(n, rng)`` draws n pairs, shape (n, 2, n_inputs): two points of one trajectory, or
        a point and its image under a symmetry.
    names : sequence of str, optional
        The inputs; x0, x1 and so on by default.
    how : {'auto', 'pairs', 'grow', 'hold'}
        'pairs' reads the pairs themselves with `closedform.conserved`, without a network. 'grow'
        trains with more and more latents until their rank stops growing, and reads the network of
        the largest rank. 'auto' tries 'pairs' first, and then 'grow' if nothing was read. 'hold'
        trains one latent, reads it, then trains again on negatives that agree with the anchor in
        what was read, as the paper does. Constants read from networks are fitted on pairs and
        tested on others.
    most : int, optional
        Largest number of latents, or of concepts; the number of inputs by default.
    training : SiameseOptions, optional
        How networks are trained; the number of latents is not taken from it.
    n_pairs, n_points : int
        Pairs to train on, and points to read at; 'pairs' reads the first 5,000 of the pairs.
    budget : float or Budget
        For each reading; training time is not limited.
    rng : int, Generator or None
    engine, space, progress
        As in `closedform.interpret_field`.
    rule, checks, thresholds
        As in `closedform.interpret_field`, for what is read from networks; 'pairs' does not use
        them.

    Returns
    -------
    Discovery

    Raises
    ------
    ShapeError
        If the sampler does not return an array of shape (n, 2, n_inputs).
    MissingDependencyError
        Without torch, if networks are trained.
    """
    Settings.checked(engine, space, rule, checks, thresholds, progress)
    if how not in HOW:
        raise KeywordError(
            f"how is {how!r}; pass one of {', '.join(HOW)}{suggestion(str(how), HOW) or '.'}"
        )
    seed, limits = as_seed(rng), as_budget(budget)
    pairs = _drawn(sampler, n_pairs, seed, 0)
    asked: dict[str, Any] = {
        "budget": limits, "rng": seed, "engine": engine, "space": space, "progress": progress,
    }  # fmt: skip
    if how in ("auto", "pairs"):
        laws = conserved(pairs=pairs[:MOST_DIRECT], names=names, **asked)
        if laws.verified or how == "pairs":
            return _directly(laws)
    points = _drawn(sampler, n_points, seed, 1)[:, 0]
    largest = pairs.shape[2] if most is None else most
    trainer = _Trainer(pairs, points, names, training, seed)
    read = partial(interpret_field, **asked, rule=rule, checks=checks, thresholds=thresholds)
    found = _hold(trainer, largest, read) if how == "hold" else _grow(trainer, largest, read)
    return _tested(found, _drawn(sampler, N_TESTED, seed, 4), seed)


def _directly(laws: Laws) -> Discovery:
    """What the pairs say without a network."""
    count = counted(len(laws.verified), "invariant")
    said = f"{count} read from the pairs themselves. {laws.count}"
    tests = tuple(law.test for law in laws.verified if law.test is not None)
    return Discovery(laws.concepts, (), (), laws.count.is_certain, said, laws, tests)


def _tested(found: Discovery, pairs: FloatArray, seed: int) -> Discovery:
    """Formulas of networks, fitted on one half of fresh pairs and tested on the other."""
    half, rng = len(pairs) // 2, np.random.default_rng([seed, 5])
    fitted = tuple(fit_on_orbits(concept, pairs[:half]) for concept in found.concepts)
    tests = tuple(change_along_orbits(concept, pairs[half:], rng) for concept in fitted)
    if not tests:
        return found
    worst = max(test.change for test in tests)
    said = f"{found.sentence} Within held-out pairs they change by at most {100 * worst:.2g}%."
    return replace(found, concepts=fitted, tests=tests, sentence=said)


def _grow(trainer: "_Trainer", most: int, read: Reader) -> Discovery:
    """More latents until two networks had some to spare and knew no more than those before."""
    rounds: list[Round] = []
    best: GradientField | None = None
    spared = 0
    for latents in range(min(2, most), most + 1):
        trained = trainer.train(latents, trainer.any_negatives())
        field = trainer.field(trained)
        rounds.append(Round(latents, field.rank, field.quality.spectrum, trained.seconds))
        grows = best is None or field.rank > best.rank
        best = field if best is None or grows else best
        spared = (0 if grows else spared) + (field.rank < latents)
        if spared == ENOUGH:
            break
    assert best is not None
    complete = spared > 0
    found = read(best)
    concepts = found.concepts if found.verdict.status != "none" else ()
    count = f"With up to {rounds[-1].latents} latents the rank is {best.rank}"
    why = f"{count}, so there are no more." if complete else f"{count}; more latents may find more."
    is_short = len(concepts) < best.rank
    rest = " No formula was found for the rest of what they hold." if is_short else ""
    said = f"{counted(len(concepts), 'invariant')} read. {why}{rest}"
    return Discovery(tuple(concepts), (found,), tuple(rounds), complete, said)


def _hold(trainer: "_Trainer", most: int, read: Reader) -> Discovery:
    """One latent after another, each on negatives that agree with the anchor in what is known."""
    rounds: list[Round] = []
    readings: list[Interpretation] = []
    known: list[Expression] = []
    complete = False
    while len(known) < most and not complete:
        trained = trainer.train(1, trainer.like_negatives(known))
        field = trainer.field_with(trained, known)
        rounds.append(Round(1, field.rank, field.quality.spectrum, trained.seconds))
        complete = field.rank <= len(known) or field.rank >= field.tangent.rank
        found = None if complete else read(field.modulo(known))
        if found is None or found.concept is None or found.verdict.status == "none":
            complete = True
        else:
            readings.append(found)
            known.append(found.concept)
    learned = "a network that had to tell apart samples with equal values of these has learned"
    why = f"{learned} nothing more." if complete else "there may be more."
    said = f"{counted(len(known), 'invariant')} read; {why}"
    return Discovery(tuple(known), tuple(readings), tuple(rounds), complete, said)


@dataclass(frozen=True)
class _Trainer:
    """Pairs and points, and how networks are trained on them."""

    pairs: FloatArray
    points: FloatArray
    names: Sequence[str] | None
    training: "SiameseOptions | None"
    seed: int

    def train(self, latents: int, negatives: FloatArray) -> "TrainedSiamese":
        from closedform.networks.siamese import train_siamese
        from closedform.networks.siamese_training import SiameseOptions

        usual = SiameseOptions(
            hidden=(128, 128), activation="silu", weight_decay=0.0, learning_rate=6e-3, epochs=40,
            schedule="cycle", standardize=True, loss="contrast",
        )  # fmt: skip
        chosen = usual if self.training is None else self.training
        # Negatives of a whole batch are not chosen one by one, so one latent needs the other loss.
        chosen = replace(chosen, latents=latents, loss=chosen.loss if latents > 1 else "triplet")
        triples = np.concatenate([self.pairs, negatives], axis=1)
        return train_siamese(triples, chosen, rng=self.seed + latents)

    def any_negatives(self) -> FloatArray:
        return np.random.default_rng([self.seed, 2]).permutation(self.pairs)[:, :1]

    def like_negatives(self, known: Sequence[Expression]) -> FloatArray:
        """Other samples that have nearly the anchor's values of what is known."""
        if not known:
            return self.any_negatives()
        from scipy.spatial import KDTree

        anchors = self.pairs[:, 0]
        values = np.column_stack([concept(anchors) for concept in known])
        ranks = np.argsort(np.argsort(np.nan_to_num(values), axis=0), axis=0) / len(values)
        near = np.asarray(KDTree(ranks).query(ranks, NEIGHBOURS + 1)[1])[:, 1:]
        chosen = np.random.default_rng([self.seed, 3]).integers(NEIGHBOURS, size=len(values))
        return anchors[near[np.arange(len(values)), chosen]][:, None]

    def field(self, trained: "TrainedSiamese") -> GradientField:
        neurons = list(range(trained.options.latents))
        return extract_field(trained.module, self.points, neurons, names=self.names, rng=self.seed)

    def field_with(self, trained: "TrainedSiamese", known: Sequence[Expression]) -> GradientField:
        """The field of a new latent and of what is known, all of one length at each point."""
        new = self.field(trained)
        if not known:
            return new
        rows = [new.directions[:, :, 0], *(concept.gradient(new.points) for concept in known)]
        with np.errstate(all="ignore"):
            jacobians = np.stack(rows, axis=1)
            jacobians /= np.linalg.norm(jacobians * new.scale, axis=2, keepdims=True)
        return GradientField.from_arrays(
            new.points, jacobians, names=new.names, tangent=new.tangent, weights=new.weights
        )


def _drawn(sampler: Sampler, count: int, seed: int, stream: int) -> FloatArray:
    # A copy: a sampler may fill the same array each time.
    pairs = np.array(sampler(count, np.random.default_rng([seed, stream])), dtype=np.float64)
    if pairs.ndim != 3 or pairs.shape[:2] != (count, 2):
        raise ShapeError(
            f"The sampler returned an array of shape {pairs.shape}; return ({count}, 2, n_inputs)."
        )
    return pairs
