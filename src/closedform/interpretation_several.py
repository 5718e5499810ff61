"""What a report shows of an interpretation with several concepts or several networks."""

from closedform.canonical.coefficients import with_coefficients
from closedform.canonical.constants import free_constants, subtrees
from closedform.expressions.evaluate import operand_positions
from closedform.expressions.expression import Expression
from closedform.expressions.printing import to_text
from closedform.interpretation import Interpretation
from closedform.report.figure_data import Coefficient, Evidence, Reason, Status
from closedform.report.several_view import NetworkView, PartView, SeveralView, SpreadView
from closedform.verification.agreement import NetworkReading, spreads

N_OTHERS = 12
"""Candidates that the page lists for each of several concepts."""

TWO_SIDED = 1.96


def several_view(interpretation: Interpretation) -> SeveralView:
    """Parts and networks as a report shows them."""
    networks = interpretation.networks
    return SeveralView(
        parts=tuple(_part(part) for part in interpretation.parts if part.concept is not None),
        networks=tuple(_network(reading) for reading in networks),
        agreement=interpretation.agreement,
        spreads=_spreads(interpretation),
    )


def joint_evidence(interpretation: Interpretation) -> list[Evidence]:
    """Figures of all concepts together; none for a single latent."""
    joint = interpretation.together
    if joint is None:
        return []
    rows = [
        Evidence("Rank", str(joint.rank), "Independent things that the latents know, from the spectrum of their Jacobians."),
        Evidence("Read", str(joint.read), "Concepts that follow the latents on held-out points."),
        Evidence(
            "Spectrum", ", ".join(f"{value:.2g}" for value in joint.spectrum), "Singular values, relative to the largest."
        ),
        Evidence("Outside", f"{joint.outside:.2g}", "Share of the concepts' directions outside those of the latents."),
        Evidence("Missing", f"{joint.missing:.2g}", "Share of the latents' directions that no concept explains."),
    ]
    if joint.explained is not None:
        text = "Share of the latents' variance that a smooth function of the concepts explains on held-out points."
        rows.append(Evidence("Explained", f"{100 * joint.explained:.1f}%", text))
    return rows


def spread_coefficients(interpretation: Interpretation) -> tuple[Coefficient, ...]:
    """Constants with the interval that their spread over networks gives."""
    return tuple(
        Coefficient(spread.term, spread.mean, spread.mean - TWO_SIDED * spread.error, spread.mean + TWO_SIDED * spread.error)
        for spread in _spreads(interpretation)
    )


def term_of(expression: Expression, position: int) -> str:
    """What a constant multiplies, as text; the place of the constant if it multiplies nothing.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> term_of(parse("v**2 + 0.5*x**4"), 3)
    'x**4'
    """
    parts = subtrees(expression.tree)
    for token, operands in zip(expression.tree.tokens, operand_positions(expression.tree), strict=True):
        if position in operands and token == "mul":
            return to_text(parts[next(other for other in operands if other != position)], expression.names)
    return f"constant {position}"


def _part(part: Interpretation) -> PartView:
    entry = part.entry
    assert part.concept is not None
    shown = [e for e in part.front if e is not entry][:N_OTHERS]
    return PartView(
        expression=part.concept,
        status=part.verdict.status,
        sentence=part.verdict.sentence,
        complexity=0 if entry is None else entry.complexity,
        misalignment=1.0 if entry is None else entry.misalignment,
        reasons=tuple(Reason(check.text, check.passed) for check in part.verdict.checks),
        others=tuple((e.expression, e.complexity, e.misalignment) for e in shown),
    )


def _network(reading: NetworkReading) -> NetworkView:
    values = tuple(value for constants in reading.constants for value in constants)
    statuses: list[Status] = [verdict.status for verdict in reading.verdicts]
    return NetworkView(reading.name, tuple(statuses), reading.misalignments, values)


def _spreads(interpretation: Interpretation) -> tuple[SpreadView, ...]:
    """Every constant over the networks, named by what it multiplies in the common concepts."""
    views: list[SpreadView] = []
    for place, concept in enumerate(interpretation.concepts if len(interpretation.networks) > 1 else ()):
        free = with_coefficients(concept)
        number = f"{place + 1}: " if len(interpretation.concepts) > 1 else ""
        views += [
            SpreadView(number + term_of(free, constant.position), spread.mean, spread.error)
            for constant, spread in zip(free_constants(free), spreads(interpretation.networks, place), strict=False)
        ]
    return tuple(views)
