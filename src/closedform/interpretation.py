"""Interpretation: the concept that was read from a network, with the evidence for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from closedform.expressions.expression import Expression
from closedform.field.quality import Quality
from closedform.shown import shown
from closedform.verification.agreement import NetworkReading, agreement
from closedform.verification.alignment import Alignment
from closedform.verification.faithfulness import Faithfulness
from closedform.verification.inputs import InputNeed
from closedform.verification.phi import Phi
from closedform.verification.rivals import Rival
from closedform.verification.stability import Stability
from closedform.verification.together import JointEvidence
from closedform.verification.verdict import Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCHEMA = 2
"""Version of the file format; files of the first have no parts and no networks."""


@dataclass(frozen=True, slots=True)
class FrontEntry:
    """A formula on the front.

    Attributes
    ----------
    expression : Expression
        In canonical form.
    complexity : int
    misalignment : float
        On held-out points.
    low, high : float
        Its 95% bootstrap interval over regions.
    regional : float
        What the choice compared: mean over regions, each judged with constants fitted without it.
    errors : tuple of float
        Standard errors of the free constants, in the order in which they are written.
    engine : str
        Which engine found it.
    angles : tuple of float
        Degrees between its gradient and the network's at some held-out points.
    phi : Phi or None
    """

    expression: Expression
    complexity: int
    misalignment: float
    low: float
    high: float
    regional: float
    errors: tuple[float, ...] = ()
    engine: str = ""
    angles: tuple[float, ...] = ()
    phi: Phi | None = None


@dataclass(frozen=True, slots=True)
class HypothesisResult:
    """What became of a formula that the user had in mind.

    Attributes
    ----------
    expression : Expression
    status : {'proved', 'numerical', 'different'}
        Whether the concept is the same.
    reason : str
    misalignment : float
        Of the hypothesis itself, on held-out points.
    """

    expression: Expression
    status: str
    reason: str
    misalignment: float


@dataclass(frozen=True, slots=True)
class Directions:
    """Directions at some points of two inputs, for a picture.

    Attributes
    ----------
    points, network, concept : tuple of (float, float)
    """

    points: tuple[tuple[float, float], ...]
    network: tuple[tuple[float, float], ...]
    concept: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Provenance:
    """How the answer came about, and how to get it again.

    Attributes
    ----------
    engine : str
    seconds : float
        After compilation.
    evaluations : int
    status : str
        Why the search ended; 'time' means that a faster machine may find more.
    seed : int
    budget : str
    rule : str
        How the choice was made.
    title : str
        What was read.
    structure : tuple of str
        What the search saw in the field before it began.
    versions : mapping of str to str
    command : str
    """

    engine: str
    seconds: float
    evaluations: int
    status: str
    seed: int
    budget: str
    rule: str
    title: str = ""
    structure: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    command: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Interpretation:
    """The concept that a neuron encodes, and the evidence.

    Make one with `closedform.interpret` or `closedform.interpret_field`.

    Attributes
    ----------
    names : tuple of str
        The inputs.
    concept : Expression or None
        The chosen formula, whatever the verdict; None if the search found nothing.
    concepts : tuple of Expression
        All that were read, one after the other, where there are several latents.
    verdict : Verdict
        For several latents the joint one; that on each concept is in `parts`.
    front : tuple of FrontEntry
        Simplest first.
    chosen, steepest_drop : int or None
        Places on the front: the concept's, and that of the paper's rule.
    choice_reason : str
    floor : float
        The lowest misalignment that any formula of the front reaches.
    alignment : Alignment or None
        Of the concept on held-out points.
    phi : Phi or None
    rivals : tuple of Rival
    stability : Stability or None
    inputs : tuple of InputNeed
    faithfulness : Faithfulness or None
    hypothesis : HypothesisResult or None
    directions : Directions or None
    field_quality : Quality
    provenance : Provenance
    parts : tuple of Interpretation
        For several latents one for each concept, modulo the others; front, alignment and so on above are those of the first.
    together : JointEvidence or None
        For several latents, how the concepts explain them.
    networks : tuple of NetworkReading
        For several networks, what each says about the common concepts.
    """

    names: tuple[str, ...]
    concept: Expression | None
    concepts: tuple[Expression, ...]
    verdict: Verdict
    front: tuple[FrontEntry, ...]
    chosen: int | None
    steepest_drop: int | None
    choice_reason: str
    floor: float
    alignment: Alignment | None
    phi: Phi | None
    rivals: tuple[Rival, ...]
    stability: Stability | None
    inputs: tuple[InputNeed, ...]
    faithfulness: Faithfulness | None
    hypothesis: HypothesisResult | None
    directions: Directions | None
    field_quality: Quality
    provenance: Provenance
    parts: tuple["Interpretation", ...] = ()
    together: JointEvidence | None = None
    networks: tuple[NetworkReading, ...] = ()

    @property
    def agreement(self) -> str:
        """What several networks agree on, in a sentence; empty for one."""
        return agreement(self.networks)

    @property
    def entry(self) -> FrontEntry | None:
        """The concept's place on the front."""
        return None if self.chosen is None else self.front[self.chosen]

    def save(self, path: str | Path) -> None:
        """Write everything as JSON; `closedform.load_interpretation` reads it."""
        from closedform.interpretation_storage import save_interpretation

        save_interpretation(self, path)

    def report(self, path: str | Path) -> None:
        """Write one self-contained HTML page."""
        from closedform.interpretation_views import report_data
        from closedform.report.html import write_report

        write_report(report_data(self), path)

    def plot_front(self, ax: "Axes | None" = None) -> "Axes":
        """The front as bars, with the choice marked."""
        from closedform.interpretation_views import report_data
        from closedform.report.plots import plot_front

        return plot_front(report_data(self), ax=ax)

    def plot_phi(self, ax: "Axes | None" = None) -> "Axes":
        """Latent against concept, with the fitted phi."""
        from closedform.interpretation_views import chosen_view
        from closedform.report.plots import plot_phi

        return plot_phi(chosen_view(self), ax=ax)

    def plot_angles(self, ax: "Axes | None" = None) -> "Axes":
        """Histogram of the angles between the concept's gradient and the network's."""
        from closedform.interpretation_views import chosen_view
        from closedform.report.plots import plot_angles

        return plot_angles(chosen_view(self), ax=ax)

    def plot_directions(self, ax: "Axes | None" = None) -> "Axes":
        """Both direction fields, for two inputs."""
        from closedform.interpretation_views import direction_view
        from closedform.report.plots import plot_directions

        return plot_directions(direction_view(self), ax=ax)

    def plot_coefficients(self, ax: "Axes | None" = None) -> "Axes":
        """The fitted constants with their intervals."""
        from closedform.interpretation_views import report_data
        from closedform.report.plots import plot_coefficients

        return plot_coefficients(report_data(self).coefficients, ax=ax)

    def _repr_html_(self) -> str:
        from closedform.interpretation_views import report_data
        from closedform.report.fragment import fragment

        return fragment(report_data(self))

    def __repr__(self) -> str:
        formulas = ", ".join(map(repr, map(str, self.concepts or ((self.concept,) if self.concept is not None else ()))))
        return f"<Interpretation: {formulas or 'no formula'}, {self.verdict.status}>"

    def __str__(self) -> str:
        first = "(no formula)" if self.concept is None else self.concept
        lines = [*map(str, self.concepts or (first,)), str(self.verdict)]
        lines += [self.agreement] if self.networks else []
        return "\n".join([*lines, *(f"  {shown(reason)}" for reason in self.verdict.reasons)])
