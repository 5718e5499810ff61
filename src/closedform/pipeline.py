"""The whole way: network, field, search, choice, verdict. The only file that chains all stages.

It is not called interpret.py, for a module of that name would hide the function `closedform.interpret`.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from closedform.alignment.refit import refit
from closedform.alignment.scores import field_misalignment
from closedform.canonical.form import canonical_form
from closedform.concept_reading import Request, read_concept, without_evidence
from closedform.errors import ShapeError
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.field.gradient_field import GradientField
from closedform.field.tangent import StatedConstraint, TangentSpace
from closedform.interpretation import Interpretation, Provenance
from closedform.networks.extract import extract_field
from closedform.networks.intervention import run_with
from closedform.progress import Progress, Silent
from closedform.provenance import budget_in_words, seed_of, versions
from closedform.search.budget import Budget
from closedform.search.compilation import compile_engines
from closedform.search.engine import Engine
from closedform.search.registry import get_engine
from closedform.search.space import SearchSpace
from closedform.selection.choice import Rule, check_rule
from closedform.several_concepts import read_concepts
from closedform.several_networks import common_field, judge_networks
from closedform.stages import MOST_HELD_OUT, Stages
from closedform.threads import single_threaded
from closedform.verification.faithfulness import compare_outputs
from closedform.verification.hypothesis import checked_hypothesis
from closedform.verification.phi import phi_between
from closedform.verification.verdict import Thresholds, nothing_found, undecidable


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
    """Read the closed-form concept that a neuron encodes, or the concepts of several.

    Parameters
    ----------
    model
        As in `closedform.extract_field`, or a list of networks that were trained for the same thing: what they have in common
        is read, and judged on each of them.
    neuron
        As in `closedform.extract_field`: a list is several latents of one network. For several networks it holds for each, or
        is a list of such lists, one for each network.
    inputs, names, tangent, constraints
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
    seed = seed_of(rng)
    own = {name: options.pop(name) for name in list(options) if name in _FIELD_OPTIONS}
    options |= {"names": names, "tangent": tangent, "constraints": constraints, "rng": seed}
    if isinstance(model, list | tuple):
        neurons = _neuron_of_each(neuron, len(model))
        fields = [extract_field(one, inputs, which, **options) for one, which in zip(model, neurons, strict=True)]
        return interpret_fields(fields, engine=engine, budget=budget, rng=seed, **own)
    field = extract_field(model, inputs, neuron, **options)
    own.setdefault("title", f"Neuron {neuron}" if isinstance(neuron, str) else "")
    found = interpret_field(field, engine=engine, budget=budget, rng=seed, **own)
    # With any of these the field's points are not what the network takes.
    if any(options.get(name) is not None for name in ("transform", "wrt", "fixed", "prepare", "batched")):
        return found
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
    """Read the closed-form concept of a gradient field, or one after another those of a field of several latents.

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

    Raises
    ------
    ExpressionError
        If the hypothesis is not a formula of the inputs, or finite at no point; before the search.
    ChoiceError
        If there is no such rule, before the search; or if nothing is as simple as the rule asks.
    """
    seed = seed_of(rng)
    limits = budget if isinstance(budget, Budget) else Budget(seconds=budget)
    stages = Stages(
        field=field,
        engine=get_engine(engine),
        space=SearchSpace() if space is None else space,
        rule=rule,
        rng=np.random.default_rng(seed),
        progress=Silent() if progress is None else progress,
    )
    guess = checked_hypothesis(hypothesis, field)
    check_rule(rule)
    compile_all()
    clock = limits.start()
    provenance = Provenance(
        engine=stages.engine.name,
        seconds=0.0,
        evaluations=0,
        status="finished",
        seed=seed,
        budget=budget_in_words(limits),
        rule=str(rule),
        title=title,
        versions=versions(),
        command=command,
    )
    if field.rank >= field.tangent.rank:
        return without_evidence(field, undecidable(field.rank, field.tangent.rank), provenance)
    n_usable = int((field.weights > 0).sum())
    if n_usable < 2:
        few = "No point" if n_usable == 0 else "Only one point"
        said = f"{few} of the field has a usable direction."
        return without_evidence(field, nothing_found(said), provenance)
    request = Request(limits, provenance, guess, thresholds)
    return read_concept(stages, request, clock) if field.rank == 1 else read_concepts(stages, request, clock)


def interpret_fields(
    fields: Sequence[GradientField],
    *,
    network_names: Sequence[str] | None = None,
    rng: int | np.random.Generator | None = None,
    thresholds: Thresholds | None = None,
    **options: Any,
) -> Interpretation:
    """Read what the fields of several networks have in common, and judge it on each of them.

    Parameters
    ----------
    fields : sequence of GradientField
        Of the same inputs. At points that all share the directions are averaged, which lowers noise and bias.
    network_names : sequence of str, optional
        For tables; 'network 1' and so on by default.
    rng, thresholds, **options
        As in `closedform.interpret_field`.

    Returns
    -------
    Interpretation
        `networks` has the verdict and the constants of each network, and `agreement` says what they agree on.

    Raises
    ------
    ShapeError
        If there are not as many names as networks, or their inputs differ; before the search.

    Examples
    --------
    >>> import closedform as cf
    >>> points = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    >>> fields = [
    ...     cf.GradientField.from_arrays(points, points * [1, 2 + error] + error * points[:, ::-1], names=["x", "v"])
    ...     for error in (-0.1, 0.1)
    ... ]
    >>> found = cf.interpret_fields(fields, engine="terms", budget=cf.Budget(evaluations=500), rng=0)
    >>> print(found.concept)
    2*v**2 + x**2
    """
    seed = seed_of(rng)
    labels = [f"network {number}" for number in range(1, len(fields) + 1)] if network_names is None else network_names
    if len(labels) != len(fields):
        raise ShapeError(f"There are {len(labels)} names for {len(fields)} networks; pass one for each.")
    found = interpret_field(common_field(fields), rng=seed, thresholds=thresholds, **options)
    generator = np.random.default_rng([seed, len(fields)])
    return replace(found, networks=judge_networks(found, fields, labels, generator, thresholds))


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


def _neuron_of_each(neuron: Any, count: int) -> list[Any]:
    """The neurons to read in each network."""
    if isinstance(neuron, list) and len(neuron) == count and all(isinstance(one, list) for one in neuron):
        return neuron
    return [neuron] * count


_FIELD_OPTIONS = ("space", "rule", "hypothesis", "thresholds", "progress", "title", "command")
