"""A rule of choice for formulas of known units: each constant that carries one counts like a
further input.
"""

from dataclasses import dataclass

import numpy as np

from closedform.expressions.expression import Expression
from closedform.selection.rules import ByFactor, Rule
from closedform.selection.tolerances import FACTOR
from closedform.units.legality import charge
from closedform.units.units import Units


@dataclass(frozen=True)
class ChargedByFactor(ByFactor):
    """The rule 'factor', with constants that carry units charged as further parts."""

    units: Units | None = None

    def penalty(self, formula: Expression) -> float:
        """Terms and constants, and once more each constant that carries a unit."""
        assert self.units is not None
        own = charge(formula.tree, self.units, formula.names)
        return super().penalty(formula) + np.log(FACTOR) * own


def charged(rule: Rule, units: Units | None) -> Rule:
    """The rule for a field of these units: 'factor' charges constants that carry units, and others
    stay as they are.
    """
    if units is None or type(rule) is not ByFactor:
        return rule
    return ChargedByFactor(rule.name, units=units)
