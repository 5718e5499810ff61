"""Whether inputs enter a formula through the combinations through which they enter the field."""

from dataclasses import replace

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.field.gradient_field import GradientField
from closedform.searching.decomposition import Combination, Decomposition
from closedform.verification.check_evidence import Evidence
from closedform.verification.same_form import contains

CLEARLY = 10.0
"""How many times more than the field itself a formula must depart from a combination: the field's
own departure is known to a factor of about 2, and a formula of another structure departs by
orders."""


def disagreements(evidence: Evidence) -> list[str] | None:
    """A sentence for each combination that the field shows and the formula does not; None where
    none can be compared.

    A combination counts if the field departs from it by no more than the formula departs from the
    field.
    """
    assert evidence.structure is not None
    field, own = evidence.field, evidence.outcome.fit.total
    if field.tangent.basis is not None or field.rank > 1:
        return None
    whole = evidence.concept.rename(field.names)
    found, compared = [], 0
    for each in _all(evidence.structure.combinations):
        if len(each.inputs) < 2 or set(each.inputs) == set(field.names) or each.high > own:
            continue
        columns = [field.names.index(name) for name in each.inputs]
        value = _departure(whole, parse(each.formula, names=list(field.names)), columns, field)
        compared += 1
        if value > CLEARLY * max(each.high, evidence.thresholds.rounding) and value > own:
            found.append(
                f"In the field, {', '.join(each.inputs)} enter only through {each.formula} "
                f"(misalignment {each.misalignment:.1g}); in the formula they do not (misalignment "
                f"{value:.1g})."
            )
    return found if compared else None


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


def _all(combinations: tuple[Combination, ...]) -> list[Combination]:
    found = []
    for each in combinations:
        found += [each, *_all(each.parts)]
    return found


def _departure(
    whole: Expression, part: Expression, columns: list[int], field: GradientField
) -> float:
    """Misalignment of the partial gradients of two formulas on some inputs, weighted by the first's
    share of its gradient.
    """
    with np.errstate(all="ignore"):
        ours, theirs = (
            formula.gradient(field.points)[:, columns] * field.scale[columns]
            for formula in (whole, part)
        )
        length = np.linalg.norm(whole.gradient(field.points) * field.scale, axis=1)
        cosine = np.einsum("nd,nd->n", ours, theirs) ** 2 / (_squared(ours) * _squared(theirs))
        share = _squared(ours) / length**2
        fine = np.isfinite(cosine) & np.isfinite(share)
    if not fine.any() or not share[fine].sum() > 0:
        return 0.0
    return float(np.average(np.clip(1 - cosine[fine], 0, 1), weights=share[fine]))


def _squared(vectors: FloatArray) -> FloatArray:
    return np.einsum("nd,nd->n", vectors, vectors)
