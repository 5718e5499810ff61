"""Read a field whose inputs are alike: find the sums, read the field in these, and give the answer
back as a formula of all inputs. Where nobody said that they are alike: whether they look it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from closedform.expressions.expression import Expression
from closedform.expressions.sites import FormulaOfSums, Group, GroupsLike, as_groups, parse_sums
from closedform.field.findings import Finding, Quality
from closedform.field.gradient_field import GradientField
from closedform.interpretation.answer import Interpretation, ability
from closedform.interpretation.evidence import Provenance
from closedform.interpretation.verdict import CheckResult, Verdict
from closedform.judge.checks import Evidence
from closedform.judge.phi import fit_phi
from closedform.judge.thresholds import Thresholds, numbers_of
from closedform.judge.verify_stage import verify
from closedform.reading.alike.site_spans import find_span
from closedform.reading.alike.sites import Sites
from closedform.reading.alike.sums_field import SumsField, field_of_sums

BROKEN = 0.04
"""Share of the squared gradient, 12 degrees, up to which factors that differ between sites are a
network's own, whatever its values say."""

BY_VALUES = 0.95
"""Share of the variance of the network's own values that a formula must explain if its sites differ
by more: two sums with weights 1 and 2 that are declared one leave a tenth."""

OF_MANY_INPUTS = ("many-inputs", "too-few-points")
"""Findings that go by the number of inputs: the sums that are read are few."""

MOST_TOLD = 3
"""Sites that a sentence names."""


@dataclass(frozen=True)
class SpannedBySums:
    """The reading sees the gradient's part along the sums; this looks at the rest."""

    whole: SumsField
    name: str = "sums"
    asks: str = "Is the gradient on the sites a combination of the gradients of the sums?"
    failure: str = "the sums do not hold the gradient on the sites"

    def measure(self, evidence: Evidence) -> CheckResult:
        """Compare the part outside with the line of alignments, and what differs between sites."""
        # If more differs than its own line allows, the network's values decide.
        if self.whole.other_kind:
            return CheckResult.made(False, _two_kinds(self.whole).message)
        outside = self.whole.mean_outside(evidence.rows)
        broken = max(min(self.whole.mean_broken(), outside), self.whole.asymmetry)
        line = evidence.thresholds.approximate
        text = (
            f"{degrees(outside):.2g} degrees of the gradient lie outside the sums, and "
            f"{degrees(line):.2g} are allowed. Sites differ by {degrees(broken):.2g} degrees."
        )
        if broken <= BROKEN:
            return CheckResult.made(outside <= line, text)
        phi = fit_phi(evidence.concept, evidence.field)
        own = 0.0 if phi is None else self.whole.of_own_values(phi.r2)
        text += (
            " Values of the network are needed to judge that, and there are none."
            if phi is None
            else f" The formula explains {own:.2%} of the variance of the network's own values; "
            f"beyond {degrees(BROKEN):.2g} degrees {BY_VALUES:.0%} are needed."
        )
        return CheckResult.made(outside <= line and own >= BY_VALUES, text)


def interpret_alike(
    field: GradientField,
    groups: GroupsLike,
    read: Callable[..., Interpretation],
    asked: Mapping[str, Any],
    thresholds: Thresholds,
    provenance: Provenance,
) -> Interpretation:
    """Read a field in sums over its groups; `read` is `interpret_field` without groups."""
    known, hypothesis = as_groups(groups, field.names), asked["hypothesis"]
    guess = parse_sums(hypothesis, known, field.names) if isinstance(hypothesis, str) else None
    guess = hypothesis if isinstance(hypothesis, FormulaOfSums) else guess
    whole = field_of_sums(field, known, () if guess is None else guess.sums)
    if whole.mean_outside() > thresholds.approximate:
        return _not_sums(field, whole, provenance)
    plain = None if guess is None else Expression(guess.tree, guess.names)
    checks = (*(asked["checks"] or ()), SpannedBySums(whole))
    found = read(whole.field, **{**asked, "hypothesis": plain, "checks": checks})
    return on_sites(found, field, whole)


@ability("verify_sums")
def verify_sums(formula: FormulaOfSums, field: GradientField, **options: Any) -> Interpretation:
    """Judge a stated formula of sums; options as in `closedform.verify`."""
    groups = {each.name: each.group for each in formula.sums}
    rivals = () if isinstance(options["rivals"], str) else options["rivals"] or ()
    every = (formula, options["hypothesis"], *rivals)
    sums = [each for one in every if isinstance(one, FormulaOfSums) for each in one.sums]
    whole = field_of_sums(field, groups, sums)
    options["checks"] = (*(options["checks"] or ()), SpannedBySums(whole))
    plain = Expression(formula.tree, formula.names)
    return on_sites(verify(plain, whole.field, **options), field, whole)


def on_sites(answer: Interpretation, field: GradientField, whole: SumsField) -> Interpretation:
    """An answer in the sums as one in all inputs."""
    own, quality = _changed(answer, whole.formula), _with_finding(field, whole)
    return replace(
        own,
        names=field.names,
        field_quality=quality,
        directions=None,
        phi=own.phi and replace(own.phi, r2=whole.of_own_values(own.phi.r2)),
        provenance=_recorded(own.provenance),
    )


def _recorded(provenance: Provenance) -> Provenance:
    """With the numbers of this room, which decided too."""
    own = numbers_of("reading.alike")
    return replace(provenance, tolerances={**provenance.tolerances, **own})


def _not_sums(field: GradientField, whole: SumsField, provenance: Provenance) -> Interpretation:
    """The answer where no sums hold the gradient: nothing is searched for."""
    sentence = (
        f"No sums over these sites hold the network's gradient: "
        f"{degrees(whole.mean_outside()):.2g} degrees of it lie outside "
        f"{', '.join(map(str, whole.sums))}."
    )
    check = CheckResult(False, sentence, name=SpannedBySums.name)
    verdict = Verdict("none", "This is not a formula of few sums over the sites.", (check,))
    return Interpretation(field.names, verdict, _with_finding(field, whole), _recorded(provenance))


def _with_finding(field: GradientField, whole: SumsField) -> Quality:
    outside, broken = whole.mean_outside(), max(whole.mean_broken(), 0.0)
    rest = max(outside - broken, 0.0)
    severity = "info" if outside <= BROKEN else "warning"
    said = (
        f"The gradient on the sites is {degrees(outside):.2g} degrees off the sums over them: "
        f"{degrees(broken):.2g} degrees because sites differ by factors of their own (padding, "
        f"stride, or inputs that are not alike), and {degrees(rest):.2g} degrees otherwise. What "
        f"is read is the average over the sites."
    )
    data = {"outside_degrees": degrees(outside), "broken_degrees": degrees(broken)}
    found = [Finding("broken-symmetry", severity, said, data)]
    if whole.other_kind:
        found.insert(0, _two_kinds(whole))
    kept = (one for one in field.quality.findings if one.code not in OF_MANY_INPUTS)
    return replace(field.quality, findings=(*kept, *found))


def _two_kinds(whole: SumsField) -> Finding:
    other = whole.other_kind
    named = ", ".join(other[:MOST_TOLD]) + (", ..." if len(other) > MOST_TOLD else "")
    said = (
        f"The sites are of two kinds: {len(other)} of them ({named}) have another function. "
        f"Declare these as a group of their own."
    )
    return Finding("two-kinds", "warning", said, {"other": other})


def degrees(share: float) -> float:
    """The angle whose squared sine a share of the squared gradient is."""
    return float(np.degrees(np.arcsin(np.sqrt(min(max(share, 0.0), 1.0)))))


def _changed(value: Any, change: Callable[[Expression], Expression]) -> Any:
    """Data with every expression in them changed."""
    if isinstance(value, Expression):
        return change(value)
    if isinstance(value, tuple):
        return tuple(_changed(each, change) for each in value)
    if not is_dataclass(value) or isinstance(value, type) or not hasattr(value, "__slots__"):
        return value
    found = {
        one.name: _changed(getattr(value, one.name), change)
        for one in fields(value)
        if one.init and one.name not in ("origin", "field_quality", "provenance", "structure")
    }
    return replace(
        value, **{name: new for name, new in found.items() if new is not getattr(value, name)}
    )


FEW_INPUTS = 12
"""Up to so many inputs a formula of all of them can be found and read."""

ENOUGH = 50
"""Inputs, and points, that show whether inputs are alike, in a tenth of a second."""


def alike_finding(field: GradientField, line: float) -> Finding | None:
    """A finding if one function of each input, the same for all, holds the gradient."""
    # Exchange two such inputs, and their derivatives are exchanged.
    count = len(field.names)
    usable = field.weights > 0
    if count <= FEW_INPUTS or field.rank != 1 or field.tangent.kind != "none" or not usable.any():
        return None
    some = np.linspace(0, count - 1, min(count, ENOUGH)).astype(int)
    points, slopes = field.points[usable][:, some], field.directions[usable][:, some, 0]
    sites = Sites("x", Group(range(len(some))), points, slopes)
    if not (slopes**2).sum() > 0:
        return None
    span = find_span(sites.some(ENOUGH), may_fit=False)
    if span.left > line:
        return None
    sums = ", ".join(str(term.summed("x", sites.group)) for term in span.used)
    said = (
        f"The {count} inputs look alike: exchange two of them, and the gradient follows, up to "
        f"{degrees(span.left):.2g} degrees outside {sums}. Read sums over them: "
        f"groups={{'x': range({count})}}."
    )
    return Finding("alike-inputs", "info", said, {"left_degrees": degrees(span.left)})
