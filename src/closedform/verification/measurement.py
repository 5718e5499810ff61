"""Everything that an answer shows of a formula, measured on the points that judge it."""

from dataclasses import replace
from functools import partial

import numpy as np

from closedform.alignment.scores import field_misalignment
from closedform.errors import DomainError
from closedform.expressions.expression import Expression
from closedform.expressions.fitted_constants import fitted_positions
from closedform.field.gradient_field import GradientField
from closedform.interpretation.answer import FrontEntry, Interpretation, Provenance
from closedform.interpretation.evidence import Directions, HypothesisResult, Misfit
from closedform.interpretation.verdict import CheckResult
from closedform.selection.contenders import Contender
from closedform.selection.regions import divide
from closedform.verification.alignment import angles_in_degrees, measure_alignment
from closedform.verification.alternatives import Contested
from closedform.verification.case import Case
from closedform.verification.check_evidence import Evidence
from closedform.verification.checks import Check
from closedform.verification.constant_estimates import estimate_constants
from closedform.verification.deciding import Circumstances
from closedform.verification.inputs import leave_one_out
from closedform.verification.judgement import judge
from closedform.verification.phi import fit_phi
from closedform.verification.structure_agreement import structure_of

N_ARROWS, N_ANGLES = 150, 400
"""Directions and angles that an answer keeps for its pictures."""

BIAS = 1.5
"""How many times larger errors of constants are where all of the misalignment is bias: measured as
the root mean square of their deviations from the truth, in jackknife errors, over 54 constants of
small networks.
"""


def measure(
    case: Case,
    outcome: Contested,
    about: Circumstances,
    tests: tuple[Check, ...],
    provenance: Provenance,
    rng: np.random.Generator,
) -> Interpretation:
    """Measure everything that an answer shows, and judge."""
    field, guess = about.field, about.hypothesis
    concept, judged, labels = case.concept, case.judged, divide(case.judged, rng)
    own = _entry(
        replace(case.chosen, expression=concept, complexity=case.complexity), judged, labels, rng
    )
    constants = estimate_constants(concept, field, partial(with_bias, fit=outcome.fit), rng)
    errors = with_bias(own.errors, outcome.fit)
    if len(errors) != len(fitted_positions(concept.tree)):
        # Numbers of the chosen formula were given up for fitted ones, which it has no errors of.
        errors = tuple(each.error for each in constants if not each.is_plain)
    own = replace(own, errors=errors)
    others = [(contender, _entry(contender, judged, labels, rng)) for contender in case.shown]
    alignment = measure_alignment(concept, judged, labels, rng)
    structure = None if about.selection is None else about.selection.result.structure
    evidence = Evidence(
        concept=concept,
        complexity=case.complexity,
        field=judged,
        rows=case.rows,
        labels=labels,
        n_points=case.n_points,
        rng=rng,
        thresholds=about.lines,
        alignment=alignment,
        phi=fit_phi(concept, judged),
        outcome=outcome,
        not_looked=case.known if isinstance(case.known, CheckResult) else None,
        others=tuple(entry for _, entry in others),
        structure=structure,
        choice=case.choice,
    )
    front = sorted(
        [(case.chosen, own), *others], key=lambda pair: (pair[1].complexity, pair[1].regional)
    )
    sources = [contender for contender, _ in front]
    return Interpretation(
        names=field.names,
        verdict=judge(tests, evidence),
        field_quality=field.quality,
        provenance=provenance,
        concept=concept,
        concepts=(concept,),
        front=tuple(entry for _, entry in front),
        chosen=sources.index(case.chosen),
        steepest_drop=sources.index(case.drop) if case.drop in sources else None,
        choice_reason=case.choice,
        floor=min(entry.misalignment for _, entry in front),
        alignment=alignment,
        phi=evidence.phi,
        rivals=outcome.rivals,
        fit=outcome.fit,
        constants=constants,
        inputs=leave_one_out(concept, judged),
        hypothesis=None if guess is None else compare_hypothesis(concept, guess, judged),
        directions=_directions(concept, judged),
        structure=structure_of(concept, structure, judged),
    )


def with_bias(errors: tuple[float, ...], fit: Misfit) -> tuple[float, ...]:
    """Standard errors of constants with the network's bias in them: the jackknife over regions sees
    only what differs between regions, and a bias is shared by many.
    """
    share = fit.systematic / fit.total if fit.total > 0 else 0.0
    return tuple(error * (1 + (BIAS - 1) * share) for error in errors)


def compare_hypothesis(
    concept: Expression, hypothesis: Expression, judged: GradientField
) -> HypothesisResult:
    """Compare the concept with a formula that the user has in mind, on the data."""
    from closedform.equivalence.same_concept import same_concept  # brings SymPy

    try:
        answer = same_concept(
            str(concept), str(hypothesis), list(judged.names), points=judged.points
        )
        status, reason = answer.status, answer.reason
    except DomainError as error:
        # After the search it must not cost the answer.
        status = "different"
        reason = f"The two cannot be compared on the points that the concept is judged on. {error}"
    values = field_misalignment(hypothesis, judged)
    return HypothesisResult(
        hypothesis, status, reason, float(np.average(values, weights=judged.weights))
    )


def _entry(
    contender: Contender, judged: GradientField, labels: np.ndarray, rng: np.random.Generator
) -> FrontEntry:
    """A contender as the answer shows it, measured on the points that judge."""
    expression = contender.expression
    alignment = measure_alignment(expression, judged, labels, rng)
    angles = angles_in_degrees(field_misalignment(expression, judged)[judged.weights > 0])
    kept = (
        angles
        if len(angles) <= N_ANGLES
        else angles[np.sort(rng.choice(len(angles), N_ANGLES, replace=False))]
    )
    return FrontEntry(
        expression=expression,
        complexity=contender.complexity,
        misalignment=alignment.misalignment,
        low=alignment.low,
        high=alignment.high,
        # Formulas that were stated or given have not been judged by region.
        regional=contender.regional if contender.regional < 1 else alignment.misalignment,
        errors=contender.errors,
        engine=contender.engine,
        angles=tuple(float(f"{angle:.4g}") for angle in kept),
        phi=fit_phi(expression, judged),
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
