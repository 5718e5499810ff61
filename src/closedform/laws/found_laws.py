"""The answer: laws, each with a formula, a verdict and what becomes of it, and how many there
are.
"""

from dataclasses import dataclass
from typing import Any

from closedform.expressions.expression import Expression
from closedform.interpretation.answer import Interpretation
from closedform.interpretation.digits import formula_text
from closedform.interpretation.verdict import Verdict
from closedform.laws.change_parts import ChangeParts
from closedform.laws.counting import Count
from closedform.laws.drift import Drift
from closedform.laws.law_test import LawTest


@dataclass(frozen=True, slots=True)
class Law:
    """A quantity that a motion conserves, or nearly conserves.

    Attributes
    ----------
    concept : Expression
    verdict : Verdict
    change : ChangeParts
        On held-out rows; 1 is as much as the quantity varies.
    test : LawTest or None
        On held-out trajectories; None where there are none.
    drift : Drift or None
        In roll-outs of a flow or simulator, or along trajectories.
    interpretation : Interpretation or None
        The evidence from directions; None if there are only distant pairs.
    """

    concept: Expression
    verdict: Verdict
    change: ChangeParts
    test: LawTest | None = None
    drift: Drift | None = None
    interpretation: Interpretation | None = None

    def __str__(self) -> str:
        return f"{self.concept}   [{self.verdict.status}]"


@dataclass(frozen=True, slots=True)
class Laws:
    """What a motion conserves.

    Attributes
    ----------
    laws : tuple of Law
        Independent of each other, the simplest first: verified ones, then those that are nearly
        conserved or that these data cannot decide.
    count : Count
        How many independent laws there are.
    warnings : tuple of str
        What these data cannot tell, and what to do.
    names : tuple of str
    seconds : float
    seed : int
    """

    laws: tuple[Law, ...]
    count: Count
    warnings: tuple[str, ...]
    names: tuple[str, ...]
    seconds: float
    seed: int

    @property
    def verified(self) -> tuple[Law, ...]:
        """The laws whose verdict is `verified`."""
        return tuple(law for law in self.laws if law.verdict.status == "verified")

    @property
    def concepts(self) -> tuple[Expression, ...]:
        """The verified formulas."""
        return tuple(law.concept for law in self.verified)

    def summary(self) -> dict[str, Any]:
        """What ``closedform conserved --json`` prints."""
        return {
            "laws": [_row(law) for law in self.laws],
            "lower": self.count.lower,
            "upper": self.count.upper,
            "certain": self.count.is_certain,
            "warnings": list(self.warnings),
            "names": list(self.names),
            "seconds": round(self.seconds, 2),
            "seed": self.seed,
        }

    def plot_drift(self, *, ax: Any = None) -> Any:
        """Draw how each law drifts, in per cent; returns the Axes."""
        from closedform.report.drift_plot import Line, plot_drift

        lines = [
            Line(formula_text(law.concept), law.drift.times, law.drift.mean, law.drift.band)
            for law in self.laws
            if law.drift is not None
        ]
        return plot_drift(lines, ax=ax)

    def __str__(self) -> str:
        lines = []
        for law in self.laws:
            lines.append(f"{formula_text(law.concept)}   [{law.verdict.status}]")
            lines.append(f"    {law.verdict.sentence}")
            if law.drift is not None:
                lines.append(f"    drift: {law.drift}")
        return "\n".join([*lines, str(self.count), *self.warnings])


def _row(law: Law) -> dict[str, Any]:
    test, drift = law.test, law.drift
    return {
        "concept": str(law.concept),
        "verdict": law.verdict.status,
        "sentence": law.verdict.sentence,
        "change": law.change.total,
        "systematic": law.change.systematic,
        "test": None
        if test is None
        else {"change": test.change, "low": test.low, "high": test.high, "orbits": test.n_orbits},
        "drift": None
        if drift is None
        else {
            "per_step": drift.per_step,
            "total": drift.total,
            "low": drift.low,
            "high": drift.high,
            "of_spread": drift.of_spread,
            "time": float(drift.times[-1] - drift.times[0]),
        },
    }
