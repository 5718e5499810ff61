"""The data behind pictures and the report page: plain, so that a saved answer can be shown without the network.

Whoever has an answer fills a `ReportData`; plots, page and notebook display read nothing else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Literal, get_args

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.report.errors import ReportError
from closedform.report.several_view import SeveralView

Status = Literal["verified", "approximate", "none"]
Severity = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A function of one variable as points in order of x.

    Attributes
    ----------
    x, y : ndarray, shape (n,)
    """

    x: FloatArray
    y: FloatArray

    def __post_init__(self) -> None:
        _same_length("curve", x=self.x, y=self.y)


@dataclass(frozen=True, slots=True, eq=False)
class CandidateView:
    """One candidate of the front, with what there is to see of it on held-out points.

    Attributes
    ----------
    expression : Expression
    complexity : int
    misalignment : float
        0 is perfect.
    engine : str
        Which engine found it.
    interval : (float, float) or None
        Bootstrap interval of the misalignment.
    angles : ndarray, shape (n_points,), or None
        Degrees, 0 to 90, between the candidate's gradient and the network's.
    concept_values, latent_values : ndarray, shape (n_sample,), or None
        Both at the same points; a few hundred are enough for a picture.
    phi : Curve or None
        The fitted phi: latent as a function of the concept.
    note : str
        What is special about it, in a word or two: 'rival', 'snapped'. The page marks choice and steepest drop by itself.
    """

    expression: Expression
    complexity: int
    misalignment: float
    engine: str
    interval: tuple[float, float] | None = None
    angles: FloatArray | None = None
    concept_values: FloatArray | None = None
    latent_values: FloatArray | None = None
    phi: Curve | None = None
    note: str = ""

    def __post_init__(self) -> None:
        if (self.concept_values is None) != (self.latent_values is None):
            raise ReportError("A candidate has values of the concept or of the latent alone; pass both or neither.")
        if self.concept_values is not None and self.latent_values is not None:
            _same_length("candidate", concept_values=self.concept_values, latent_values=self.latent_values)
        if not isfinite(self.misalignment):
            raise ReportError(f"The misalignment is {self.misalignment}; pass a finite number.")


@dataclass(frozen=True, slots=True)
class Reason:
    """One test that the verdict rests on.

    Attributes
    ----------
    text : str
        A sentence with its figures.
    passed : bool or None
        None if it could not be made, such as a test of phi without the latent's values.
    """

    text: str
    passed: bool | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """One measured figure.

    Attributes
    ----------
    label, value : str
        Such as 'Rank correlation' and '0.9991'.
    explanation : str
        What it means, in a sentence for someone who has not read the paper.
    """

    label: str
    value: str
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A fitted number and its interval.

    Attributes
    ----------
    term : Expression or str
        What it multiplies; text is shown as it is.
    value, low, high : float
    """

    term: Expression | str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class DirectionField:
    """Directions at points of two inputs.

    Attributes
    ----------
    names : (str, str)
    points : ndarray, shape (n_points, 2)
    network, concept : ndarray, shape (n_points, 2)
        Directions as they should be drawn, of any length; their signs do not matter.
    """

    names: tuple[str, str]
    points: FloatArray
    network: FloatArray
    concept: FloatArray

    def __post_init__(self) -> None:
        for name in ("points", "network", "concept"):
            shape = getattr(self, name).shape
            if shape != (len(self.points), 2):
                raise ReportError(f"The direction field's {name} have shape {shape}; pass ({len(self.points)}, 2).")


@dataclass(frozen=True, slots=True)
class FindingView:
    """Something about the field that its user should know.

    Attributes
    ----------
    severity : {'info', 'warning', 'error'}
    text : str
        What was seen.
    remedy : str
        What to do; empty if `text` says so already.
    """

    severity: Severity
    text: str
    remedy: str = ""

    def __post_init__(self) -> None:
        _one_of("severity", self.severity, get_args(Severity))


@dataclass(frozen=True, slots=True)
class RivalView:
    """Another candidate that the held-out points cannot tell from the choice.

    Attributes
    ----------
    expression : Expression
    complexity : int
    misalignment : float
    where : mapping of str to float
        The inputs at which the two differ most.
    difference : str
        By how much, in words: '41 degrees between the gradients'.
    """

    expression: Expression
    complexity: int
    misalignment: float
    where: Mapping[str, float] = field(default_factory=dict)
    difference: str = ""


@dataclass(frozen=True, slots=True)
class HypothesisView:
    """What became of the formula that the user had in mind.

    Attributes
    ----------
    expression : Expression
    holds : bool or None
        None if it could not be decided.
    sentence : str
        The result, such as 'The concept is the same as this formula (proved).'
    """

    expression: Expression
    holds: bool | None
    sentence: str


@dataclass(frozen=True, slots=True)
class ReportData:
    """Everything that a report shows.

    Attributes
    ----------
    title : str
        What was read, such as 'Neuron encoder.4:0'.
    status : {'verified', 'approximate', 'none'}
    sentence : str
        The verdict in one sentence.
    candidates : tuple of CandidateView
        In order of complexity.
    chosen : int or None
        Index of the choice; None if there is no candidate.
    choice_reason : str
        Why that one.
    steepest_drop : int or None
        Index of what the paper's rule chooses.
    floor : float or None
        The misalignment below which the network's own noise hides everything.
    concepts : tuple of Expression
        Every concept that was read, if several latents have several; the candidates are those of the first.
    reasons : tuple of Reason
    evidence : tuple of Evidence
    coefficients : tuple of Coefficient
    directions : DirectionField or None
    findings : tuple of FindingView
    rivals : tuple of RivalView
    hypothesis : HypothesisView or None
    command : str
        What to type to get this again; may have several lines.
    versions, settings : mapping of str to str
    engine : str
    seconds : float or None
    seed : str
        What the random numbers came from, as text; empty if unknown.
    several : SeveralView
        Several concepts or several networks, if there are.

    Examples
    --------
    >>> from closedform.expressions.parse import parse
    >>> candidate = CandidateView(parse("x*y"), complexity=3, misalignment=1e-4, engine="terms")
    >>> ReportData("Neuron fc:0", "verified", "The neuron encodes x*y.", (candidate,), chosen=0).choice.engine
    'terms'
    """

    title: str
    status: Status
    sentence: str
    candidates: tuple[CandidateView, ...] = ()
    chosen: int | None = None
    choice_reason: str = ""
    steepest_drop: int | None = None
    floor: float | None = None
    concepts: tuple[Expression, ...] = ()
    reasons: tuple[Reason, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    coefficients: tuple[Coefficient, ...] = ()
    directions: DirectionField | None = None
    findings: tuple[FindingView, ...] = ()
    rivals: tuple[RivalView, ...] = ()
    hypothesis: HypothesisView | None = None
    command: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    engine: str = ""
    seconds: float | None = None
    seed: str = ""
    several: SeveralView = field(default_factory=SeveralView)

    def __post_init__(self) -> None:
        _one_of("status", self.status, get_args(Status))
        sizes = [candidate.complexity for candidate in self.candidates]
        if sizes != sorted(sizes):
            raise ReportError(f"Candidates have complexities {sizes}; pass them in order of complexity.")
        for name in ("chosen", "steepest_drop"):
            index = getattr(self, name)
            if index is not None and not 0 <= index < len(self.candidates):
                raise ReportError(f"The report's {name} is {index}; it must be one of its {len(self.candidates)} candidates.")

    @property
    def choice(self) -> CandidateView | None:
        """The chosen candidate."""
        return None if self.chosen is None else self.candidates[self.chosen]


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ReportError(f"There is no {name} {value!r}; known: {', '.join(known)}.")


def _same_length(what: str, **arrays: FloatArray) -> None:
    shapes = {name: array.shape for name, array in arrays.items()}
    if len(set(shapes.values())) > 1 or any(len(shape) != 1 for shape in shapes.values()):
        raise ReportError(f"The arrays of a {what} have shapes {shapes}; pass one dimension and one length.")
