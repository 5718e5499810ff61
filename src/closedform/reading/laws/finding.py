"""`closedform.conserved`: what a flow, trajectories, pairs or a learned simulator conserve."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from closedform.basics.keywords import KeywordError, checked_keywords
from closedform.basics.progress import ProgressLike, choose_progress
from closedform.basics.randomness import Randomness, as_seed
from closedform.basics.threads import single_threaded
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.field.tangent import StatedConstraint, constraint_tangent
from closedform.field.tangent_space import TangentSpace
from closedform.interpretation.answer import Interpretation
from closedform.interpretation.verdict import STATUSES, Verdict
from closedform.judge.checks import Sure
from closedform.judge.verify_stage import verify
from closedform.reading.laws.counting import find_degeneracy, most_laws
from closedform.reading.laws.found_laws import (
    Count,
    KeptAlongOrbits,
    Law,
    Laws,
    change_along_orbits,
    measure_drift,
)
from closedform.reading.laws.law_search import LawCandidate, LawSearch
from closedform.reading.laws.motion_evidence import (
    Ending,
    Given,
    MotionEvidence,
    evidence_of_flow,
    evidence_of_pairs,
    evidence_of_simulator,
    evidence_of_trajectories,
)
from closedform.reading.laws.motions import Flow, Motion, Orbits
from closedform.reading.one_field import compile_ahead
from closedform.searching.budget import Budget, as_budget
from closedform.searching.engine import Engine
from closedform.searching.search_stage import search
from closedform.searching.space import SearchSpace, as_space

MOST_COMPLEX = 150
"""Largest complexity of a law by default: some have a dozen terms."""

SUMS_SHARE, ENGINES_SHARE = 0.6, 0.9
"""Of the budget: when the search for sums ends, and when that of the engines does."""

FEWEST_ORBITS = 5
"""Held-out trajectories for the law test; with fewer all are used."""

MOST_NEARLY = 3
"""Formulas that are told as nearly conserved."""


TIME = "Time ended the search; a larger budget may find more laws."


INTERRUPTED = "Interrupted: these are the laws found until then."


@single_threaded
@checked_keywords
def conserved(
    flow: Any = None,
    points: ArrayLike | None = None,
    *,
    trajectories: ArrayLike | None = None,
    times: ArrayLike | None = None,
    pairs: ArrayLike | None = None,
    simulator: Any = None,
    laws: Sequence[str | Expression] = (),
    names: Sequence[str] | None = None,
    constraints: Sequence[StatedConstraint] = (),
    horizon: float | None = None,
    budget: float | Budget = 60.0,
    rng: Randomness = None,
    engine: str | Engine = "auto",
    space: SearchSpace | None = None,
    progress: ProgressLike = None,
) -> Laws:
    """Find the quantities that a motion conserves, in closed form, and how many there are.

    Pass one of: a flow with points, a simulator with points, trajectories, or pairs.

    Parameters
    ----------
    flow : callable, module or array_like, optional
        From points (n, d) to velocities (n, d): a NumPy or JAX function or a `torch.nn.Module`; or
        the velocities at the points themselves.
    points : array_like, shape (n_points, n_inputs), optional
        Where the flow or simulator is evaluated; a few thousand.
    trajectories : array_like, shape (n_trajectories, n_times, n_inputs), optional
    times : array_like, shape (n_times,), optional
        Of the trajectories; 0, 1, 2 and so on by default.
    pairs : array_like, shape (n_pairs, 2, n_inputs), optional
        In each row two points of one orbit, near or far.
    simulator : callable or module, optional
        From states (n, d) to states one step later.
    laws : sequence of str or Expression
        Formulas whose drift is asked for whether or not the search finds them.
    names : sequence of str, optional
        The inputs; x0, x1 and so on by default.
    constraints : sequence of str, Expression or callable
        What is constant on all data.
    horizon : float, optional
        How long a flow, or how many steps a simulator, is followed for the law test and the drift;
        about two turns by default.
    budget : float or Budget
        Seconds for the whole call after compilation, roll-outs included. Ctrl-C ends the search
        earlier, and what was found until then is judged and returned.
    rng : int, Generator or None
    engine : str or Engine
        What searches further if sums of terms are not enough.
    space : SearchSpace, optional
        What is known about the formulas.
    progress : bool, str, Progress or None
        As in `closedform.interpret_field`.

    Returns
    -------
    Laws

    Raises
    ------
    KeywordError
        If none of flow, trajectories, pairs and simulator is given, or several.
    ShapeError
        If an array has another shape.

    Examples
    --------
    >>> import closedform as cf
    >>> points = np.random.default_rng(0).uniform(-1, 1, (400, 2))
    >>> oscillator = lambda x: np.column_stack([x[:, 1], -x[:, 0]])
    >>> found = cf.conserved(oscillator, points, names=["x", "v"], rng=0)
    >>> print(found.laws[0])
    x**2 + v**2   [verified]
    >>> found.count.lower, found.count.upper
    (1, 1)
    """
    seed, limits = as_seed(rng), as_budget(budget)
    generator = np.random.default_rng(seed)
    allowed = SearchSpace(max_complexity=MOST_COMPLEX) if space is None else as_space(space)
    compile_ahead(choose_progress(progress))
    ending = Ending(limits.start())
    given = Given(names, constraints, horizon, generator, ending)
    evidence = _ready(
        {"flow": flow, "trajectories": trajectories, "pairs": pairs, "simulator": simulator},
        points, times, given,
    )  # fmt: skip
    finder = _Finder(evidence, allowed, ending, generator, constraints)
    ending.unless_interrupted(finder.search_sums)
    ending.unless_interrupted(lambda: finder.search_further(engine, progress))
    stated = [parse(one, evidence.motion.names) if isinstance(one, str) else one for one in laws]
    return finder.answer(stated, seed)


def _ready(
    kinds: Mapping[str, Any], points: ArrayLike | None, times: ArrayLike | None, given: Given
) -> MotionEvidence:
    """The evidence, from the one thing that was given."""
    passed = {name: value for name, value in kinds.items() if value is not None}
    if len(passed) != 1:
        raise KeywordError(
            "Pass exactly one of flow (with points), trajectories, pairs or simulator (with "
            f"points); got {' and '.join(passed) or 'none of them'}."
        )
    ((kind, value),) = passed.items()
    if kind == "trajectories":
        return evidence_of_trajectories(value, times, given)
    if kind == "pairs":
        return evidence_of_pairs(value, given)
    if points is None:
        raise KeywordError(f"A {kind} needs points; pass points of shape (n, d).")
    ready = evidence_of_flow if kind == "flow" else evidence_of_simulator
    return ready(value, points, given)


@dataclass
class _Finder:
    """One call: what is known, what is searched, and what was found."""

    evidence: MotionEvidence
    space: SearchSpace
    ending: Ending
    rng: np.random.Generator
    constraints: Sequence[StatedConstraint]

    def __post_init__(self) -> None:
        self.clock = self.ending.clock
        self.is_out_of_time = self.evidence.is_cut_short
        motion = self.evidence.motion
        seen, held = motion.split(self.rng)
        self.held = held
        self.law_search = LawSearch(
            seen, held, self.space, self.rng, self._tangent(seen), self.evidence.is_computed
        )
        self.degeneracy = find_degeneracy(
            motion.points, motion.names, motion.scale, self.rng, self._tangent(motion)
        )
        long = self.evidence.long
        self.upper = None if long is None else most_laws(long, motion.scale, self.evidence.n_free)

    def _tangent(self, motion: Motion) -> TangentSpace | None:
        """Where the stated constraints let the points of a motion vary."""
        if isinstance(motion, Flow):
            return motion.field.tangent
        if not self.constraints:
            return None
        return constraint_tangent(motion.points, motion.scale, self.constraints, motion.names)

    def search_sums(self) -> None:
        """Sums of terms, until as many laws are found as there can be."""
        self.law_search.run(self.evidence.n_free - 1, self._are_sums_over)

    def _are_sums_over(self) -> bool:
        is_over = self.clock.used >= SUMS_SHARE
        self.is_out_of_time |= is_over
        return is_over

    def search_further(self, engine: str | Engine, progress: ProgressLike) -> None:
        """Ask the engines where sums found nothing, or fewer laws than orbits leave room for."""
        found, field = self.law_search.laws(), self.evidence.field
        room = 1 if self.upper is None else self.upper
        known = [one.concept for one in found]
        if field is None or len(found) >= room or len(known) >= field.rank:
            return
        if self.clock.used >= ENGINES_SHARE:
            self.is_out_of_time = True
            return
        left = self.clock.remaining().share(ENGINES_SHARE - self.clock.used)
        inner = field.modulo(known)
        result = search(
            inner, space=self.space, engine=engine, budget=left, rng=self.rng, progress=progress
        )
        self.is_out_of_time |= result.status == "time"
        self.ending.is_interrupted |= result.status == "interrupted"
        for candidate in result.front:
            self.law_search.offer(candidate.expression)

    def answer(self, stated: Sequence[Expression], seed: int) -> Laws:
        """Verdicts on all that was found, and the count."""
        self.law_search.settle()
        found = self.law_search.laws()
        nearly = self.law_search.nearly(found)[:MOST_NEARLY]
        judged = [self._judged(one) for one in (*found, *nearly)]
        for concept in stated:
            own = self.law_search.bounded(self.law_search.offer(concept) or self._measured(concept))
            if own not in (*found, *nearly):
                judged.append(self._judged(own))
        listed = sorted(judged, key=lambda law: STATUSES.index(law.verdict.status))
        lower = sum(law.verdict.status == "verified" for law in listed)
        # Noise fills all dimensions: a bound below what was found says nothing.
        upper = self.upper if self.upper is not None and self.upper >= lower else None
        count = Count(lower, upper, self.evidence.is_cut_short)
        warnings = [] if self.degeneracy is None else [self.degeneracy.sentence]
        status = "finished"
        if self.ending.is_interrupted:
            status = "interrupted"
            warnings.append(INTERRUPTED)
        elif self.is_out_of_time and not count.is_certain:
            status = "time"
            warnings.append(TIME)
        return Laws(
            tuple(listed),
            count,
            (*warnings, *self.evidence.notes),
            self.evidence.motion.names,
            self.clock.seconds,
            seed,
            status,
        )

    def _measured(self, concept: Expression) -> LawCandidate:
        """A stated formula, however much it changes."""
        change = self.law_search.change_of(self.held.changes(concept))
        return LawCandidate(
            concept, concept.complexity(self.space.costs), change, self.law_search.allowed
        )

    def _judged(self, one: LawCandidate) -> Law:
        """A formula with its verdict, law test and drift."""
        groups = self.evidence.tested
        if groups is None and isinstance(self.held, Orbits):
            groups = self.held.groups
            # Of a handful of trajectories too few are held out to differ from each other.
            if len(groups) < FEWEST_ORBITS and isinstance(self.evidence.motion, Orbits):
                groups = self.evidence.motion.groups
        test = None if groups is None else change_along_orbits(one.concept, groups, self.rng)
        noise = np.sqrt(max(one.change.total**2 - one.change.systematic**2, 0.0))
        is_doubtful = self.degeneracy is not None and self.degeneracy.share <= 3 * noise
        doubt = self.degeneracy.sentence if self.degeneracy is not None and is_doubtful else ""
        allowed = self.law_search.allowed
        check = KeptAlongOrbits(test, one.change.systematic, float(noise), doubt, allowed)
        drift = None
        if self.evidence.states is not None and self.evidence.times is not None:
            drift = measure_drift(one.concept, self.evidence.states, self.evidence.times, self.rng)
        if self.evidence.field is None:
            return Law(one.concept, _by_test(check, one), one.change, test, drift)
        field, checks = self.evidence.field, [check]
        found = verify(one.concept, field, rivals=None, checks=checks, rng=self.rng, progress=False)
        verdict = _by_checks(found, allowed, one)
        return Law(one.concept, verdict, one.change, test, drift, found)


def _by_test(check: KeptAlongOrbits, one: LawCandidate) -> Verdict:
    """The verdict where there are no directions: the law test alone."""
    outcome = replace(check.measure(), name=check.name)
    status = "verified" if outcome.passed and one.is_law else "approximate"
    return Verdict(status, _said(status, one), (outcome,))


def _by_checks(found: Interpretation, allowed: float, one: LawCandidate) -> Verdict:
    """The verdict where there are directions; the second witness is the change along motions."""
    # How likely a formula is the only one means nothing for laws, of which there are several.
    checks = tuple(check for check in found.verdict.checks if check.name != Sure.name)
    status = found.verdict.status
    if found.fit is not None and status != "none":
        # What may change systematically in a law may also be missing in its directions.
        is_explained = found.fit.total <= allowed**2 or found.fit.kind == "noise"
        is_fine = is_explained and all(check.passed is not False for check in checks)
        status = "verified" if is_fine else "approximate"
    return Verdict(status, _said(status, one), checks, found.verdict.n_points)


def _said(status: str, one: LawCandidate) -> str:
    if status == "verified":
        if one.is_exact:
            return "Conserved: along held-out motions it changes by rounding only."
        return (
            f"Conserved, up to a systematic change of {100 * one.change.systematic:.2g}% of its "
            f"overall variation."
        )
    if status == "none":
        return "Not conserved here."
    return (
        f"Nearly conserved, or not decided by these data: along held-out motions it changes by "
        f"{100 * one.change.total:.2g}% of its overall variation."
    )
