"""The check on orbits: on held-out trajectories the change along each, against the spread between
them.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares, linprog

from closedform.arrays import FloatArray
from closedform.canonical.constants import free_constants, with_constants
from closedform.expressions.expression import Expression
from closedform.interpretation.verdict import CheckResult
from closedform.judge.checks import Evidence
from closedform.judge.systematic import MOST_MEDIANS
from closedform.reading.laws.tolerances import HARDLY, LAW


@dataclass(frozen=True, slots=True)
class NeededNoise:
    """The noise that would explain how much a formula changes along orbits."""

    variance: float  # of every input, if all are equally noisy; in squared spreads
    shares: FloatArray  # (n_inputs,): what each input contributes to it; their sum is 1


def needed_noise(values: FloatArray, gradients: FloatArray) -> NeededNoise:
    """Compare changes with what independent noise of the inputs would cause.

    values (n_orbits, n_places)
    gradients (n_orbits, n_places, n_inputs): scaled.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.normal(size=(2000, 2, 2)) * [0.01, 0.03]
    >>> law = needed_noise(noise @ [0.6, 0.8], np.broadcast_to([0.6, 0.8], noise.shape))
    >>> round(law.variance, 4), law.shares.round(2)
    (0.0006, array([0.36, 0.64]))
    """
    n_places = values.shape[1]
    with np.errstate(all="ignore"):
        squares = gradients**2
        # Of a deviation from the mean of the orbit's places, each of which has noise of its own.
        caused = (1 - 2 / n_places) * squares + squares.mean(axis=1, keepdims=True) / n_places
        whole = caused.sum(axis=2)
        deviations = np.abs(values - values.mean(axis=1, keepdims=True))
        ratios = np.divide(
            deviations, np.sqrt(whole), out=np.zeros_like(whole), where=deviations > 0
        )
        most = MOST_MEDIANS * float(np.median(ratios))
        calm = np.minimum(ratios, most) if most > 0 else ratios
        shares = np.nanmean((caused / whole[:, :, None]).reshape(-1, caused.shape[2]), axis=0)
    return NeededNoise(float(np.mean(calm**2)), shares)


def explained_share(one: NeededNoise, others: Iterable[NeededNoise]) -> float:
    """How much of a formula's squared change noise can explain, between 0 and 1.

    No formula changes less than by noise. Each bounds a sum of the inputs' variances, weighted with
    its shares; the largest weighted sum for the formula in question is a linear programme.
    """
    if not one.variance > 0:
        return 1.0
    bounds = [one, *others]
    variances = np.array([bound.variance / one.variance for bound in bounds])
    shares = np.array([bound.shares for bound in bounds])
    fine = np.isfinite(variances) & np.isfinite(shares).all(axis=1)
    if not fine[0]:
        return 1.0
    found = linprog(-one.shares, A_ub=shares[fine], b_ub=variances[fine], bounds=(0, None))
    return float(np.clip(-found.fun, 0.0, 1.0)) if found.success else 1.0


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
    """Compare changes along trajectories with differences between them.

    groups (n_orbits, n_places, n_inputs): that nothing was fitted to.
    """
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
    """Minimise Var(g within orbits) / Var(g) over the constants of a formula.

    groups (n_orbits, n_places, n_inputs): pairs, or trajectories.

    The formula as it was if it has no constants, or others are not better.
    """
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
