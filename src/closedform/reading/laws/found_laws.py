"""The answer: laws, each with a formula, a verdict and its drift, and how many there are."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from closedform.arrays import FloatArray, frozen
from closedform.canonical.constants import free_constants, with_constants
from closedform.expressions.expression import Expression
from closedform.interpretation.answer import Interpretation
from closedform.interpretation.digits import formula_text
from closedform.interpretation.verdict import CheckResult, Verdict
from closedform.judge.checks import Evidence
from closedform.judge.systematic import ChangeParts
from closedform.reading.laws.counting import HARDLY
from closedform.reading.laws.law_search import LAW


@dataclass(frozen=True, slots=True)
class Count:
    """How many independent laws there are."""

    lower: int  #: the rank of the gradients of the laws that were verified
    upper: int | None
    """Inputs less the dimension that orbits fill; None where orbits are too short to tell."""
    is_cut_short: bool = False
    """Whether they are too short because time, or Ctrl-C, ended the roll-outs."""

    @property
    def is_certain(self) -> bool:
        """Whether both bounds agree."""
        return self.upper == self.lower

    def __str__(self) -> str:
        known, why = counted(self.lower, "independent law"), "orbits are too short to"
        if self.is_certain:
            return f"{known}: orbits leave no room for more."
        if self.is_cut_short:
            why = "the roll-outs were ended before they could"
        if self.upper is None:
            return f"At least {known}; {why} say how many there can be."
        return f"Between {self.lower} and {self.upper} independent laws."


def counted(count: int, noun: str) -> str:
    """A number of things, the last word in the plural where it has to be."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


N_DRAWS = 400
"""Of the bootstrap over orbits: enough for the ends of a 95% interval."""


@dataclass(frozen=True, slots=True)
class OrbitCheck:
    """How much a function changes along trajectories, relative to how much it differs between them:
    root mean square of the deviation from each trajectory's mean, over the spread of the means.
    """

    change: float
    low: float  #: lower end of its 95% bootstrap interval over trajectories
    high: float  #: upper end
    n_orbits: int


def change_along_orbits(
    concept: Expression, groups: FloatArray, rng: np.random.Generator
) -> OrbitCheck:
    """Compare changes along unseen trajectories with differences between them."""
    with np.errstate(all="ignore"):
        values = concept(groups.reshape(-1, groups.shape[2])).reshape(groups.shape[:2])
    if not np.isfinite(values).all() or len(values) < 3:
        return OrbitCheck(np.inf, np.inf, np.inf, len(values))
    within, means = values.var(axis=1), values.mean(axis=1)
    draws = rng.integers(len(values), size=(N_DRAWS, len(values)))

    def ratio(rows: NDArray[np.int64]) -> FloatArray:
        between = np.maximum(means[rows].var(axis=-1), 1e-300)
        return np.sqrt(within[rows].mean(axis=-1) / between)

    low, high = np.percentile(ratio(draws), [2.5, 97.5])
    return OrbitCheck(float(ratio(np.arange(len(values)))), float(low), float(high), len(values))


@dataclass(frozen=True)
class KeptAlongOrbits:
    """The check on orbits as one of the verdict."""

    outcome: OrbitCheck | None  # None where there are points and velocities only
    change: float  # systematic change on held-out rows, as the search measured it
    noise: float  # what noise adds to it
    degenerate: str = ""  # why the data cannot tell, if they cannot
    allowed: float = LAW  # largest systematic change of a law
    name: str = "law"
    asks: str = "Does it keep its value along held-out motions, as far as noise lets us see?"
    failure: str = "it changes along the motion"

    def measure(self, evidence: Evidence | None = None) -> CheckResult:
        """Compare the change, which was measured before, with what a law may have."""
        del evidence
        fine = self.change <= self.allowed and not self.degenerate
        text = (
            f"Along held-out motions it changes systematically by {100 * self.change:.2g}% of its "
            f"overall variation (at most {100 * self.allowed:g}% is allowed); noise adds "
            f"{100 * self.noise:.2g}%."
        )
        if self.outcome is not None:
            text += (
                f" On {self.outcome.n_orbits} trajectories it changes by "
                f"{100 * self.outcome.change:.2g}% (95% interval {100 * self.outcome.low:.2g} to "
                f"{100 * self.outcome.high:.2g}%) of the spread between them."
            )
            fine = fine and self.outcome.low <= max(HARDLY, 5 * self.noise)
        return CheckResult.made(fine, f"{text} {self.degenerate}".strip())


def fit_on_orbits(concept: Expression, groups: FloatArray) -> Expression:
    """Minimise Var(g within orbits) / Var(g) over a formula's constants, if others are better."""
    free = free_constants(concept)
    if not free:
        return concept

    def deviations(constants: FloatArray) -> FloatArray:
        with np.errstate(all="ignore"):
            formula = with_constants(concept, [float(value) for value in constants])
            values = formula(groups.reshape(-1, groups.shape[2])).reshape(groups.shape[:2])
            found = (values - values.mean(axis=1, keepdims=True)) / values.std()
        return np.nan_to_num(found, nan=1.0, posinf=1.0, neginf=1.0).ravel()

    start = np.array([float(one.value) for one in free])
    if start.size > len(groups):
        return concept
    found = least_squares(deviations, start, x_scale=np.maximum(np.abs(start), 1e-3), max_nfev=60)
    before = float(np.sum(deviations(start) ** 2))
    if not 2 * found.cost < before:
        return concept
    # Without the last digits, which the fit does not know.
    return with_constants(concept, [float(f"{value:.7g}") for value in found.x])


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
    """Follow a quantity along roll-outs (n_orbits, n_times, n_inputs); None where it vanishes."""
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
    test, drift, told = law.test, law.drift, None
    if test is not None:
        told = {"change": test.change, "low": test.low, "high": test.high, "orbits": test.n_orbits}
    kept = ("per_step", "total", "low", "high", "of_spread")
    drifted = None if drift is None else {name: getattr(drift, name) for name in kept}
    if drifted is not None and drift is not None:
        drifted["time"] = float(drift.times[-1] - drift.times[0])
    return {
        "concept": str(law.concept),
        "verdict": law.verdict.status,
        "sentence": law.verdict.sentence,
        "change": law.change.total,
        "systematic": law.change.systematic,
        "test": told,
        "drift": drifted,
    }
