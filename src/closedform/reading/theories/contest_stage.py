"""A contest of theories: each is fitted where it may be, and all are weighed on points that no fit
has seen, with corrections and with what a search finds.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from closedform.arrays import FloatArray, frozen
from closedform.basics.keywords import checked_keywords, required_kind, suggestion
from closedform.basics.progress import Named, ProgressLike, choose_progress
from closedform.basics.randomness import Randomness, as_seed
from closedform.basics.threads import single_threaded
from closedform.errors import FieldError
from closedform.field.gradient_field import GradientField
from closedform.field.neighborhoods import affordable
from closedform.field.tangent import StatedConstraint
from closedform.field.tangent_space import TangentSpace
from closedform.judge.checks import undecided
from closedform.judge.select_stage import MOST_IN_CHOICE
from closedform.networks.extract import extract_field
from closedform.networks.options import OptionKeywords
from closedform.networks.tolerances import MAX_POINTS
from closedform.reading.theories.outcome import Contest
from closedform.reading.theories.telling import outcome_of
from closedform.reading.theories.theory import Formula, Free, read_theories
from closedform.reading.theories.weighed_theories import Hall, fit_theories, weigh_hall
from closedform.searching.budget import Budget, as_budget
from closedform.searching.portfolio import compile_engines
from closedform.searching.search_stage import MOST_HELD_OUT, choose_points
from closedform.searching.space import SearchSpace, as_space


@single_threaded
@checked_keywords
def contest(
    model: Any,
    inputs: Any,
    neuron: Any,
    theories: Mapping[str, Formula],
    *,
    free: Free = (),
    given: Sequence[str] = (),
    names: Sequence[str] | None = None,
    tangent: str | TangentSpace = "auto",
    constraints: Sequence[StatedConstraint] = (),
    budget: float | Budget | None = None,
    rng: Randomness = None,
    space: SearchSpace | None = None,
    max_points: int | None = MAX_POINTS,
    smoothing: float = 0.0,
    progress: ProgressLike = None,
    title: str = "",
    **options: Unpack[OptionKeywords],
) -> Contest:
    """Which of several theories a neuron follows, by how much, and where each fails.

    Parameters
    ----------
    model, inputs, neuron
        As in `closedform.extract_field`.
    theories, free, given, budget, rng, space, progress, title
        As in `closedform.contest_field`.
    names, tangent, constraints, max_points, smoothing, **options
        As in `closedform.extract_field`.

    Returns
    -------
    Contest

    Examples
    --------
    >>> points = np.random.default_rng(0).uniform(1, 2, (600, 2))
    >>> network = lambda x: np.tanh(x[:, 0] * x[:, 1] ** 1.5 / 3)
    >>> theories = {"power law": "x*y**a", "sum": "x + a*y"}
    >>> found = contest(
    ...     network, points, 0, theories, free=["a"], names=["x", "y"], budget=None, rng=0
    ... )
    >>> found.winner, round(found.constants["power law"]["a"].value, 3)
    ('power law', 1.5)
    """
    seed = as_seed(rng)
    field = extract_field(
        model, inputs, neuron, names=names, tangent=tangent, constraints=constraints,
        max_points=max_points, smoothing=smoothing, rng=seed, **options,
    )  # fmt: skip
    return contest_field(
        field, theories, free=free, given=given, budget=budget, rng=seed, space=space,
        progress=progress, title=title or (f"Neuron {neuron}" if isinstance(neuron, str) else ""),
    )  # fmt: skip


@single_threaded
@checked_keywords
def contest_field(
    field: GradientField,
    theories: Mapping[str, Formula],
    *,
    free: Free = (),
    given: Sequence[str] = (),
    budget: float | Budget | None = None,
    rng: Randomness = None,
    space: SearchSpace | None = None,
    progress: ProgressLike = None,
    title: str = "",
) -> Contest:
    """Which of several theories a field follows.

    Parameters
    ----------
    field : GradientField
        Of one neuron.
    theories : mapping of str to str, Expression or callable
        By name. A callable takes the matrix of inputs, and free constants as keywords, and returns
        a value for each point.
    free : sequence of str, or mapping
        Constants in the theories that are fitted: names, or for each where to start or ``(start,
        low, high)``.
    given : sequence of str
        Inputs that are held: theories may use them, but directions are compared in the others only.
        If they vary, the network's values are not used, since phi may depend on them.
    budget : float, Budget or None
        For a search for formulas that nobody stated, after compilation. None looks no further than
        corrections of the best theory, and forms in which a part of it is another.
    rng : int, Generator or None
        Seed.
    space : SearchSpace, optional
        What corrections and that search may use.
    progress : bool, str, Progress or None
        None shows progress in a terminal or notebook, False never.
    title : str
        What was read, for the page.

    Returns
    -------
    Contest
        Its ``winner`` is the name of a theory, or None if the network follows none of them.

    Raises
    ------
    TheoryError
        If a theory or a free constant cannot be used.
    FieldError
        If directions cannot decide: a field of several latents, or of one input that is not held.

    Examples
    --------
    >>> points = np.random.default_rng(0).uniform(1, 2, (600, 2))
    >>> field = GradientField.from_arrays(
    ...     points,
    ...     points * [2, 4],
    ...     names=["x", "y"],
    ...     latents=points[:, 0] ** 2 + 2 * points[:, 1] ** 2,
    ... )
    >>> found = contest_field(
    ...     field,
    ...     {"circle": "x**2 + y**2", "ellipse": "x**2 + a*y**2"},
    ...     free=["a"],
    ...     budget=None,
    ...     rng=0,
    ... )
    >>> found.winner, round(found.constants["ellipse"]["a"].value, 3)
    ('ellipse', 2.0)
    """
    required_kind(
        field,
        GradientField,
        "field",
        "pass what closedform.extract_field or GradientField.from_arrays returned",
    )
    read = read_theories(theories, field.names, free)
    held = with_held(field, given)
    hopeless = undecided(held)
    if hopeless is not None or held.rank > 1:
        reason = (
            "The field has several latents; take one." if hopeless is None else hopeless.sentence
        )
        raise FieldError(f"Theories cannot be compared here. {reason}")
    limits = None if budget is None else as_budget(budget)
    seed, shown, allowed = as_seed(rng), choose_progress(progress), as_space(space)
    generator = np.random.default_rng(seed)
    compile_engines()
    seen, few, unseen = _points(held, generator)
    fitted, fitter = fit_theories(read, held.subset(few), generator)
    hall = Hall.of(fitted, fitter, held.subset(unseen), allowed, generator)
    if limits is not None:
        hall = hall.with_search(held, seen, limits, allowed, generator, Named(shown, "search"))
    weighed = weigh_hall(hall)
    held_names = (given,) if isinstance(given, str) else tuple(given)
    return outcome_of(hall, weighed, generator, seed=seed, given=held_names, title=title)


def _points(
    field: GradientField, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which points a search sees, which the fits use of these, and which judge."""
    seen, usable = choose_points(field, rng), np.flatnonzero(field.weights > 0)
    few = rng.permutation(seen)[: affordable(MOST_IN_CHOICE, len(field.names))]
    most = affordable(MOST_HELD_OUT, len(field.names))
    unseen = np.sort(rng.permutation(np.setdiff1d(usable, seen))[:most])
    if len(unseen) < 2:
        raise FieldError(
            f"The field has {len(usable)} usable points, which leaves none to judge on; pass more "
            f"points."
        )
    return seen, np.sort(few), unseen


def with_held(field: GradientField, given: Sequence[str]) -> GradientField:
    """The field in which some inputs are held: every comparison is made in the others alone."""
    words = [given] if isinstance(given, str) else list(given)
    for word in words:
        if word not in field.names:
            hint = suggestion(word, field.names) or "."
            raise FieldError(
                f"given={word!r}: there is no such input{hint} The inputs are "
                f"{', '.join(field.names)}."
            )
    if not words:
        return field
    if field.tangent.basis is not None:
        raise FieldError(
            "The data lie on a surface, on which an input cannot be held alone. Extract the field "
            "with tangent='none', or without given=."
        )
    rest = [place for place, name in enumerate(field.names) if name not in words]
    if len(rest) < 2:
        raise FieldError(
            f"With {', '.join(words)} held {len(rest)} input is left; directions need two."
        )
    basis: FloatArray = np.eye(len(field.names))[:, rest]
    others = [place for place in range(len(field.names)) if place not in rest]
    varies = bool((np.ptp(field.points[:, others], axis=0) > 0).any())
    return GradientField.from_arrays(
        field.points,
        field.directions[:, :, 0] if field.rank == 1 else np.swapaxes(field.directions, 1, 2),
        # Values that the held inputs move as well say nothing about phi.
        latents=None if varies else field.latents,
        names=field.names,
        tangent=TangentSpace("linear", len(rest), frozen(basis)),
        weights=field.weights,
        notes=field.notes,
        signed=field.is_signed,
    )
