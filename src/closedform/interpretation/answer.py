"""Interpretation: the concept that was read from a network, with the evidence for it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closedform.arrays import FloatArray
from closedform.basics.keywords import checked_keywords
from closedform.expressions.expression import Expression
from closedform.expressions.legality import unit_of, units_sentences
from closedform.expressions.units import Units, unit_latex
from closedform.field.findings import Quality
from closedform.interpretation.abilities import perform
from closedform.interpretation.answer_text import (
    FrontTable,
    brief,
    errors_of,
    explanation,
    next_steps,
)
from closedform.interpretation.digits import rounded_formula
from closedform.interpretation.evidence import (
    Alignment,
    ConstantEstimate,
    Directions,
    Faithfulness,
    FrontEntry,
    HypothesisResult,
    InputNeed,
    Misfit,
    Phi,
    Provenance,
    Rival,
)
from closedform.interpretation.prediction import predicted
from closedform.interpretation.several import (
    JointEvidence,
    NetworkReading,
    SeedAgreement,
    agreement,
)
from closedform.interpretation.verdict import Verdict
from closedform.searching.engine import Decomposition

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from closedform.canonical.same_concept import Equivalence


@dataclass(frozen=True, slots=True, repr=False)
class Interpretation:
    """The concept that a neuron encodes, and the evidence for it.

    Make one with `closedform.interpret` or `closedform.interpret_field`.

    Attributes
    ----------
    names : tuple of str
        The inputs.
    concept : Expression or None
        The chosen formula, whatever the verdict; None if the search found nothing. For several
        latents the simplest.
    concepts : tuple of Expression
        All that were read; more than one only for several latents.
    verdict : Verdict
        For several latents the joint verdict; each concept's own is in `parts`.
    confidence : float or None
        How likely the concept is the truth, in form: the weight of the evidence for it among all
        that was thought of, with a share kept for what was not. None where nothing was judged.
    front : tuple of FrontEntry
        The best formula at each complexity, simplest first. For several latents this and the
        evidence below are empty; see `parts`.
    chosen, steepest_drop : int or None
        Places on the front: the concept's, and that of the paper's rule.
    choice_reason : str
    floor : float
        The lowest misalignment on the front.
    alignment : Alignment or None
        Of the concept on held-out points.
    phi : Phi or None
    rivals : tuple of Rival
        Other formulas that fit nearly as well, starting with the alternatives.
    fit : Misfit or None
        The misalignment in its parts: noise, and what neighbours share.
    constants : tuple of ConstantEstimate
        Every constant that a fit may move, in the order in which they are written, with its
        standard error; plain numbers such as 2 or 3/4 have one too.
    inputs : tuple of InputNeed
    faithfulness : Faithfulness or None
    hypothesis : HypothesisResult or None
    directions : Directions or None
    structure : Decomposition or None
        Which inputs enter through which combination, how sure that is, and as ``structure.text`` in
        words.
    field_quality : Quality
    provenance : Provenance
    parts : tuple of Interpretation
        For several latents one for each concept, modulo the others, each with its own front and
        evidence.
    together : JointEvidence or None
        For several latents, how the concepts explain them.
    networks : tuple of NetworkReading
        For several networks, what each says about the common concepts.
    units : Units or None
        Those of the inputs, where they were stated.
    seeds : SeedAgreement or None
        How many seeds lead to this formula, where several were asked for.
    origin : object
        What `extend` continues from; not saved.
    """

    names: tuple[str, ...]
    verdict: Verdict
    field_quality: Quality
    provenance: Provenance
    concept: Expression | None = None
    concepts: tuple[Expression, ...] = ()
    confidence: float | None = None
    front: tuple[FrontEntry, ...] = ()
    chosen: int | None = None
    steepest_drop: int | None = None
    choice_reason: str = ""
    floor: float = 1.0
    alignment: Alignment | None = None
    phi: Phi | None = None
    rivals: tuple[Rival, ...] = ()
    fit: Misfit | None = None
    constants: tuple[ConstantEstimate, ...] = ()
    inputs: tuple[InputNeed, ...] = ()
    faithfulness: Faithfulness | None = None
    hypothesis: HypothesisResult | None = None
    directions: Directions | None = None
    structure: Decomposition | None = None
    parts: tuple["Interpretation", ...] = ()
    together: JointEvidence | None = None
    networks: tuple[NetworkReading, ...] = ()
    units: Units | None = None
    seeds: SeedAgreement | None = None
    origin: Any = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "front", FrontTable.of(self.front, self.units))

    @property
    def full(self) -> str:
        """The concepts with all digits of their constants, one per line."""
        return "\n".join(map(str, self.formulas))

    def latex(self) -> str:
        """The concepts as LaTeX source, one per line, with their units where these are known.

        Constants have as many digits as their errors justify; ``answer.concept.latex()`` has all
        digits.
        """
        lines = []
        for formula in self.formulas:
            unit = None if self.units is None else unit_of(formula, self.units)
            tail = "" if unit is None else rf" \quad \left[{unit_latex(unit)}\right]"
            lines.append(rounded_formula(formula, errors_of(self, formula)).latex() + tail)
        return "\n".join(lines)

    @property
    def next_steps(self) -> tuple[str, ...]:
        """What to try where nothing is verified, most promising first."""
        return next_steps(self)

    @property
    def formulas(self) -> tuple[Expression, ...]:
        """The concept, or the concepts; none if there is none."""
        return self.concepts or (() if self.concept is None else (self.concept,))

    @property
    def agreement(self) -> str:
        """What several networks agree on, in a sentence; empty for one."""
        return agreement(self.networks)

    @property
    def alternatives(self) -> tuple[Expression, ...]:
        """Other forms that fit as well as anything found; the truth may be none of them."""
        return self.verdict.alternatives

    @property
    def unit_notes(self) -> tuple[str, ...]:
        """The unit of the concept and of its constants, in words; empty without stated units."""
        if self.units is None or self.concept is None:
            return ()
        return units_sentences(self.concept, self.units)

    @property
    def entry(self) -> FrontEntry | None:
        """The concept's place on the front."""
        return None if self.chosen is None else self.front[self.chosen]

    def save(self, path: str | Path) -> None:
        """Write everything as JSON; `closedform.load_interpretation` reads it."""
        from closedform.interpretation.storage import save_interpretation

        save_interpretation(self, path)

    def predict(self, points: Any) -> FloatArray:
        """The latent's values by the formula: phi(concept), with phi constant beyond the data.

        Where a note of `provenance` says that the value before a squashing function was taken, it
        is that value.

        Parameters
        ----------
        points : array_like or table, shape (n_points, n_inputs)
            A table's columns are taken by their names.

        Returns
        -------
        ndarray, shape (n_points,)

        Raises
        ------
        ConceptError
            If there is no formula, or no phi: without the latent's values, or for several latents.

        Examples
        --------
        >>> import closedform as cf, numpy as np
        >>> points = np.random.default_rng(0).uniform(1, 2, (400, 2))
        >>> answer = cf.interpret(lambda p: np.exp(p[:, 0] * p[:, 1]), points, budget=5.0, rng=0)
        >>> bool(abs(answer.predict([[1.5, 1.5]])[0] - np.exp(2.25)) < 0.3)
        True
        """
        return predicted(self, points)

    def same_as(self, formula: str | Expression, *, points: Any = None) -> "Equivalence":
        """Whether a formula of yours is the concept, or one of the concepts, on the data.

        Constants may differ by up to 3 of their standard errors; the status is then
        ``within errors``, and the reason tells by how many.

        Parameters
        ----------
        formula : str or Expression
            Of the answer's inputs.
        points : array_like, shape (n_points, n_inputs), optional
            Where to compare; needed for an answer that was loaded.

        Returns
        -------
        Equivalence
            True in a boolean context if they are the same.

        Raises
        ------
        DomainError
            If the answer does not hold its data, and no points are given.
        ConceptError
            If there is no formula to compare with.

        Examples
        --------
        >>> import closedform as cf, numpy as np
        >>> points = np.random.default_rng(0).uniform(1, 2, (400, 2))
        >>> answer = cf.interpret(lambda p: np.exp(p[:, 0] * p[:, 1]), points, budget=5.0, rng=0)
        >>> answer.same_as("log(x0) + log(x1)").status
        'proved'
        """
        return perform("same_as", self, formula, points=points)

    def extend(self, budget: Any, **keywords: Any) -> "Interpretation":
        """Continue the search: a new answer, with the seconds and evaluations of both.

        Parameters
        ----------
        budget : float or Budget
            For the further search and its verdict.
        **keywords
            ``field``, for an answer that was loaded; see `closedform.reading.one_field.extend`.
        """
        return perform("extend", self, budget, **keywords)

    def symmetries(self, **keywords: Any) -> Any:
        """The affine motions of the inputs that the neuron does not see; see
        `closedform.symmetries`.

        Parameters
        ----------
        **keywords
            ``groups``, ``stated`` and ``rng`` as there, and ``field`` for an answer that was
            loaded.
        """
        return perform("symmetries", self, **keywords)

    def report(self, path: str | Path, *, symmetries: Any = None) -> None:
        """Write one self-contained HTML page; with what `symmetries` found, if it is given."""
        perform("report", self, path, symmetries=symmetries)

    def plot_front(self, ax: "Axes | None" = None) -> "Axes":
        """The front as bars, with the choice marked."""
        return perform("plot_front", self, ax=ax)

    def plot_phi(self, ax: "Axes | None" = None) -> "Axes":
        """Latent against concept, with the fitted phi."""
        return perform("plot_phi", self, ax=ax)

    def plot_angles(self, ax: "Axes | None" = None) -> "Axes":
        """Histogram of the angles between the concept's gradient and the network's."""
        return perform("plot_angles", self, ax=ax)

    def plot_directions(self, ax: "Axes | None" = None) -> "Axes":
        """Both direction fields, for two inputs."""
        return perform("plot_directions", self, ax=ax)

    def plot_importance(self, ax: "Axes | None" = None) -> "Axes":
        """What leaving each input out costs."""
        return perform("plot_importance", self, ax=ax)

    def plot_coefficients(self, ax: "Axes | None" = None) -> "Axes":
        """The fitted constants with their intervals."""
        return perform("plot_coefficients", self, ax=ax)

    @checked_keywords
    def replace_in(
        self,
        model: Any,
        inputs: Any = None,
        *,
        neuron: Any = None,
        targets: Any = None,
        phi: str = "auto",
        trainable: str = "fitted",
        points_of: Callable[..., Any] | None = None,
    ) -> Any:
        """A copy of the network with phi(formula) in place of the neurons that were read.

        Parameters
        ----------
        model : torch.nn.Module, or a JAX network
            It stays as it is.
        inputs : array or tensor, optional
            Points of the network's data: phi is fitted on half of them to the neurons' own values,
            and the cost is measured on the others. Without them phi comes from the values that the
            answer has kept, and no cost is measured.
        neuron : optional
            As in `closedform.interpret`; by default what the answer was read from.
        targets : array, optional
            What the network should give at `inputs`: its score before and after is then in the
            cost. Whole numbers are classes.
        phi : {'auto', 'spline', 'formula'}
            A monotone spline, a simple formula, or the formula unless the spline halves the squared
            error. Several latents get polynomials of the concepts.
        trainable : {'fitted', 'all'}
            Which numbers of the concepts are parameters: the fitted ones, or all but exponents.
        points_of : callable, optional
            From the network's arguments to the formula's inputs, (n_points, n_inputs); by default
            the first argument, flat.

        Returns
        -------
        torch.nn.Module
            With ``cost``, ``formulas`` (with the numbers as they are now), ``latents`` and
            ``network``. ``state_dict`` saves it, and `torch.export` exports it. For JAX a function
            ``copy(parameters, inputs)`` with the attributes ``parameters`` and ``cost``.

        Raises
        ------
        ReplacementError
            If the answer has no formula, or does not say what it was read from.

        Examples
        --------
        >>> import closedform as cf, numpy as np, torch
        >>> _ = torch.manual_seed(0)
        >>> network = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Tanh())
        >>> points = np.random.default_rng(0).uniform(-1, 1, (400, 2)).astype(np.float32)
        >>> answer = cf.interpret(network, points, "0:0", names=["x", "v"], budget=5.0, rng=0)
        >>> copy = answer.replace_in(network, points)
        >>> copy.cost.latent_r2 > 0.9999
        True
        """
        options = {"neuron": neuron, "targets": targets, "phi": phi, "trainable": trainable}
        return perform("replace_in", self, model, inputs, points_of=points_of, **options)

    def _repr_html_(self) -> str:
        return perform("notebook", self)

    def __repr__(self) -> str:
        formulas = ", ".join(repr(str(formula)) for formula in self.formulas)
        return f"<Interpretation: {formulas or 'no formula'}, {self.verdict.status}>"

    def __str__(self) -> str:
        """The formula, the verdict, three numbers and the next step: eight lines at most for one
        concept.
        """
        return brief(self)

    def explain(self) -> str:
        """Everything that the verdict rests on, in sentences."""
        return explanation(self)
