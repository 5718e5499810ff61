"""From an interpretation to what report and pictures show."""

import numpy as np

from closedform.errors import ConceptError
from closedform.expressions.expression import Expression
from closedform.expressions.fitted_constants import constant_values, fitted_positions
from closedform.expressions.printing import to_text
from closedform.expressions.tree import Tree
from closedform.interpretation import FrontEntry, Interpretation
from closedform.interpretation_several import joint_evidence, several_view, spread_coefficients
from closedform.report.figure_data import (
    CandidateView,
    Coefficient,
    Curve,
    DirectionField,
    Evidence,
    FindingView,
    HypothesisView,
    Reason,
    ReportData,
    RivalView,
)
from closedform.verification.phi import Phi
from closedform.verification.rivals import Rival

TWO_SIDED = 1.96
"""Standard errors to either side of a 95% interval."""


def report_data(interpretation: Interpretation) -> ReportData:
    """Everything that a report shows."""
    provenance, entry = interpretation.provenance, interpretation.entry
    rivals = {rival.expression for rival in interpretation.rivals}
    return ReportData(
        title=provenance.title or f"A concept of {', '.join(interpretation.names)}",
        status=interpretation.verdict.status,
        sentence=interpretation.verdict.sentence,
        candidates=tuple(_candidate(e, "rival" if e.expression in rivals else "") for e in interpretation.front),
        chosen=interpretation.chosen,
        choice_reason=interpretation.choice_reason,
        steepest_drop=interpretation.steepest_drop,
        floor=interpretation.floor if interpretation.front else None,
        concepts=interpretation.concepts,
        reasons=tuple(Reason(check.text, check.passed) for check in interpretation.verdict.checks),
        evidence=tuple(joint_evidence(interpretation) or _evidence(interpretation)),
        coefficients=spread_coefficients(interpretation) or _coefficients(entry),
        directions=_directions(interpretation),
        findings=tuple(FindingView(f.severity, f.message) for f in interpretation.field_quality.findings),
        rivals=tuple(_rival(rival) for rival in interpretation.rivals),
        hypothesis=_hypothesis(interpretation),
        command=provenance.command,
        versions=provenance.versions,
        settings={"budget": provenance.budget, "rule of choice": provenance.rule, "search ended by": provenance.status},
        engine=provenance.engine,
        seconds=provenance.seconds,
        seed=str(provenance.seed),
        several=several_view(interpretation),
    )


def chosen_view(interpretation: Interpretation) -> CandidateView:
    """What there is to see of the concept.

    Raises
    ------
    ConceptError
        If the search found nothing.
    """
    if interpretation.entry is None:
        raise ConceptError(f"There is no formula to show: {interpretation.verdict.sentence} Look at field_quality.")
    return _candidate(interpretation.entry, "")


def direction_view(interpretation: Interpretation) -> DirectionField:
    """Both direction fields.

    Raises
    ------
    ConceptError
        If there are not two inputs and one latent.
    """
    view = _directions(interpretation)
    if view is None:
        raise ConceptError(f"Directions are drawn for two inputs and one latent; the inputs are {interpretation.names}.")
    return view


def coefficients(expression: Expression, errors: tuple[float, ...]) -> tuple[Coefficient, ...]:
    """The free constants of an expression with their intervals, each named by the term in which it stands.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> [c.term for c in coefficients(parse("x**2 + 0.37*v**2"), (0.01,))]
    ['0.37*v**2']
    """
    positions = fitted_positions(expression.tree)
    values = constant_values(expression.tree, positions)
    return tuple(
        Coefficient(_term_around(expression, position), value, value - TWO_SIDED * error, value + TWO_SIDED * error)
        for position, value, error in zip(positions, values, errors, strict=False)
    )


def _coefficients(entry: FrontEntry | None) -> tuple[Coefficient, ...]:
    return () if entry is None else coefficients(entry.expression, entry.errors)


def _term_around(expression: Expression, position: int) -> str:
    """The term of the outermost sum in which a token stands, as text."""
    tree, offset = expression.tree, 0
    while tree.root in ("add", "sub", "neg"):
        start = offset
        for child in tree.children:
            if start <= position < start + child.size:
                tree, offset = child, start
                break
            start += child.size
        else:
            break
    return to_text(_rounded(tree), expression.names)


def _rounded(tree: Tree) -> Tree:
    from closedform.expressions.fitted_constants import with_numbers

    positions = fitted_positions(tree)
    return with_numbers(tree, positions, [float(f"{value:.3g}") for value in constant_values(tree, positions)])


def _candidate(entry: FrontEntry, note: str) -> CandidateView:
    phi = entry.phi
    return CandidateView(
        expression=entry.expression,
        complexity=entry.complexity,
        misalignment=entry.misalignment,
        engine=entry.engine,
        interval=(entry.low, entry.high),
        angles=np.array(entry.angles),
        concept_values=None if phi is None else np.array(phi.concept_sample),
        latent_values=None if phi is None else np.array(phi.latent_sample),
        phi=None if phi is None else Curve(np.array(phi.concept), np.array(phi.latent)),
        note=note,
    )


def _evidence(interpretation: Interpretation) -> list[Evidence]:
    rows: list[Evidence] = []
    alignment = interpretation.alignment
    if alignment is not None:
        rows += [
            Evidence(
                "Misalignment",
                f"{alignment.misalignment:.2g} ({alignment.low:.2g} to {alignment.high:.2g})",
                "Mean squared sine of the angle between the concept's gradient and the network's on held-out points, with a "
                "95% interval from drawing regions of the data again; 0 is perfect.",
            ),
            Evidence(
                "Without the worst 5%",
                f"{alignment.trimmed:.2g}",
                "The same without the worst 5% of the points: a network is bad somewhere.",
            ),
            Evidence(
                "Angles",
                " / ".join(f"{angle:.2g}°" for angle in alignment.angles),
                "Median, 90% and 99% quantile of the angles.",
            ),
        ]
        if alignment.paper_loss is not None:
            rows.append(Evidence("The paper's loss", f"{alignment.paper_loss:.2g}", "Mean squared difference of unit vectors."))
    rows += _phi_rows(interpretation.phi)
    faithful = interpretation.faithfulness
    if faithful is not None:
        rows.append(
            Evidence(
                "Faithfulness",
                f"{100 * faithful.explained:.1f}%",
                f"With phi(concept) in the neuron's place the outputs change by {100 * faithful.change:.2g}% of their spread; "
                f"with the neuron's mean there, by {100 * faithful.change_by_mean:.3g}%.",
            )
        )
    for need in interpretation.inputs:
        if need.is_used:
            text = f"Misalignment with {need.name} held at its median in the concept."
            rows.append(Evidence(f"Without {need.name}", f"{need.without:.2g}", text))
    return rows


def _phi_rows(phi: Phi | None) -> list[Evidence]:
    if phi is None:
        return []
    return [
        Evidence("Rank correlation", f"{phi.rank_correlation:.4f}", "Of latent and concept; ±1 means that phi is invertible."),
        Evidence(
            "phi explains",
            f"{100 * phi.r2:.2f}%",
            f"Share of the latent's variance that a monotone function of the concept explains; {100 * phi.r2_inverse:.2f}% the "
            "other way round.",
        ),
    ]


def _rival(rival: Rival) -> RivalView:
    apart = f"{rival.degrees:.2g} degrees between the gradients there, at most {rival.degrees_on_data:.2g} on the data"
    return RivalView(rival.expression, rival.complexity, rival.misalignment, dict(rival.where), apart)


def _directions(interpretation: Interpretation) -> DirectionField | None:
    directions = interpretation.directions
    if directions is None:
        return None
    first, second = interpretation.names
    arrays = [np.array(pairs) for pairs in (directions.points, directions.network, directions.concept)]
    return DirectionField((first, second), *arrays)


def _hypothesis(interpretation: Interpretation) -> HypothesisView | None:
    result = interpretation.hypothesis
    if result is None:
        return None
    holds = result.status != "different"
    same = f"The concept is the same as this formula ({result.status})." if holds else "The concept differs from this formula."
    return HypothesisView(
        result.expression, holds, f"{same} Its own misalignment is {result.misalignment:.2g}. {result.reason}"
    )
