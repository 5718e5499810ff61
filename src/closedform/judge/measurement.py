"""Everything that an answer shows of a formula, measured on the points that judge it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from closedform.arrays import FloatArray
from closedform.errors import DomainError
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.expressions.tree import Variable, constant
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.alignment.misalignment import weighted_mean
from closedform.field.alignment.tolerances import TRIM
from closedform.field.gradient_field import GradientField
from closedform.field.neighborhoods import affordable, count_distinct
from closedform.interpretation.answer import Interpretation
from closedform.interpretation.evidence import (
    ConstantEstimate,
    Directions,
    FrontEntry,
    HypothesisResult,
    InputNeed,
    Misfit,
    Provenance,
    Rival,
)
from closedform.judge.checks import Check, Evidence, judge
from closedform.judge.confidence import Judged
from closedform.judge.fitting import estimate_constants
from closedform.judge.neighbours.same_form import contains
from closedform.judge.phi import fit_phi
from closedform.judge.regions import (
    angles_in_degrees,
    divide,
    independent_pieces,
    measure_alignment,
)
from closedform.judge.rules import Contender
from closedform.judge.stated_formula import compare_within_errors
from closedform.judge.thresholds import Thresholds
from closedform.judge.told_forms import Told, told_forms
from closedform.judge.witnesses import Witnesses
from closedform.searching.engine import Decomposition

N_ARROWS, N_ANGLES = 150, 400
"""Directions and angles that an answer keeps for its pictures."""

N_PROBES = 4000
"""Points between those of the data at which formulas are compared: some milliseconds for two
formulas of five inputs."""

INDEPENDENT = 0.5
"""Share of the points that count as independent pieces from which an error is noise: of a network's
error, which neighbours share, far fewer do."""


@dataclass(frozen=True, slots=True)
class Case:
    """What is judged."""

    contenders: tuple[Contender, ...]  # the answer first, then all that competed with it
    shown: tuple[int, ...]  # those of them that stand on the front
    field: GradientField  # the whole
    seen: NDArray[np.int64]  # points of search, choice and fitting
    unseen: NDArray[np.int64]  # points that judge
    drop: int | None = None  # what the paper's rule chooses
    reason: str = ""  # why the answer was chosen; empty for a stated formula
    structure: Decomposition | None = None  # which inputs enter together, as the search saw it

    @property
    def concept(self) -> Expression:
        """The answer."""
        return self.contenders[0].expression


def measure(
    case: Case,
    judged: Judged,
    lines: Thresholds,
    tests: Sequence[Check],
    hypothesis: Expression | None,
    provenance: Provenance,
    rng: np.random.Generator,
    may_go_on: Callable[[], bool],
) -> Interpretation:
    """Measure everything that an answer shows, and judge; rivals are written in their plainest
    form while time is left.
    """
    field = case.field
    unseen = field.subset(case.unseen)
    contenders, told = told_forms(case.contenders, judged, unseen, may_go_on)
    case = replace(case, contenders=contenders)
    concept = case.concept
    labels = divide(unseen, rng)
    alignment = measure_alignment(concept, unseen, labels)
    fit = misfit(concept, unseen, lines.rounding)
    evidence = Evidence(
        concept=concept,
        field=unseen,
        rows=case.unseen,
        n_points=count_distinct(field.points[field.weights > 0]),
        rng=rng,
        thresholds=lines,
        alignment=alignment,
        judged=judged,
        is_complete=provenance.status != "interrupted",
    )
    rivals = tuple(_rival(case, one, unseen, rng) for one in told)
    others = [rival for rival in rivals if rival.is_alternative]
    front = sorted(
        [
            (place, _entry(case.contenders[place], judged.weights[place], unseen, labels, rng))
            for place in dict.fromkeys((0, *case.shown))
        ],
        key=lambda pair: (pair[1].complexity, pair[1].misalignment),
    )
    places = [place for place, _ in front]
    return Interpretation(
        names=field.names,
        verdict=judge(tests, evidence, fit, others),
        field_quality=field.quality,
        provenance=provenance,
        concept=concept,
        concepts=(concept,),
        confidence=judged.confidence,
        front=tuple(entry for _, entry in front),
        chosen=places.index(0),
        steepest_drop=places.index(case.drop) if case.drop in places else None,
        choice_reason=case.reason,
        floor=min(entry.misalignment for _, entry in front),
        alignment=alignment,
        phi=fit_phi(concept, unseen),
        rivals=rivals,
        fit=fit,
        constants=estimate_constants(concept, field.subset(case.seen), rng),
        inputs=leave_one_out(concept, unseen),
        hypothesis=None
        if hypothesis is None
        else compare_hypothesis(concept, hypothesis, unseen, fitted=field.subset(case.seen)),
        directions=_directions(concept, unseen),
        structure=structure_of(concept, case.structure, unseen),
    )


def misfit(concept: Expression, field: GradientField, rounding: float) -> Misfit:
    """The misalignment without the worst points, and whether it is rounding, noise, a network's own
    error, or a lack of fit.
    """
    witnesses = Witnesses.of(field)
    heard = witnesses.hear(concept.rename(field.names).tree)
    squares = (heard.directions**2).sum(axis=1)
    kept = squares <= np.quantile(squares, 1 - TRIM)
    total = float(np.average(squares[kept], weights=field.weights[kept] + 1e-300))
    pieces = independent_pieces(heard.directions[kept], field.points[kept] / field.scale)
    if total <= rounding:
        kind = "exact"
    elif pieces >= INDEPENDENT * kept.sum():
        kind = "noise"
    else:
        kind = "network" if witnesses.has_values else "lack"
    return Misfit(total, pieces, kind)


def _rival(case: Case, told: Told, unseen: GradientField, rng: np.random.Generator) -> Rival:
    """Another form, and where it differs from the answer."""
    one = case.contenders[told.place]
    where, degrees = most_different(case.concept, one.expression, unseen, rng)
    on_data = angles_between(case.concept, one.expression, unseen.points, unseen.scale)
    return Rival(
        expression=one.expression,
        complexity=one.complexity,
        misalignment=one.misalignment,
        weight=told.weight,
        where=where,
        degrees=degrees,
        degrees_on_data=float(on_data.max(initial=0.0)),
        source=one.engine,
        is_alternative=told.is_alternative,
    )


def compare_hypothesis(
    concept: Expression,
    hypothesis: Expression,
    judged: GradientField,
    *,
    fitted: GradientField | None = None,
    constants: Sequence[ConstantEstimate] = (),
) -> HypothesisResult:
    """Compare the concept with a formula that the user has in mind, on the points that judge; the
    rest as in `compare_within_errors`.
    """
    try:
        answer = compare_within_errors(
            concept, hypothesis, judged, fitted=fitted, constants=constants
        )
        status, reason = answer.status, answer.reason
    except DomainError as error:
        # After the search it must not cost the answer.
        status = "different"
        reason = f"The two cannot be compared on the points that the concept is judged on. {error}"
    apart = np.average(field_misalignment(hypothesis, judged), weights=judged.weights)
    return HypothesisResult(hypothesis, status, reason, float(apart))


def _entry(
    contender: Contender,
    weight: float,
    judged: GradientField,
    labels: NDArray[np.int64],
    rng: np.random.Generator,
) -> FrontEntry:
    """A contender as the answer shows it, measured on the points that judge."""
    expression = contender.expression
    alignment = measure_alignment(expression, judged, labels)
    angles = angles_in_degrees(field_misalignment(expression, judged)[judged.weights > 0])
    if len(angles) > N_ANGLES:
        angles = angles[np.sort(rng.choice(len(angles), N_ANGLES, replace=False))]
    return FrontEntry(
        expression=expression,
        complexity=contender.complexity,
        misalignment=alignment.misalignment,
        low=alignment.low,
        high=alignment.high,
        regional=contender.misalignment,
        errors=contender.errors,
        engine=contender.engine,
        angles=tuple(float(f"{angle:.4g}") for angle in angles),
        phi=fit_phi(expression, judged),
        weight=float(weight),
    )


def _directions(concept: Expression, judged: GradientField) -> Directions | None:
    if len(judged.names) != 2 or judged.rank != 1:
        return None
    points = judged.points[:N_ARROWS]
    with np.errstate(all="ignore"):
        gradients = concept.gradient(points)
        units = np.nan_to_num(gradients / np.linalg.norm(gradients, axis=1, keepdims=True))
    pairs = [
        tuple((float(a), float(b)) for a, b in array)
        for array in (points, judged.directions[:N_ARROWS, :, 0], units)
    ]
    return Directions(*pairs)


def structure_of(
    concept: Expression, found: Decomposition | None, field: GradientField
) -> Decomposition | None:
    """What the search saw of the field's structure, without a whole formula that is not the answer.

    The search by structure goes on until one formula is left. If another was chosen, the
    combinations that this one was made of are still those of the field; the formula is a rival.
    None if nothing but single inputs remains.
    """
    if found is None or len(found.combinations) != 1:
        return found
    (whole,) = found.combinations
    # With other numbers it may be the answer, whose own are plain or fitted to more points.
    if contains(parse(whole.formula, names=list(field.names)), concept.rename(field.names), field):
        return found
    if not any(part.parts for part in whole.parts):
        return None
    return replace(found, combinations=whole.parts)


def most_different(
    first: Expression, second: Expression, field: GradientField, rng: np.random.Generator
) -> tuple[tuple[tuple[str, float], ...], float]:
    """Where, inside the hull of the data, the formulas point most differently.

    Beyond the hull nobody knows what can be measured: a box around concentrations holds negative
    ones. Where a gradient nearly vanishes its direction is arbitrary, so such places do not count.
    On a curved surface, whose points cannot be drawn, the data itself is searched.
    """
    data = field.points[field.weights > 0]
    probes = data
    if field.tangent.basis is None and len(data):
        count = affordable(N_PROBES, data.shape[1])
        ends = data[rng.integers(len(data), size=(2, count))]
        share = rng.uniform(size=(count, 1))
        probes = np.vstack([data, share * ends[0] + (1 - share) * ends[1]])
    angles = angles_between(first, second, probes, field.scale)
    if not len(angles):
        return (), 0.0
    place = int(angles.argmax())
    where = zip(field.names, (float(f"{value:.4g}") for value in probes[place]), strict=True)
    return tuple(where), float(angles[place])


def angles_between(
    first: Expression, second: Expression, points: FloatArray, scale: FloatArray
) -> FloatArray:
    """Angles in degrees; 0 where either gradient is not finite or nearly vanishes."""
    with np.errstate(all="ignore"):
        a, b = (expression.gradient(points) * scale for expression in (first, second))
        sizes = [np.linalg.norm(g, axis=1) for g in (a, b)]
        usable = np.isfinite(sizes[0]) & np.isfinite(sizes[1])
        if usable.any():
            for size in sizes:
                usable &= size > 0.05 * np.median(size[np.isfinite(size)])
        cosine = np.abs(np.einsum("nd,nd->n", a, b)) / (sizes[0] * sizes[1])
        return np.where(usable, np.degrees(np.arccos(np.clip(cosine, 0.0, 1.0))), 0.0)


def leave_one_out(expression: Expression, field: GradientField) -> tuple[InputNeed, ...]:
    """Hold each input at its median in the concept, and judge what is left."""
    concept = expression.rename(field.names)
    plain = weighted_mean(field_misalignment(concept, field), field.weights)
    used = field.points[field.weights > 0] if (field.weights > 0).any() else field.points
    spans = np.stack([used.min(axis=0), np.median(used, axis=0), used.max(axis=0)], axis=1).tolist()
    needs = []
    for column, name in enumerate(field.names):
        is_used = column in concept.tree.variables
        without = plain
        if is_used:
            held = concept.tree.replaced(Variable(column), constant(spans[column][1]))
            left = field_misalignment(Expression(held, field.names), field)
            without = 1.0 if held.is_constant else weighted_mean(left, field.weights)
        share = float(field.quality.input_shares[column])
        needs.append(InputNeed(name, is_used, without, share, *spans[column]))
    return tuple(needs)
