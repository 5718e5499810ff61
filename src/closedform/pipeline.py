"""The whole way: network, field, search, choice, verdict. The only file that chains all stages.

It is not called interpret.py, for a module of that name would hide the function `closedform.interpret`.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from closedform._version import __version__
from closedform.alignment.refit import refit
from closedform.alignment.scores import field_misalignment
from closedform.canonical.form import canonical_form
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.field.gradient_field import GradientField
from closedform.field.tangent import StatedConstraint, TangentSpace
from closedform.interpretation import Directions, HypothesisResult, Interpretation, Provenance
from closedform.networks.extract import extract_field
from closedform.networks.intervention import run_with
from closedform.progress import Progress, Silent
from closedform.search.budget import Budget, Clock
from closedform.search.compilation import compile_engines
from closedform.search.engine import Engine
from closedform.search.registry import get_engine
from closedform.search.space import SearchSpace
from closedform.selection.choice import Rule
from closedform.selection.regions import divide
from closedform.stages import MOST_HELD_OUT, SEARCH_SHARE, Stages
from closedform.threads import single_threaded
from closedform.verification.alignment import measure_alignment
from closedform.verification.faithfulness import compare_outputs
from closedform.verification.gain import next_simpler
from closedform.verification.inputs import leave_one_out
from closedform.verification.phi import even_forms, fit_phi, phi_between
from closedform.verification.rivals import find_rivals
from closedform.verification.verdict import Evidence, Thresholds, judge, nothing_found, undecidable

N_ARROWS = 150


def interpret(
    model: Any,
    inputs: Any,
    neuron: Any,
    *,
    names: Sequence[str] | None = None,
    tangent: str | TangentSpace = "auto",
    constraints: Sequence[StatedConstraint] = (),
    engine: str | Engine = "auto",
    budget: float | Budget = 60.0,
    rng: int | np.random.Generator | None = None,
    **options: Any,
) -> Interpretation:
    """Read the closed-form concept that a neuron encodes.

    Parameters
    ----------
    model, inputs, neuron, names, tangent, constraints
        As in `closedform.extract_field`.
    engine, budget, rng
        As in `closedform.interpret_field`.
    **options
        Further options of either.

    Returns
    -------
    Interpretation

    Examples
    --------
    >>> import closedform as cf
    >>> points = np.random.default_rng(0).uniform(-1, 1, (400, 2))
    >>> network = lambda x: np.tanh(x[:, 0] ** 2 + 2 * x[:, 1])
    >>> print(cf.interpret(network, points, 0, names=["x", "v"], budget=cf.Budget(evaluations=20000), rng=0).concept)
    2*v + x**2
    """
    seed = _seed(rng)
    own = {name: options.pop(name) for name in list(options) if name in _FIELD_OPTIONS}
    field = extract_field(model, inputs, neuron, names=names, tangent=tangent, constraints=constraints, rng=seed, **options)
    own.setdefault("title", f"Neuron {neuron}" if isinstance(neuron, str) else "")
    found = interpret_field(field, engine=engine, budget=budget, rng=seed, **own)
    return _with_faithfulness(found, model, neuron, field)


@single_threaded
def interpret_field(
    field: GradientField,
    *,
    engine: str | Engine = "auto",
    budget: float | Budget = 60.0,
    rng: int | np.random.Generator | None = None,
    space: SearchSpace | None = None,
    rule: Rule = "factor",
    hypothesis: str | Expression | None = None,
    thresholds: Thresholds | None = None,
    progress: Progress | None = None,
    title: str = "",
    command: str = "",
) -> Interpretation:
    """Read the closed-form concept of a gradient field.

    Parameters
    ----------
    field : GradientField
    engine : str or Engine
        'auto', 'terms', 'evolution', or another.
    budget : float or Budget
        Seconds for the whole call after compilation, or a `closedform.Budget`; one of evaluations gives the same answer for
        the same seed, bit for bit.
    rng : int, Generator or None
        Seed; it is recorded in the answer.
    space : SearchSpace, optional
        What is known about the formula.
    rule : {'factor', 'steepest_drop', 'accuracy'} or int
        How the concept is chosen from the front; see `closedform.selection.choice.choose`.
    hypothesis : str or Expression, optional
        A formula to compare the concept with; search and choice do not see it.
    thresholds : Thresholds, optional
        Where the verdict's lines are.
    progress : Progress, optional
        Whom to tell; nobody by default.
    title, command : str
        What was read, and the command that did it, for the report.

    Returns
    -------
    Interpretation
    """
    seed = _seed(rng)
    limits = budget if isinstance(budget, Budget) else Budget(seconds=budget)
    stages = Stages(
        field=field,
        engine=get_engine(engine),
        space=SearchSpace() if space is None else space,
        rule=rule,
        rng=np.random.default_rng(seed),
        progress=Silent() if progress is None else progress,
    )
    guess = parse(hypothesis, names=list(field.names)) if isinstance(hypothesis, str) else hypothesis
    compile_all()
    clock = limits.start()
    provenance = Provenance(
        engine=stages.engine.name,
        seconds=0.0,
        evaluations=0,
        status="finished",
        seed=seed,
        budget=_words(limits),
        rule=str(rule),
        title=title,
        versions=_versions(),
        command=command,
    )
    if field.rank >= field.tangent.rank:
        return _without_evidence(field, undecidable(field.rank, field.tangent.rank), provenance)
    if not (field.weights > 0).any():
        return _without_evidence(field, nothing_found("No point of the field has a usable direction."), provenance)
    return _run(stages, limits, clock, provenance, guess, thresholds)


def _run(
    stages: Stages,
    limits: Budget,
    clock: Clock,
    provenance: Provenance,
    hypothesis: Expression | None,
    thresholds: Thresholds | None,
) -> Interpretation:
    seen, held = stages.split()
    reading = stages.read(seen, limits.share(SEARCH_SHARE), stages.rule)
    chosen, choice = reading.chosen, reading.choice
    provenance = replace(
        provenance,
        status=reading.result.status,
        evaluations=int(reading.result.statistics.get("evaluations", 0)),
        structure=tuple(reading.result.statistics.get("structure", ())),
    )
    if chosen is None or choice is None:
        said = "The search found no formula; widen the space or give it more time."
        return _without_evidence(stages.field, nothing_found(said), replace(provenance, seconds=clock.seconds))
    concept = even_forms(chosen.expression, seen)
    interrupted = reading.result.status == "interrupted"
    halves = None if interrupted else stages.halves(seen, limits, clock, reading, concept, held)
    labels = divide(held, stages.rng)
    entries, index, drop = stages.entries(reading, choice, concept, held, labels)
    alignment = measure_alignment(concept, held, labels, stages.rng)
    rivals = find_rivals(
        concept, [(e.expression, e.complexity) for i, e in enumerate(entries) if i != index], held, labels, stages.rng
    )
    half = entries[index].complexity / 2
    evidence = Evidence(
        concept=concept,
        complexity=entries[index].complexity,
        alignment=alignment,
        phi=fit_phi(concept, held),
        stability=halves,
        simpler=tuple(entry.misalignment for entry in entries if entry.complexity <= half),
        next_simpler=next_simpler(
            concept, entries[index].complexity, [(e.expression, e.complexity, e.misalignment) for e in entries], held
        ),
        rivals=rivals,
    )
    return Interpretation(
        names=stages.field.names,
        concept=concept,
        concepts=(concept,),
        verdict=judge(evidence, thresholds),
        front=tuple(entries),
        chosen=index,
        steepest_drop=drop,
        choice_reason=choice.reason,
        floor=min(entry.misalignment for entry in entries),
        alignment=alignment,
        phi=evidence.phi,
        rivals=rivals,
        stability=halves,
        inputs=leave_one_out(concept, held),
        faithfulness=None,
        hypothesis=None if hypothesis is None else compare_hypothesis(concept, hypothesis, held),
        directions=_directions(concept, held),
        field_quality=stages.field.quality,
        provenance=replace(provenance, seconds=clock.seconds),
    )


def compare_hypothesis(concept: Expression, hypothesis: Expression, held: GradientField) -> HypothesisResult:
    """Compare the concept with a formula that the user has in mind, on the data."""
    from closedform.equivalence.same_concept import same_concept  # brings SymPy

    answer = same_concept(str(concept), str(hypothesis), list(held.names), points=held.points)
    values = field_misalignment(hypothesis, held)
    return HypothesisResult(hypothesis, answer.status, answer.reason, float(np.average(values, weights=held.weights)))


@cache
def compile_all() -> None:
    """Compile and load what the stages use, so that a budget of seconds is spent on the work."""
    compile_engines()
    points = np.random.default_rng(0).uniform(-1, 1, (8, 2))
    field = GradientField.from_arrays(points, points, tangent="none")
    form = canonical_form(parse("x0**2 + 0.7*x1**2", names=["x0", "x1"]), points)
    refit([form], field, iterations=1)
    form.gradient(points)
    field_misalignment(form, field)


def _with_faithfulness(found: Interpretation, model: Any, neuron: Any, field: GradientField) -> Interpretation:
    """Put phi(concept) in the neuron's place, where the network is at hand.

    The field may hold the value before a squashing function, so phi is fitted to the neuron's own values on every second point,
    and the outputs are compared on the others.
    """
    points = field.points[field.weights > 0][:MOST_HELD_OUT]
    fitted, others = points[::2], points[1::2]
    own = None if found.concept is None or field.rank > 1 else run_with(model, fitted, neuron, None)
    phi = None if found.concept is None or own is None else phi_between(found.concept(fitted), own.values)
    if found.concept is None or own is None or phi is None:
        return found
    replacements = (None, phi(found.concept(others)), np.full(len(others), own.values.mean()))
    passes = [run_with(model, others, neuron, values) for values in replacements]
    original, by_concept, by_mean = (None if one is None else one.outputs for one in passes)
    if original is None or by_concept is None or by_mean is None:
        return found
    return replace(found, faithfulness=compare_outputs(original, by_concept, by_mean))


def _without_evidence(field: GradientField, verdict: Any, provenance: Provenance) -> Interpretation:
    return Interpretation(
        names=field.names, concept=None, concepts=(), verdict=verdict, front=(), chosen=None, steepest_drop=None,
        choice_reason="", floor=1.0, alignment=None, phi=None, rivals=(), stability=None, inputs=(), faithfulness=None,
        hypothesis=None, directions=None, field_quality=field.quality, provenance=provenance,
    )  # fmt: skip


def _directions(concept: Expression, held: GradientField) -> Directions | None:
    if len(held.names) != 2 or held.rank != 1:
        return None
    points = held.points[:N_ARROWS]
    with np.errstate(all="ignore"):
        gradients = concept.gradient(points)
        units = np.nan_to_num(gradients / np.linalg.norm(gradients, axis=1, keepdims=True))
    pairs = [tuple((float(a), float(b)) for a, b in array) for array in (points, held.directions[:N_ARROWS, :, 0], units)]
    return Directions(*pairs)


def _seed(rng: int | np.random.Generator | None) -> int:
    if isinstance(rng, int):
        return rng
    generator = np.random.default_rng() if rng is None else rng
    return int(generator.integers(2**31))


def _words(budget: Budget) -> str:
    parts = [f"{budget.seconds:g} s"] if budget.seconds is not None else []
    parts += [f"{budget.evaluations} evaluations"] if budget.evaluations is not None else []
    return " or ".join(parts)


def _versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version
    from platform import python_version

    found = {"closedform": __version__, "python": python_version()}
    for name in ("numpy", "numba", "sympy", "pyoperon"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


_FIELD_OPTIONS = ("space", "rule", "hypothesis", "thresholds", "progress", "title", "command")
