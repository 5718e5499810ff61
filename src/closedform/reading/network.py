"""From a network to an answer: extract its field, read it, put the formula back, see the cost."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from closedform.basics.keywords import KeywordError, checked_keywords
from closedform.basics.progress import ProgressLike
from closedform.basics.randomness import Randomness, as_seed
from closedform.expressions.expression import Expression
from closedform.expressions.parse import parse
from closedform.expressions.sites import GroupsLike
from closedform.expressions.units import UnitsLike, as_units
from closedform.field.gradient_field import GradientField
from closedform.field.tangent import StatedConstraint
from closedform.field.tangent_space import TangentSpace
from closedform.interpretation.answer import Interpretation
from closedform.judge.checks import Check
from closedform.judge.phi import compare_outputs, phi_between
from closedform.judge.rules import RuleLike
from closedform.judge.thresholds import Thresholds
from closedform.networks.extract import extract_field, run_with
from closedform.networks.neuron import parse_neuron
from closedform.networks.options import OptionKeywords, Options
from closedform.networks.tolerances import MAX_POINTS
from closedform.reading.one_field import interpret_field
from closedform.reading.settings import Settings, check_seeds
from closedform.reading.several_networks import interpret_fields
from closedform.searching.budget import Budget, Clock, as_budget
from closedform.searching.engine import Engine
from closedform.searching.search_stage import MOST_HELD_OUT
from closedform.searching.space import SearchSpace


@checked_keywords
def interpret(
    model: Any,
    inputs: Any,
    neuron: Any = None,
    *,
    names: Sequence[str] | None = None,
    tangent: str | TangentSpace = "auto",
    constraints: Sequence[StatedConstraint] = (),
    engine: str | Engine = "auto",
    budget: float | Budget = 60.0,
    rng: Randomness = None,
    space: SearchSpace | None = None,
    rule: RuleLike = "evidence",
    hypothesis: str | Expression | None = None,
    checks: Sequence[Check] | None = None,
    thresholds: Thresholds | None = None,
    progress: ProgressLike = None,
    title: str | None = None,
    command: str = "",
    max_points: int | None = MAX_POINTS,
    smoothing: float = 0.0,
    units: UnitsLike | None = None,
    seeds: int = 1,
    groups: GroupsLike | None = None,
    **options: Unpack[OptionKeywords],
) -> Interpretation:
    """Read the closed-form concept that a neuron encodes, or the concepts of several.

    Parameters
    ----------
    model
        As in `closedform.extract_field`, or a list of networks trained for the same task: what they
        have in common is read, and judged on each of them.
    neuron
        As in `closedform.extract_field`, where the network has one output none is needed; a list
        means several latents. For several networks, one selector for all of them, or a list of
        lists, one list for each network.
    inputs, names, tangent, constraints, max_points, smoothing, units, **options
        As in `closedform.extract_field`.
    engine, budget, rng, space, rule, hypothesis, checks, thresholds, progress, title, command
        As in `closedform.interpret_field`.
    seeds : int
        As in `closedform.interpret_field`.
    groups : mapping of str to list or Group, optional
        Inputs that are alike, ``{"s": range(100)}``; see `closedform.Group`. The answer is a
        formula of sums over them, ``sum(s[i]**2)``, and of the other inputs.

    Returns
    -------
    Interpretation

    Examples
    --------
    >>> import closedform as cf
    >>> points = np.random.default_rng(0).uniform(-1, 1, (400, 2))
    >>> network = lambda x: np.tanh(x[:, 0] ** 2 + 2 * x[:, 1])
    >>> print(
    ...     cf.interpret(
    ...         network, points, 0, names=["x", "v"], budget=cf.Budget(evaluations=20000), rng=0
    ...     ).concept
    ... )
    2*v + x**2
    """
    # Everything is looked at before the network is: an extraction can take minutes.
    Settings.checked(engine, space, rule, checks, thresholds, progress)
    Options(**options)
    known_units = as_units(units, None if "wrt" in options else names)
    check_seeds(seeds)
    if isinstance(hypothesis, str) and groups is None:
        parse(hypothesis, names=None if names is None else list(names))
    seed, limits = as_seed(rng), as_budget(budget)
    several = isinstance(model, list | tuple)
    networks = list(model) if several else [model]
    neurons = _neuron_of_each(neuron, len(networks)) if several else [neuron]
    clock = limits.start()

    def extracted(network: Any, which: Any) -> GradientField:
        return extract_field(
            network, inputs, which, names=names, tangent=tangent, constraints=constraints,
            max_points=max_points, smoothing=smoothing, rng=seed, units=known_units, groups=groups,
            **options,
        )  # fmt: skip

    fields = [extracted(*pair) for pair in zip(networks, neurons, strict=True)]
    # With any of these the field's points are not what the network takes.
    changing = ("transform", "wrt", "fixed", "prepare", "batched")
    is_plain = all(options.get(name) is None for name in changing)
    label = (f"Neuron {neuron}" if isinstance(neuron, str) else "") if title is None else title
    if several and groups is not None:
        raise KeywordError("groups= is for one network; read several one by one.")
    asked: dict[str, Any] = {
        "engine": engine, "budget": _left(limits, clock), "rng": seed, "space": space,
        "rule": rule, "hypothesis": hypothesis, "checks": checks, "thresholds": thresholds,
        "progress": progress, "title": label, "command": command, "seeds": seeds,
    }  # fmt: skip
    if several:
        found = interpret_fields(fields, **asked)
    else:
        found = interpret_field(fields[0], groups=groups, **asked)
    notes = tuple(dict.fromkeys(note for field in fields for note in field.notes))
    told = replace(found.provenance, neuron=_as_text(neuron), notes=notes, budget=str(limits))
    found = replace(found, provenance=told)
    if found.networks or not is_plain:
        return found
    return _with_faithfulness(found, model, neuron, fields[0])


def _left(limits: Budget, clock: Clock) -> Budget:
    """What extraction leaves of the seconds of the call: half at least, however slow it is."""
    if limits.seconds is None:
        return limits
    return replace(limits, seconds=max(limits.seconds - clock.seconds, limits.seconds / 2))


def _with_faithfulness(
    found: Interpretation, model: Any, neuron: Any, field: GradientField
) -> Interpretation:
    """Put phi(concept) in the neuron's place, where the network is at hand."""
    # The field may hold the value before a squashing function, so phi is fitted to the neuron's own
    # values on every second point, and the outputs are compared on the others.
    points = field.points[field.weights > 0][:MOST_HELD_OUT]
    fitted, others = points[::2], points[1::2]
    if found.concept is None or field.rank > 1:
        return found
    own = run_with(model, fitted, neuron, None)
    phi = None if own is None else phi_between(found.concept(fitted), own.values)
    if own is None or phi is None:
        return found
    replacements = (None, phi(found.concept(others)), np.full(len(others), own.values.mean()))
    passes = [run_with(model, others, neuron, values) for values in replacements]
    original, by_concept, by_mean = (None if one is None else one.outputs for one in passes)
    if original is None or by_concept is None or by_mean is None:
        return found
    return replace(found, faithfulness=compare_outputs(original, by_concept, by_mean))


def _neuron_of_each(neuron: Any, count: int) -> list[Any]:
    """The neurons to read in each network."""
    is_nested = isinstance(neuron, list) and all(isinstance(one, list) for one in neuron)
    return neuron if is_nested and len(neuron) == count else [neuron] * count


def _as_text(neuron: Any) -> tuple[str, ...]:
    """What was read, if text can say it; an output of one number is its first."""
    listed = neuron if isinstance(neuron, list) else [0 if neuron is None else neuron]
    if any(isinstance(one, list) for one in listed):
        return ()
    places = [parse_neuron(one) for one in listed]
    if any(place.direction is not None or place.function is not None for place in places):
        return ()
    return tuple(map(str, places))
