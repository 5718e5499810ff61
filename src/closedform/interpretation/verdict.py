"""The verdict as data: a status, a sentence, and the outcome of every check."""

from dataclasses import dataclass
from typing import Literal

from closedform.errors import shown
from closedform.expressions.expression import Expression

Status = Literal["verified", "ambiguous", "approximate", "none"]

STATUSES: tuple[Status, ...] = ("verified", "ambiguous", "approximate", "none")
"""Best first."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found.

    Attributes
    ----------
    passed : bool or None
        None if the check was not made, which never counts as passed.
    text : str
        A sentence with the figures; for a check that was not made, the reason.
    is_required : bool
        Whether `verified` needs this check to be made and passed. A check that was made and failed
        always counts.
    name : str
        The check's name; the judge fills it in.

    Examples
    --------
    >>> CheckResult.not_made("There are no values of the latent.").word
    'not made'
    """

    passed: bool | None
    text: str
    is_required: bool = True
    name: str = ""

    @classmethod
    def made(cls, passed: bool, text: str) -> "CheckResult":
        """The outcome of a check that was made."""
        return cls(bool(passed), text)

    @classmethod
    def not_made(cls, reason: str, *, is_required: bool = True) -> "CheckResult":
        """The outcome of a check that could not be made, or was not asked for."""
        return cls(None, reason, is_required)

    @property
    def word(self) -> str:
        """'passed', 'failed' or 'not made'."""
        return {True: "passed", False: "failed", None: "not made"}[self.passed]

    @property
    def sentence(self) -> str:
        """The text as it may stand alone: one that was not made says so."""
        if self.passed is not None:
            return self.text
        return f"Not made ({self.name}): {self.text}" if self.name else f"Not made: {self.text}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How well the evidence supports the concept.

    Attributes
    ----------
    status : {'verified', 'ambiguous', 'approximate', 'none'}
    sentence : str
        The verdict in one sentence.
    checks : tuple of CheckResult
        What it rests on.
    n_points : int or None
        How many different points of the field count; None if that is not known.
    alternatives : tuple of Expression
        Other formulas that fit as well as anything found, each form once; empty if it is verified.
    """

    status: Status
    sentence: str
    checks: tuple[CheckResult, ...] = ()
    n_points: int | None = None
    alternatives: tuple[Expression, ...] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """The checks' sentences: first those that failed, then those that are missing, those that
        passed, and last those that were not made and need not be.
        """

        def order(check: CheckResult) -> int:
            if check.passed is None:
                return 1 if check.is_required else 3
            return 2 if check.passed else 0

        return tuple(check.sentence for check in sorted(self.checks, key=order))

    def __str__(self) -> str:
        return f"{self.status}: {shown(self.sentence)}"
