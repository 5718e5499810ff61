"""What was given, made ready: a motion to search, directions to judge by, and orbits to test on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from closedform.arrays import FloatArray
from closedform.errors import ShapeError
from closedform.field.arguments import checked_names
from closedform.field.errors import FieldError
from closedform.field.gradient_field import GradientField
from closedform.field.scaling import robust_spread
from closedform.field.tangent import StatedConstraint
from closedform.laws.counting import N_SAMPLES
from closedform.laws.motions import Flow, Motion, Orbits
from closedform.laws.rollouts import RolloutError, follow_flow, own_time, repeat_steps
from closedform.laws.velocities import FEWEST, differentiate_trajectories
from closedform.networks.motion_source import as_row_function

N_FOLLOWED = 48
"""Points that a flow or simulator is followed from, for the law test and the drift."""

N_TIMES = 41
HORIZON = 12.0
"""How long they are followed, in times in which a point moves by one spread of the inputs: about
two turns of an oscillator.
"""

LONG = 400.0
"""How long the orbits are, in the same times, whose dimension is measured."""

N_LONG = 3
N_PLACES = 24
"""Most places of a trajectory that the search looks at."""

MOST_ROWS = 6000
MOST_PAIRS = 2700
"""Pairs that are used: two thirds of them are three times the terms of the largest library."""


@dataclass(frozen=True, slots=True)
class MotionEvidence:
    """What is known of a motion.

    Attributes
    ----------
    motion : Motion
    field : GradientField or None
        The directions across it; None for distant pairs.
    states, times : ndarray or None
        Roll-outs or trajectories for the law test and the drift, shapes (n, n_times, d) and
        (n_times,). `tested` are those that the search does not see.
    tested : ndarray or None
    long : ndarray or None
        Orbits whose dimension says how many laws there can be.
    n_free : int
        Dimension of the data.
    notes : tuple of str
    is_computed : bool
        Whether a flow or simulator can be asked, so that nothing is measured with noise.
    """

    motion: Motion
    field: GradientField | None
    n_free: int
    states: FloatArray | None = None
    times: FloatArray | None = None
    tested: FloatArray | None = None
    long: FloatArray | None = None
    notes: tuple[str, ...] = ()
    is_computed: bool = False


@dataclass(frozen=True, slots=True)
class Given:
    """Names, constraints and horizon, as the user stated them."""

    names: Sequence[str] | None
    constraints: Sequence[StatedConstraint]
    horizon: float | None
    rng: np.random.Generator


def evidence_of_flow(flow: Any, points: ArrayLike, given: Given) -> MotionEvidence:
    """From a flow, as a function, a module, or the velocities at the points."""
    places = np.array(points, dtype=np.float64)
    function = None
    if callable(flow):
        function = as_row_function(flow)
    field = GradientField.from_flow(
        places,
        flow if function is None else function,
        names=given.names,
        constraints=given.constraints,
        tangent="auto" if given.constraints else "none",
    )
    motion = Flow.of(field)
    found = MotionEvidence(motion, field, field.tangent.rank, is_computed=function is not None)
    if function is None:
        return found
    unit = own_time(function(places), field.scale)
    horizon = HORIZON * unit if given.horizon is None else given.horizon
    times = np.linspace(0.0, horizon, N_TIMES)
    start = places[given.rng.permutation(len(places))[:N_FOLLOWED]]
    try:
        states = follow_flow(function, start, times)
    except RolloutError as error:
        return replace(found, notes=(str(error),))
    found = replace(found, states=states, times=times, tested=states)
    moments = np.sort(given.rng.uniform(0, LONG * unit, N_SAMPLES))
    try:
        return replace(found, long=follow_flow(function, start[:N_LONG], moments))
    except RolloutError:
        return found


def evidence_of_simulator(step: Any, points: ArrayLike, given: Given) -> MotionEvidence:
    """From a function that takes states one step further."""
    places = np.array(points, dtype=np.float64)
    function = as_row_function(step, "simulator")
    names = checked_names(given.names, places.shape[1])
    scale = robust_spread(places)
    unit = own_time(function(places) - places, scale)
    count = int(np.ceil(HORIZON * unit if given.horizon is None else given.horizon))
    some = places[given.rng.permutation(len(places))[: max(2 * N_FOLLOWED, MOST_ROWS // 10)]]
    states = repeat_steps(function, some, max(count, 1))
    motion = Orbits(_thinned(states, given.rng), names, scale)
    field = _secants(states[:, 0], states[:, 1], given)
    followed = states[:N_FOLLOWED]
    times = np.arange(states.shape[1], dtype=np.float64)
    free = places.shape[1] if field is None else field.tangent.rank
    return MotionEvidence(motion, field, free, followed, times, followed, is_computed=True)


def evidence_of_trajectories(
    trajectories: ArrayLike, times: ArrayLike | None, given: Given
) -> MotionEvidence:
    """From recorded trajectories, all at the same times."""
    states = np.array(trajectories, dtype=np.float64)
    if states.ndim != 3 or states.shape[1] < 2:
        raise ShapeError(
            f"The trajectories have the shape {states.shape}; pass (n_trajectories, n_times, "
            f"n_inputs) with two times or more."
        )
    moments = np.arange(states.shape[1], dtype=np.float64)
    if times is not None:
        moments = np.array(times, dtype=np.float64)
    if moments.shape != (states.shape[1],) or (np.diff(moments) <= 0).any():
        raise ShapeError(
            f"The times have the shape {moments.shape} for {states.shape[1]} states of each "
            f"trajectory; pass as many ascending numbers."
        )
    names = checked_names(given.names, states.shape[2])
    scale = robust_spread(states.reshape(-1, states.shape[2]))
    field = None
    if states.shape[1] >= FEWEST:
        found = differentiate_trajectories(states, moments)
        rows = [array.reshape(-1, states.shape[2]) for array in (found.points, found.velocities)]
        errors = found.errors.reshape(-1, states.shape[2])
        chosen = given.rng.permutation(len(rows[0]))[:MOST_ROWS]
        field = GradientField.from_flow(
            rows[0][chosen],
            rows[1][chosen],
            errors=errors[chosen],
            names=names,
            constraints=given.constraints,
            tangent="auto" if given.constraints else "none",
        )
    motion = Orbits(_thinned(states, given.rng), names, scale)
    free = states.shape[2] if field is None else field.tangent.rank
    return MotionEvidence(motion, field, free, states, moments, None, states)


def evidence_of_pairs(pairs: ArrayLike, given: Given) -> MotionEvidence:
    """From pairs of points of one orbit each."""
    array = np.array(pairs, dtype=np.float64)
    if array.ndim != 3 or array.shape[1] != 2:
        raise ShapeError(f"The pairs have the shape {array.shape}; pass (n_pairs, 2, n_inputs).")
    names = checked_names(given.names, array.shape[2])
    field = _secants(array[:, 0], array[:, 1], given)
    free = array.shape[2] - len(given.constraints)
    some = array[given.rng.permutation(len(array))[:MOST_PAIRS]]
    return MotionEvidence(Orbits(some, names, robust_spread(array[:, 0])), field, free)


def _secants(first: FloatArray, second: FloatArray, given: Given) -> GradientField | None:
    """The field across close pairs, if most are close."""
    try:
        field = GradientField.from_pairs(
            first,
            second,
            names=given.names,
            constraints=given.constraints,
            tangent="auto" if given.constraints else "none",
        )
    except FieldError:
        return None
    return field if field.n_points >= len(first) / 2 else None


def _thinned(states: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Places of each trajectory at random times, at most as many rows as the search can use."""
    most = max(2, min(N_PLACES, MOST_ROWS // len(states)))
    if len(states) < 10:
        most = MOST_ROWS // 10
    if states.shape[1] <= most:
        return states
    return states[:, np.sort(rng.permutation(states.shape[1])[:most])]
