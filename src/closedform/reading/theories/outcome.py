"""The outcome of a contest: each theory with its angle, its constants and where it fails."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.arrays import FloatArray

if TYPE_CHECKING:
    import pandas


STANDS_OUT = 1.5
"""Times by which the angle in a region exceeds that elsewhere to be worth a sentence."""


SMALLEST_ANGLE = 1e-3
"""Degrees below which angles do not differ."""


@dataclass(frozen=True, slots=True, eq=False)
class FailingRegion:
    """Where the angle of a theory is largest.

    Attributes
    ----------
    inputs : tuple of str
        The two that explain the angle best (one, if there is only one).
    bounds : tuple of (str, float, float)
        The region: input, and from where to where; infinite where it has no bound.
    inside, outside : float
        Median angles, in degrees.
    share : float
        Of the points, in the region.
    points : ndarray, shape (n_points, 1 or 2)
        The two inputs at some points.
    angles : ndarray, shape (n_points,)
        Degrees there.
    """

    inputs: tuple[str, ...]
    bounds: tuple[tuple[str, float, float], ...]
    inside: float
    outside: float
    share: float
    points: FloatArray
    angles: FloatArray

    @property
    def stands_out(self) -> bool:
        """Whether the region is clearly worse than the rest."""
        return self.inside > STANDS_OUT * max(self.outside, SMALLEST_ANGLE)

    def __str__(self) -> str:
        if not self.stands_out:
            return f"about as far off everywhere ({self.outside:.2g} degrees)"
        return (
            f"fails where {' and '.join(_range(*bound) for bound in self.bounds)}: "
            f"{self.inside:.2g} degrees there ({100 * self.share:.0f}% of the points), "
            f"{self.outside:.2g} elsewhere"
        )


def _range(name: str, low: float, high: float) -> str:
    if np.isinf(low):
        return f"{name} < {high:.2g}"
    return f"{name} > {low:.2g}" if np.isinf(high) else f"{low:.2g} < {name} < {high:.2g}"


@dataclass(frozen=True, slots=True)
class FittedConstant:
    """A free constant of a theory.

    Attributes
    ----------
    name : str
        As the theory writes it.
    value : float
    error : float
        Standard error, from how far regions of the data differ.
    low, high : float
        95% interval.
    is_at_bound : bool
        Whether the bound that was set stopped it.
    """

    name: str
    value: float
    error: float
    low: float
    high: float
    is_at_bound: bool = False

    def __str__(self) -> str:
        if self.is_at_bound:
            return f"{self.name} = {self.value:.4g} (at its bound)"
        if self.error < 1e-6 * max(abs(self.value), 1e-300):
            return f"{self.name} = {self.value:.6g}"
        return f"{self.name} = {self.value:.4g} +- {self.error:.2g}"


@dataclass(frozen=True, slots=True)
class TheoryResult:
    """A theory in a contest, on unseen points.

    Attributes
    ----------
    name : str
        As it was stated.
    formula : str
    median, upper : float
        The angle to the network's gradient, in degrees: median, and below what 90% lie.
    low, high : float
        95% interval of the median, over regions.
    left : float or None
        What phi leaves of the network's values, as a share of their spread (root mean square); None
        where values are not used.
    constants : tuple of FittedConstant
    weight : float
        Its share, with what was not thought of counted.
    behind, behind_error : float
        Nats behind the best theory, and their standard error over regions.
    chance : float
        How likely a theory as good as the best would fall this far behind (one-sided).
    where : FailingRegion
    """

    name: str
    formula: str
    median: float
    upper: float
    low: float
    high: float
    left: float | None
    constants: tuple[FittedConstant, ...]
    weight: float
    behind: float
    behind_error: float
    chance: float
    where: FailingRegion


@dataclass(frozen=True, slots=True)
class Correction:
    """The best correction of the best theory.

    Attributes
    ----------
    of : str
        The theory.
    text : str
        What is added or multiplied, with its fitted number.
    error : float
        Standard error of that number.
    removed : float
        Share of the theory's squared error that it removes on unseen points: of the values where
        they are used, else of the directions.
    median : float
        The angle that is left, in degrees.
    ahead : float
        Nats by which it beats the theory on unseen points, its length paid; negative if it does
        not pay.
    """

    of: str
    text: str
    error: float
    removed: float
    median: float
    ahead: float


@dataclass(frozen=True, slots=True)
class Contest:
    """Theories in the order of their scores.

    Attributes
    ----------
    theories : tuple of TheoryResult
        Best first.
    none_of_them : float
        The share of what nobody stated: corrections, what a search found, and what was not thought
        of.
    correction : Correction or None
    rival : str or None
        The formula of the best score that nobody stated, corrections apart.
    names, given : tuple of str
        The inputs, and those of them that were held.
    has_values : bool
        Whether the network's values were used.
    n_fitted, n_unseen : int
        Points of the fits, and those that judged.
    seed : int
    title : str
    """

    theories: tuple[TheoryResult, ...]
    none_of_them: float
    correction: Correction | None
    rival: str | None
    names: tuple[str, ...]
    given: tuple[str, ...]
    has_values: bool
    n_fitted: int
    n_unseen: int
    seed: int
    title: str = ""

    @property
    def winner(self) -> str | None:
        """The theory that the network follows; None if it follows none of them."""
        return None if self.none_of_them > 0.5 else self.theories[0].name

    @property
    def constants(self) -> dict[str, dict[str, FittedConstant]]:
        """Of each theory, by name."""
        return {one.name: {each.name: each for each in one.constants} for one in self.theories}

    @property
    def where(self) -> dict[str, str]:
        """Where each theory fails, in a sentence."""
        return {one.name: str(one.where) for one in self.theories}

    @property
    def table(self) -> "pandas.DataFrame":
        """One row for each theory, best first."""
        import pandas

        return pandas.DataFrame([_row(one) for one in self.theories]).set_index("theory")

    @property
    def sentence(self) -> str:
        """The outcome."""
        first, *others = self.theories
        if self.winner is None:
            return (
                f"None of them: {first.name} is nearest ({_degrees(first)}), but most of the "
                f"weight ({self.none_of_them:.2f}) goes to what nobody stated."
            )
        said = f"The network follows {first.name} ({_degrees(first)}, weight {first.weight:.2f})"
        close = [one.name for one in others if one.chance > 0.05]
        return f"{said}; {', '.join(close)} cannot be ruled out." if close else f"{said}."

    def summary(self) -> dict[str, Any]:
        """What ``closedform contest --json`` prints."""
        return {
            "winner": self.winner,
            "none_of_them": self.none_of_them,
            "sentence": self.sentence,
            "theories": [
                {
                    **_row(one),
                    "constants": {
                        each.name: {
                            "value": each.value,
                            "error": each.error,
                            "interval": [each.low, each.high],
                            "at_bound": each.is_at_bound,
                        }
                        for each in one.constants
                    },
                }
                for one in self.theories
            ],
            "correction": None
            if self.correction is None
            else {
                "of": self.correction.of,
                "text": self.correction.text,
                "removed": self.correction.removed,
                "degrees": self.correction.median,
                "ahead": self.correction.ahead,
            },
            "rival": self.rival,
            "names": list(self.names),
            "given": list(self.given),
            "points": self.n_unseen,
            "seed": self.seed,
        }

    def plot(self, *, ax: Any = None) -> Any:
        """The angle of each theory: median with its interval, and where 90% lie; returns Axes."""
        from closedform.report.contest_plots import plot_angles_of_theories

        return plot_angles_of_theories(self, ax=ax)

    def plot_where(self, name: str | None = None, *, ax: Any = None) -> Any:
        """The angle of a theory, the best by default, over the two inputs that explain it best."""
        from closedform.report.contest_plots import plot_failing_region

        one = self.theories[0] if name is None else self._named(name)
        return plot_failing_region(one, ax=ax)

    def report(self, path: str | Path) -> Path:
        """Write the contest as one self-contained page."""
        from closedform.report.contest_plots import write_contest

        return write_contest(self, path)

    def _named(self, name: str) -> TheoryResult:
        from closedform.errors import ReportError

        known = {one.name: one for one in self.theories}
        if name not in known:
            raise ReportError(f"There is no theory {name!r}; there are {', '.join(known)}.")
        return known[name]

    def __str__(self) -> str:
        lines = [self.sentence]
        width = max(len(one.name) for one in self.theories)
        for one in self.theories:
            left = "" if one.left is None else f", values {100 * one.left:.2g}%"
            numbers = "".join(f", {each}" for each in one.constants)
            lines.append(f"  {one.name:<{width}}  {_degrees(one)}{left}{numbers}")
            lines.append(f"  {'':<{width}}  {one.where}")
        if self.correction is not None:
            done = self.correction
            verdict = "pays" if done.ahead > 0 else "does not pay"
            lines.append(
                f"best correction of {done.of}: {done.text} removes {100 * done.removed:.0f}% of "
                f"what is left and {verdict} ({done.ahead:+.1f} nats)"
            )
        if self.rival is not None and self.winner is None:
            lines.append(f"nearer than all of them: {self.rival}")
        return "\n".join(lines)


def _degrees(one: TheoryResult) -> str:
    return f"{one.median:.2g} degrees ({one.low:.2g} to {one.high:.2g}), 90% below {one.upper:.2g}"


def _row(one: TheoryResult) -> dict[str, Any]:
    return {
        "theory": one.name,
        "formula": one.formula,
        "degrees": one.median,
        "low": one.low,
        "high": one.high,
        "90%": one.upper,
        "left": one.left,
        "weight": one.weight,
        "behind": one.behind,
        "behind_error": one.behind_error,
        "chance": one.chance,
        "where": str(one.where),
    }
