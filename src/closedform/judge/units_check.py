"""The check that a concept is possible in the units of its inputs."""

from closedform.field.gradient_field import GradientField
from closedform.interpretation.verdict import CheckResult
from closedform.judge.check_evidence import Evidence
from closedform.judge.checks import Check
from closedform.units.legality import carried_constants
from closedform.units.sentences import units_sentences


class UnitsPossible:
    """Sums of equal units, functions of pure numbers."""

    name = "units"
    asks = "Is the formula possible in the units of its inputs?"
    failure = "it adds different units"

    def measure(self, evidence: Evidence) -> CheckResult:
        """Look at the formula, and tell the units of its constants."""
        units, formula = evidence.field.units, evidence.concept
        if units is None:
            return CheckResult.not_made("No units were stated.", is_required=False)
        fine = carried_constants(formula.tree, units, formula.names) is not None
        return CheckResult.made(fine, " ".join(units_sentences(formula, units)) or "Units fit.")


def units_checks(field: GradientField) -> tuple[Check, ...]:
    """The check, where a field has units."""
    return () if field.units is None else (UnitsPossible(),)
