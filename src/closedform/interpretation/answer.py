"""Interpretation: the concept that was read from a network, with the evidence for it.

Report, plots and further searches belong to higher rooms, which the answer does not know: they put
their functions into a table here when they are imported, and the answer's methods look there.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from closedform.arrays import FloatArray
from closedform.basics.keywords import checked_keywords
from closedform.errors import ClosedformError
from closedform.expressions.expression import Expression
from closedform.expressions.json_files import JsonFormat
from closedform.expressions.legality import unit_of
from closedform.expressions.printing import check_names
from closedform.expressions.units import unit_latex
from closedform.interpretation.answer_data import AnswerData, predicted
from closedform.interpretation.answer_text import (
    FrontTable,
    brief,
    errors_of,
    explanation,
    next_steps,
)
from closedform.interpretation.digits import rounded_formula

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from closedform.canonical.same_concept import Equivalence

F = TypeVar("F", bound=Callable[..., Any])

_ABILITIES: dict[str, Callable[..., Any]] = {}


class AbilityError(ClosedformError, RuntimeError):
    """The room that would do what is asked for has not been imported."""


def ability(name: str) -> Callable[[F], F]:
    """Register a function under the name of the answer's method that calls it."""

    def register(function: F) -> F:
        _ABILITIES[name] = function
        return function

    return register


def perform(name: str, *arguments: Any, **keywords: Any) -> Any:
    """Call what is registered under a name."""
    if name not in _ABILITIES:
        raise AbilityError(
            f"answer.{name} needs a module that is not imported yet; run: import "
            "closedform.reading.one_field, closedform.reading.replacing, closedform.report."
        )
    return _ABILITIES[name](*arguments, **keywords)


FORMAT = JsonFormat("closedform interpretation", schema=5, written_by="Interpretation.save")
"""The first schema had no parts and no networks, and the others before the fifth had no required
checks, no alternatives, or no confidence."""


@dataclass(frozen=True, slots=True, repr=False)
class Interpretation(AnswerData):
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

    def save(self, path: str | Path) -> None:
        """Write everything as JSON; `closedform.load_interpretation` reads it."""
        FORMAT.write(_plain(self), path)

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
        """Continue the search: a new answer, or this one where it has the better verdict, with the
        seconds and evaluations of both.

        Parameters
        ----------
        budget : float or Budget
            For the further search and its verdict.
        **keywords
            ``field``, for an answer that was loaded.
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


@checked_keywords
def load_interpretation(path: str | Path) -> Interpretation:
    """Read an interpretation that `Interpretation.save` wrote; any other file is a StorageError."""
    return FORMAT.load(path, _structured)


def _plain(answer: Interpretation) -> dict[str, Any]:
    """As dictionaries and lists; parts are interpretations themselves."""
    content = FORMAT.plain(replace(answer, parts=(), origin=None))
    del content["origin"]
    return {**content, "parts": [_plain(part) for part in answer.parts]}


def _structured(content: dict[str, Any]) -> Interpretation:
    """What `_plain` was made from, refused if it could not be shown."""
    parts = tuple(_structured(part) for part in content.pop("parts", ()))
    found = FORMAT.structured(content, Interpretation)
    check_names(found.names)
    for place in (found.chosen, found.steepest_drop):
        if place is not None and not 0 <= place < len(found.front):
            raise ValueError(f"it chooses entry {place} of {len(found.front)}")
    if not all(isfinite(value) for value in (found.floor, *(e.misalignment for e in found.front))):
        raise ValueError("a misalignment is not finite")
    drawn = found.directions
    if drawn is not None:
        sizes = {len(drawn.points), len(drawn.network), len(drawn.concept)}
        if len(found.names) != 2 or len(sizes) > 1:
            raise ValueError("its directions are not those of two inputs")
    complexities = [entry.complexity for entry in found.front]
    if complexities != sorted(complexities):
        raise ValueError("its front is not in order of complexity")
    if found.alignment is not None and not found.alignment.angles:
        raise ValueError("its alignment has no angles")
    for need in found.inputs:
        if len({bound is None for bound in (need.low, need.median, need.high)}) > 1:
            raise ValueError(f"the range of {need.name} is not whole")
    # Before the third schema the whole carried the front and the evidence of its first concept.
    nothing: dict[str, Any] = dict.fromkeys(("front", "rivals", "constants", "inputs"), ())
    nothing |= dict.fromkeys(("chosen", "steepest_drop", "alignment", "phi", "fit", "directions"))
    return replace(found, parts=parts, choice_reason="", floor=1.0, **nothing) if parts else found
