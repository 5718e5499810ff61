"""From weighed theories to the outcome."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, t

from closedform.arrays import FloatArray, frozen
from closedform.expressions.printing import to_text
from closedform.expressions.tree import Tree, apply, constant
from closedform.interpretation.digits import formula_text
from closedform.judge.fitting import SMALL_STEP
from closedform.judge.measurement import INDEPENDENT
from closedform.judge.regions import angles_in_degrees, divide, independent_pieces, mean_by_regions
from closedform.reading.theories.outcome import (
    SMALLEST_ANGLE,
    Contest,
    Correction,
    FailingRegion,
    FittedConstant,
    TheoryResult,
)
from closedform.reading.theories.weighed_theories import FittedTheory, Hall, Weighed

N_DRAWS = 400
"""Draws of regions for the interval of a median angle."""

WIDER = 1.7
"""Times by which a network's constants scatter more than the curvature of the loss says: its error
is so smooth that even regions share it. From 26 constants of 12 made contests (seeds 1 and 2 of
`closedform_bench.theories`), of which 3.5 widths hold 95%."""

_NEAR_BOUND = 1e-9


def outcome_of(
    hall: Hall,
    weighed: Weighed,
    rng: np.random.Generator,
    *,
    seed: int,
    given: tuple[str, ...],
    title: str,
) -> Contest:
    """Everything that a contest says."""
    labels = divide(hall.unseen, rng)
    count = len(hall.theories)
    order = np.argsort(weighed.scores[:count], kind="stable").tolist()
    results = [_result(hall, weighed, place, order[0], labels, rng) for place in order]
    first = len(weighed.scores) - len(hall.rivals)
    best_rival = int(weighed.scores[first:].argmin()) if hall.rivals else None
    return Contest(
        theories=tuple(results),
        none_of_them=float(1 - weighed.weights[:count].sum()),
        correction=_correction(hall, weighed, order[0]),
        rival=None if best_rival is None else formula_text(hall.rivals[best_rival].expression),
        names=hall.unseen.names,
        given=given,
        has_values=weighed.witnesses.has_values,
        n_fitted=hall.fitter.witnesses.field.n_points,
        n_unseen=hall.unseen.n_points,
        seed=seed,
        title=title,
    )


def _result(
    hall: Hall,
    weighed: Weighed,
    place: int,
    best: int,
    labels: NDArray[np.int64],
    rng: np.random.Generator,
) -> TheoryResult:
    one, usable = hall.theories[place], hall.unseen.weights > 0
    directions, values = weighed.heard[place].squares()
    # Pointing against the field is as far as it goes.
    angles = angles_in_degrees(directions)
    low, high = _interval(angles, labels, rng)
    behind, error = _behind(weighed, place, best, labels)
    chance = 1.0 if place == best else float(norm.sf(behind / max(error, _NEAR_BOUND)))
    return TheoryResult(
        name=one.theory.name,
        formula=one.theory.stated,
        median=float(np.median(angles[usable])),
        upper=float(np.quantile(angles[usable], 0.9)),
        low=low,
        high=high,
        left=None if values is None else float(np.sqrt(weighed.witnesses.steepness @ values)),
        constants=_constants(one, hall),
        weight=float(weighed.weights[place]),
        behind=behind,
        behind_error=error,
        chance=chance,
        where=find_failing_region(
            hall.unseen.points[usable], angles[usable], hall.unseen.names, rng
        ),
    )


def _interval(
    angles: FloatArray, labels: NDArray[np.int64], rng: np.random.Generator
) -> tuple[float, float]:
    """95% of the medians of regions drawn again."""
    groups = [angles[labels == region] for region in range(int(labels.max()) + 1)]
    draws = rng.integers(len(groups), size=(N_DRAWS, len(groups)))
    medians = [float(np.median(np.concatenate([groups[i] for i in draw]))) for draw in draws]
    low, high = np.percentile(medians, [2.5, 97.5]).tolist()
    return low, high


def _behind(
    weighed: Weighed, place: int, best: int, labels: NDArray[np.int64]
) -> tuple[float, float]:
    """Nats behind the best theory, with the price of constants, and their standard error."""
    if place == best:
        return 0.0, 0.0
    squares = [weighed.heard[one].squares() for one in (place, best)]
    weighting = weighed.witnesses.weights, weighed.witnesses.steepness
    by_witness = zip(*squares, weighed.scales, weighed.counts, weighting, strict=True)
    error = 0.0
    for own, other, scale, count, weights in by_witness:
        if own is not None and other is not None:
            apart = np.log(own + scale) - np.log(other + scale)
            # Both witnesses err at the same points, so that their errors add.
            error += count * mean_by_regions(apart, weights, labels)[1]
    return float(weighed.scores[place] - weighed.scores[best]), error


def _constants(one: FittedTheory, hall: Hall) -> tuple[FittedConstant, ...]:
    """With 95% intervals by Student's t, since the errors come from few regions."""
    n_regions = int(hall.fitter.labels.max()) + 1
    reach = float(t.ppf(0.975, max(n_regions - 1, 1)))
    # A fit ends when a step gains little, which leaves a number that share of its width away.
    share = np.sqrt(2 * SMALL_STEP) if _is_noise(one, hall) else WIDER
    pairs = zip(one.settled.errors, one.settled.widths, strict=True)
    errors = [float(max(error, share * width)) for error, width in pairs]
    found = []
    for free, value, error in zip(one.theory.constants, one.numbers.tolist(), errors, strict=True):
        near = _NEAR_BOUND * max(abs(value), 1.0)
        is_at_bound = value - free.low < near or free.high - value < near
        ends = (max(value - reach * error, free.low), min(value + reach * error, free.high))
        found.append(FittedConstant(free.name, value, error, *ends, is_at_bound))
    return tuple(found)


def _is_noise(one: FittedTheory, hall: Hall) -> bool:
    """Whether neighbours share nothing of what a theory leaves over, so that regions tell all."""
    heard, field = one.settled.heard, hall.fitter.witnesses.field
    left = heard.values if heard.values.shape[1] else heard.directions
    pieces = independent_pieces(left, field.points / field.scale)
    return pieces >= INDEPENDENT * field.n_points


def _correction(hall: Hall, weighed: Weighed, best: int) -> Correction | None:
    """The correction of the best score on unseen points, if it is one of the best theory."""
    places = enumerate(hall.corrected, start=len(hall.theories))
    once = [(weighed.scores[place], place, one) for place, one in places if one.n_corrections == 1]
    if not once:
        return None
    score, place, one = min(once, key=lambda each: each[0])
    used = int(weighed.witnesses.has_values)
    weights = (weighed.witnesses.weights, weighed.witnesses.steepness)[used]
    squares = weighed.heard[place].squares()
    before, after = weighed.heard[best].squares()[used], squares[used]
    assert before is not None
    assert after is not None
    return Correction(
        of=one.theory.name,
        text=correction_text(one, hall.unseen.names),
        error=float(one.settled.errors[-1]),
        removed=float(1 - (weights @ after) / (weights @ before)),
        median=float(np.median(angles_in_degrees(squares[0])[hall.unseen.weights > 0])),
        ahead=float(weighed.scores[best] - score),
    )


def correction_text(one: FittedTheory, names: Sequence[str]) -> str:
    """What is added or multiplied."""
    assert one.term is not None
    # People write x**2 where trees have square(x).
    plain = one.term.fold(
        lambda token: Tree((token,)),
        lambda name, *parts: (
            apply("pow", *parts, constant(2)) if name == "square" else apply(name, *parts)
        ),
    )
    number, term = f"{one.numbers[-1]:.3g}", to_text(plain, names)
    if not one.is_factor:
        return f"+ {number}*{term}" if one.numbers[-1] >= 0 else f"- {number[1:]}*{term}"
    if one.term.root == "log":
        return f"* ({to_text(one.term.children[0], names)})**{number}"
    return f"* exp({number}*{term})"


MOST_PAIRS = 12
"""Inputs whose pairs are compared: those along which the angle varies most."""


DEPTH, LEAF = 2, 0.05
"""Cuts on the way to a region, and the share of the points that it holds at least: a sentence holds
no more, and fewer points are an accident."""


MOST_KEPT = 1500
"""Points that are kept for the picture."""


def find_failing_region(
    points: FloatArray, angles: FloatArray, names: Sequence[str], rng: np.random.Generator
) -> FailingRegion:
    """The pair of inputs that explains the angles best, and its worst region."""
    logs = np.log(np.maximum(angles, SMALLEST_ANGLE))
    columns = range(points.shape[1])
    if len(columns) > MOST_PAIRS:
        alone = [_grown(points[:, [column]], logs)[1] for column in columns]
        columns = sorted(np.argsort(alone)[-MOST_PAIRS:].tolist())
    pairs = list(combinations(columns, 2)) or [(0,)]
    trees = [(pair, *_grown(points[:, list(pair)], logs)) for pair in pairs]
    pair, tree, _ = max(trees, key=lambda one: one[2])
    own = points[:, list(pair)]
    leaves = tree.apply(own)
    medians = {leaf: float(np.median(angles[leaves == leaf])) for leaf in np.unique(leaves)}
    worst = max(medians, key=lambda leaf: medians[leaf])
    is_in = leaves == worst
    kept = rng.permutation(len(own))[:MOST_KEPT]
    bounds = _box(tree.tree_, int(worst))
    return FailingRegion(
        inputs=tuple(names[column] for column in pair),
        bounds=tuple((names[pair[place]], low, high) for place, (low, high) in bounds.items()),
        inside=medians[worst],
        outside=float(np.median(angles[~is_in])) if (~is_in).any() else medians[worst],
        share=float(is_in.mean()),
        points=frozen(own[kept]),
        angles=frozen(angles[kept]),
    )


def _grown(points: FloatArray, logs: FloatArray) -> tuple[Any, float]:
    """A small regression tree, and the share of the variance that it explains."""
    from sklearn.tree import DecisionTreeRegressor

    least = max(int(LEAF * len(points)), 1)
    tree = DecisionTreeRegressor(max_depth=DEPTH, min_samples_leaf=least, random_state=0)
    tree.fit(points, logs)
    return tree, float(tree.score(points, logs)) if np.ptp(logs) > 0 else 0.0


def _box(tree: Any, leaf: int) -> dict[int, tuple[float, float]]:
    """The bounds of a leaf, by column."""
    above = {}
    for parent in range(tree.node_count):
        for child, is_left in ((tree.children_left, True), (tree.children_right, False)):
            if child[parent] >= 0:
                above[int(child[parent])] = parent, is_left
    found: dict[int, tuple[float, float]] = {}
    node = leaf
    while node in above:
        node, is_left = above[node]
        column, cut = int(tree.feature[node]), float(tree.threshold[node])
        low, high = found.get(column, (-np.inf, np.inf))
        found[column] = (low, min(high, cut)) if is_left else (max(low, cut), high)
    return dict(sorted(found.items()))
