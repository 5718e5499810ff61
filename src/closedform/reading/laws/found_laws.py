"""The answer: laws, each with a formula, a verdict and its drift, and how many there are."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from closedform.arrays import FloatArray, frozen
from closedform.expressions.expression import Expression
from closedform.interpretation.answer import Interpretation
from closedform.interpretation.digits import formula_text
from closedform.interpretation.verdict import Verdict
from closedform.judge.systematic import ChangeParts
from closedform.reading.laws.changes import N_DRAWS, OrbitCheck
from closedform.reading.laws.counting import Count


@dataclass(frozen=True, slots=True, eq=False)
class Drift:
    """What becomes of a conserved quantity in a roll-out.

    Per cent are of its typical size at the start: the mean of its absolute value over trajectories.
    """

    per_step: float  #: root mean square of the change between neighbouring times
    total: float  #: mean change at the end, with the sign of growth
    low: float  #: lower end of its 95% bootstrap interval over trajectories
    high: float  #: upper end
    of_spread: float
    """Root mean square of the change at the end, in per cent of the spread between trajectories."""
    times: FloatArray  #: shape (n_times,)
    mean: FloatArray  #: mean change at each time
    band: FloatArray  #: between which nine of ten trajectories lie, shape (2, n_times)

    def __str__(self) -> str:
        return (
            f"{self.total:+.3g}% ({self.low:+.3g} to {self.high:+.3g}%) over the time "
            f"{self.times[-1] - self.times[0]:.3g}, {self.per_step:.2g}% per step"
        )


def measure_drift(
    concept: Expression, states: FloatArray, times: FloatArray, rng: np.random.Generator
) -> Drift | None:
    """Follow a quantity along a roll-out; None where it is not finite or vanishes.

    states (n_orbits, n_times, n_inputs)
    times (n_times,)
    """
    with np.errstate(all="ignore"):
        values = concept(states.reshape(-1, states.shape[2])).reshape(states.shape[:2])
    start = values[:, :1]
    size = float(np.abs(start).mean())
    if not np.isfinite(values).all() or not size > 0:
        return None
    changes = 100 * (values - start) * np.where(start < 0, -1.0, 1.0) / size
    draws = rng.integers(len(values), size=(N_DRAWS, len(values)))
    low, high = np.percentile(changes[draws, -1].mean(axis=1), [2.5, 97.5])
    spread = float(start.std())
    last = float(np.sqrt(np.mean((values[:, -1:] - start) ** 2)))
    return Drift(
        per_step=float(np.sqrt(np.mean(np.diff(changes, axis=1) ** 2))),
        total=float(changes[:, -1].mean()),
        low=float(low),
        high=float(high),
        of_spread=100 * last / spread if spread > 0 else np.inf,
        times=frozen(np.asarray(times, dtype=np.float64)),
        mean=frozen(changes.mean(axis=0)),
        band=frozen(np.percentile(changes, [5, 95], axis=0)),
    )


@dataclass(frozen=True, slots=True)
class Law:
    """A quantity that a motion conserves, or nearly conserves.

    Attributes
    ----------
    concept : Expression
    verdict : Verdict
    change : ChangeParts
        On held-out rows; 1 is as much as the quantity varies.
    test : OrbitCheck or None
        On held-out trajectories; None where there are none.
    drift : Drift or None
        In roll-outs of a flow or simulator, or along trajectories.
    interpretation : Interpretation or None
        The evidence from directions; None if there are only distant pairs.
    """

    concept: Expression
    verdict: Verdict
    change: ChangeParts
    test: OrbitCheck | None = None
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
    status : {'finished', 'time', 'interrupted'}
        What ended the search. After 'time' a larger budget may find more.
    """

    laws: tuple[Law, ...]
    count: Count
    warnings: tuple[str, ...]
    names: tuple[str, ...]
    seconds: float
    seed: int
    status: str = "finished"

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
            "status": self.status,
        }

    def plot_drift(self, *, ax: Any = None) -> Any:
        """Draw how each law drifts, in per cent; returns the Axes."""
        from closedform.report.plots import plot_drift

        return plot_drift(self, ax=ax)

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
    told = ("per_step", "total", "low", "high", "of_spread")
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
        else {name: getattr(drift, name) for name in told}
        | {"time": float(drift.times[-1] - drift.times[0])},
    }
