"""Run experiments: network, reading, baseline, score; and what ``closedform reproduce`` prints of
the outcomes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from closedform.basics.progress import Progress
from closedform.canonical.form import canonical_form
from closedform.errors import ModelFileError
from closedform.expressions.expression import Expression
from closedform_bench.paper.answer_scoring import Score, best_score, expected_text, score
from closedform_bench.paper.direct_regression import regress_latent
from closedform_bench.paper.experiment_catalogue import EXPERIMENTS
from closedform_bench.paper.network_reading import (
    BUDGET,
    ExperimentReading,
    Source,
    get_network,
    read_network,
)


@dataclass(frozen=True, slots=True)
class ReproductionSettings:
    """How experiments are run; the same for all.

    Attributes
    ----------
    profile : {'checkpoint', 'quick', 'paper'}
        Where networks come from.
    directory : Path
        Where trained networks are kept.
    budget : float
        Seconds for search, choice and verdict of each, and for the baseline.
    seed : int
        Of data, training and search; shipped networks have their own data.
    has_baseline : bool
        Whether direct regression is run as well.
    command : str
        What was typed, for the reports.
    """

    profile: Source
    directory: Path
    budget: float = BUDGET
    seed: int = 0
    has_baseline: bool = False
    command: str = ""


@dataclass(frozen=True, slots=True)
class Direct:
    """What direct regression found: the formula of its front that scores best, or else its most
    accurate one.

    Attributes
    ----------
    fit : Expression or None
        As it predicts the latent.
    found : Expression or None
        Its canonical form.
    score : Score
    """

    fit: Expression | None
    found: Expression | None
    score: Score


@dataclass(frozen=True, slots=True)
class ExperimentOutcome:
    """What became of an experiment.

    Attributes
    ----------
    number : int
    reading : ExperimentReading or None
        None where there is no network.
    score : Score
    train_seconds : float or None
    direct : Direct or None
        None if it was not asked for.
    """

    number: int
    reading: ExperimentReading | None
    score: Score
    train_seconds: float | None
    direct: Direct | None = None

    @property
    def found(self) -> Expression | None:
        """The formula that was read."""
        return None if self.reading is None else self.reading.interpretation.concept

    def row(self) -> dict[str, Any]:
        """The outcome as ``--json`` prints it."""
        found = None if self.reading is None else self.reading.interpretation
        return {
            "number": self.number,
            "name": EXPERIMENTS[self.number].name,
            "expected": expected_text(self.number),
            "found": None if self.found is None else str(self.found),
            "equivalence": self.score.status,
            "verdict": "none" if found is None else found.verdict.status,
            "misalignment": None
            if found is None or found.alignment is None
            else found.alignment.misalignment,
            "search_seconds": None if found is None else found.provenance.seconds,
            "train_seconds": self.train_seconds,
            "direct": None
            if self.direct is None
            else {
                "found": None if self.direct.found is None else str(self.direct.found),
                "equivalence": self.direct.score.status,
            },
        }


def reproduce(
    number: int, settings: ReproductionSettings, *, progress: Progress | None = None
) -> ExperimentOutcome:
    """Run one experiment.

    Raises
    ------
    KeyboardInterrupt
        If someone interrupts a training; the next call goes on.
    """
    try:
        network = get_network(
            number, settings.profile, settings.directory, seed=settings.seed, progress=progress
        )
    except ModelFileError as error:
        return ExperimentOutcome(
            number, None, Score("different", 1.0, f"There is no network: {error}"), None
        )
    reading = read_network(
        number,
        network,
        budget=settings.budget,
        seed=settings.seed,
        progress=progress,
        command=settings.command,
    )
    points = reading.field.points
    direct = regress_directly(reading, settings) if settings.has_baseline else None
    found = score(number, reading.interpretation.concept, points)
    return ExperimentOutcome(number, reading, found, network.train_seconds, direct)


def regress_directly(reading: ExperimentReading, settings: ReproductionSettings) -> Direct:
    """Run the baseline on the network that was read. Whoever chooses from its front is taken to
    choose well.
    """
    front = regress_latent(reading.field, seconds=settings.budget, seed=settings.seed)
    forms = [canonical_form(formula, reading.field.points) for formula in front]
    place, found = best_score(reading.number, forms, reading.field.points)
    return Direct(None, None, found) if place is None else Direct(front[place], forms[place], found)


def summary(outcomes: Sequence[ExperimentOutcome]) -> dict[str, Any]:
    """The object that ``--json`` prints."""
    directs = [outcome.direct for outcome in outcomes if outcome.direct is not None]
    return {
        "experiments": [outcome.row() for outcome in outcomes],
        "recovered": sum(outcome.score.is_recovered for outcome in outcomes),
        "of": len(outcomes),
        "direct_recovered": sum(direct.score.is_recovered for direct in directs)
        if directs
        else None,
    }
