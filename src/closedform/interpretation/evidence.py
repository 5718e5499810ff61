"""The evidence for a concept: everything that was measured, as data, and how it came about."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from closedform.arrays import FloatArray
from closedform.expressions.expression import Expression
from closedform.interpretation.digits import formula_text


@dataclass(frozen=True, slots=True)
class Alignment:
    """Agreement of directions on held-out points.

    Attributes
    ----------
    misalignment : float
        The mean; 0 is perfect.
    low, high : float
        Its 95% interval, from how far regions of the data differ.
    trimmed, trimmed_high : float
        The mean without the worst 5% of the points, and the upper end of its interval: a network is
        bad somewhere, mostly where its gradient nearly vanishes, and a few such points decide the
        mean.
    chance : float
        What a random direction has.
    paper_loss : float or None
        The paper's loss; None for several latents.
    angles : tuple of float
        Median, 90% and 99% quantile of the angles, in degrees.
    n_points : int
        Points that count.
    """

    misalignment: float
    low: float
    high: float
    trimmed: float
    trimmed_high: float
    chance: float
    paper_loss: float | None
    angles: tuple[float, ...]
    n_points: int

    @property
    def bound(self) -> float:
        """Upper end of the mean's interval relative to chance; 1 if every function fits."""
        return min(self.high / self.chance, 1.0) if self.chance > 0 else 1.0

    @property
    def trimmed_bound(self) -> float:
        """The same without the worst 5% of the points."""
        return min(self.trimmed_high / self.chance, 1.0) if self.chance > 0 else 1.0


@dataclass(frozen=True, slots=True, repr=False)
class Phi:
    """latent = phi(concept), fitted as a monotone function."""

    rank_correlation: float
    """Spearman's, of latent and concept; its sign tells whether phi grows or falls."""
    r2: float  #: share of the latent's variance that a monotone function of the concept explains
    r2_inverse: float  #: the same the other way round
    concept: tuple[float, ...]  #: the fitted curve, in order of the concept
    latent: tuple[float, ...]  #: its values there
    concept_sample: tuple[float, ...] = ()  #: some of the points
    latent_sample: tuple[float, ...] = ()  #: the same of the latent

    def __call__(self, concept: FloatArray) -> FloatArray:
        """phi at values of the concept, constant beyond the data."""
        return np.interp(concept, self.concept, self.latent)

    def __repr__(self) -> str:
        grows = "grows" if self.rank_correlation >= 0 else "falls"
        return (
            f"<Phi: the latent {grows} with the concept, which explains {100 * self.r2:.4g}% of "
            f"its variance>"
        )


@dataclass(frozen=True, slots=True)
class Rival:
    """Another formula that was found or made, fitted and compared with the concept."""

    expression: Expression  #: the formula
    complexity: int  #: of the formula
    misalignment: float  #: on points that it was not fitted to
    weight: float  #: its share of the confidence
    where: tuple[tuple[str, float], ...]
    """Inputs inside the hull of the data at which the two formulas point most differently."""
    degrees: float  #: the angle there
    degrees_on_data: float  #: the largest angle on the points that judge
    source: str = "search"
    """The engine that found it, 'neighbour', 'hypothesis', 'given' or 'stated'."""
    is_alternative: bool = True
    """Whether it belongs to the forms that hold 95% of the known weight."""


@dataclass(frozen=True, slots=True)
class Misfit:
    """The concept's misalignment in its parts, and what may have caused them."""

    total: float  # on unseen points, without the worst 5%
    pieces: float
    """As how many independent points its errors count, from how far neighbours share them."""
    kind: str
    """'exact' to rounding; 'noise', independent from point to point; 'network', shared by
    neighbours where a network's values are known; or 'lack', shared by neighbours, perhaps for lack
    of fit.
    """

    @property
    def degrees(self) -> float:
        """The angle whose squared sine the misalignment is."""
        return float(np.degrees(np.arcsin(np.sqrt(min(max(self.total, 0.0), 1.0)))))

    @property
    def claim(self) -> str:
        """How well the concept fits, in words."""
        return {
            "exact": "exact to rounding",
            "noise": f"within the noise of about {self.degrees:.2g} degrees",
            "network": f"within the network's own error of about {self.degrees:.2g} degrees",
            "lack": (
                f"off by about {self.degrees:.2g} degrees, and neighbouring points share the error"
            ),
        }[self.kind]


@dataclass(frozen=True, slots=True)
class ConstantEstimate:
    """A constant of the concept, and what the field says about it."""

    value: float  # as it stands in the concept
    fitted: float  # as the field alone would have it, with all others fitted too
    error: float  # standard error of that, with a network's bias in it
    is_plain: bool
    """Whether it is a plain number such as 2 or 3/4, which belongs to the form. It is not rounded
    to the digits that the error allows, but has an error all the same."""


@dataclass(frozen=True, slots=True)
class InputNeed:
    """What one input contributes."""

    name: str
    is_used: bool  # whether it occurs in the concept
    without: float  # misalignment of the concept with this input held at its median
    network_share: float  # its share of the energy of the network's directions, in scaled inputs
    low: float | None = None  # its range on the points that judge; None in older files
    median: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Faithfulness:
    """Outputs with the neuron replaced, compared with those of the network as it is."""

    explained: float
    """1 if phi(concept) leaves the outputs as they are, 0 if it does as much harm as the neuron's
    mean in its place."""
    change: float  # root mean square change of the outputs, relative to their spread
    change_by_mean: float
    """The same with the neuron's mean in its place: how much the neuron matters at all."""
    n_points: int


@dataclass(frozen=True, slots=True)
class HypothesisResult:
    """What became of a formula that the user had in mind."""

    expression: Expression
    status: str
    """'proved', 'numerical', 'within errors' or 'different': whether the concept is the same."""
    reason: str
    misalignment: float  # of the hypothesis itself, on held-out points


@dataclass(frozen=True, slots=True)
class Directions:
    """Directions at some points of two inputs, for a picture."""

    points: tuple[tuple[float, float], ...]
    network: tuple[tuple[float, float], ...]
    concept: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, repr=False)
class FrontEntry:
    """A formula on the front."""

    expression: Expression  #: in canonical form
    complexity: int  #: of the expression
    misalignment: float  #: on held-out points
    low: float  #: lower end of its 95% interval, from how far regions of the data differ
    high: float  #: upper end
    regional: float
    """What the choice compared: mean over regions, each judged with constants fitted without it."""
    errors: tuple[float, ...] = ()
    """Standard errors of the free constants, in the order in which they are written."""
    engine: str = ""  #: which engine found it
    angles: tuple[float, ...] = ()
    """Degrees between its gradient and the network's at some held-out points."""
    phi: Phi | None = None  #: between it and the latent
    weight: float = 0.0  #: its share of what is known, on unseen points

    def __repr__(self) -> str:
        formula = formula_text(self.expression, self.errors)
        return (
            f"<FrontEntry: {formula}, complexity {self.complexity}, misalignment "
            f"{self.misalignment:.2e}>"
        )


@dataclass(frozen=True, slots=True)
class Provenance:
    """How the answer came about, and how to get it again."""

    engine: str  #: that searched
    seconds: float  #: after compilation
    evaluations: int  #: of formulas
    status: str  #: why the search ended; 'time' means that a faster machine may find more
    seed: int  #: of points and search
    budget: str  #: in words
    rule: str  #: how the choice was made
    title: str = ""  #: what was read
    structure: tuple[str, ...] = ()  #: what the search saw of the field's structure
    versions: Mapping[str, str] = field(default_factory=dict)  #: of the packages that compute
    command: str = ""  #: that was run, on the command line
    tolerances: Mapping[str, float] = field(default_factory=dict)
    """The numbers that decided, as ``field.LEAST_GAP``; empty in older files."""
    neuron: tuple[str, ...] = ()
    """What was read, as text that `closedform.interpret` takes; empty for a field, a direction or a
    function."""
    notes: tuple[str, ...] = ()  #: what was decided when the network's gradients were taken
