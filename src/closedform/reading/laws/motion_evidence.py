"""What was given, made ready: a motion to search, directions to judge by, and orbits to test on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import DOP853
from scipy.interpolate import CubicSpline, make_smoothing_spline

from closedform.arrays import FloatArray
from closedform.errors import ClosedformError, FieldError, ShapeError
from closedform.field.arguments import checked_names
from closedform.field.gradient_field import GradientField
from closedform.field.tangent import StatedConstraint
from closedform.field.tangent_space import robust_spread
from closedform.networks.whole_network import RowFunction, as_row_function
from closedform.reading.laws.counting import N_SAMPLES
from closedform.reading.laws.motions import FEW_ORBITS, Flow, Motion, Orbits
from closedform.searching.budget import Clock

N_FOLLOWED = 48
"""Points that a flow or simulator is followed from, for the law test and the drift."""

N_TIMES = 41  # at which they are looked at: twenty to a turn
HORIZON = 12.0
"""How long they are followed, in times in which a point moves by one spread of the inputs: about
two turns of an oscillator."""

LONG = 400.0
"""How long the orbits are, in the same times, whose dimension is measured."""

N_LONG = 3  # of them: the smallest dimension counts
N_PLACES = 24
"""Most places of a trajectory that the search looks at."""

MOST_ROWS = 6000  # that the search looks at: more say the same
MOST_PAIRS = 2700
"""Pairs that are used: two thirds of them are three times the terms of the largest library."""


FEWEST = 12
"""Samples of a trajectory: both halves need the five points of a smoothing spline."""

TOLERANCE, OF_PRECISION = 1e-9, 100.0
"""Of the integrator: far below what `EXACT_CHANGE` asks for, and not below so many roundings of the
flow, which it would follow with ever smaller steps."""

SHORT_SHARE, LONG_SHARE = 0.15, 0.3
"""Of the budget: when the roll-outs for the law test end, and those for the count."""


Result = TypeVar("Result")


@dataclass(slots=True)
class Ending:
    """The clock of a call, and whether it was interrupted."""

    clock: Clock
    is_interrupted: bool = False

    def is_due(self, share: float) -> bool:
        """Whether to go on with what there is: so much of the budget is used up."""
        return self.is_interrupted or self.clock.used >= share

    def unless_interrupted(self, work: Callable[[], Result]) -> Result | None:
        """Do a piece of work. Ctrl-C ends it and what would follow; a second one ends the call."""
        try:
            return None if self.is_interrupted else work()
        except KeyboardInterrupt:
            if self.is_interrupted:
                raise
            self.is_interrupted = True
            return None


@dataclass(frozen=True, slots=True)
class MotionEvidence:
    """What is known of a motion."""

    motion: Motion
    field: GradientField | None  # the directions across it; None for distant pairs
    n_free: int  # dimension of the data
    # states, times: roll-outs or trajectories for the law test and the drift, shapes (n, n_times,
    # d) and (n_times,). `tested` are those that the search does not see.
    states: FloatArray | None = None
    times: FloatArray | None = None
    tested: FloatArray | None = None
    long: FloatArray | None = None  # orbits whose dimension says how many laws there can be
    notes: tuple[str, ...] = ()
    # Whether a flow or simulator can be asked, so that nothing is measured with noise.
    is_computed: bool = False
    is_cut_short: bool = False  # whether time, or Ctrl-C, ended a roll-out


@dataclass(frozen=True, slots=True)
class Given:
    """Names, constraints and horizon, as the user stated them."""

    names: Sequence[str] | None
    constraints: Sequence[StatedConstraint]
    horizon: float | None
    rng: np.random.Generator
    ending: Ending

    @property
    def of_field(self) -> dict[str, Any]:
        """What a field is made with."""
        tangent = "auto" if self.constraints else "none"
        return {"names": self.names, "constraints": self.constraints, "tangent": tangent}


def evidence_of_flow(flow: Any, points: ArrayLike, given: Given) -> MotionEvidence:
    """From a flow, as a function, a module, or the velocities at the points."""
    places = np.array(points, dtype=np.float64)
    function = as_row_function(flow) if callable(flow) else None
    velocities = flow if function is None else function
    field = GradientField.from_flow(places, velocities, **given.of_field)
    motion = Flow.of(field)
    found = MotionEvidence(motion, field, field.tangent.rank, is_computed=function is not None)
    if function is None:
        return found
    unit = own_time(function(places), field.scale)
    horizon = HORIZON * unit if given.horizon is None else given.horizon
    times = np.linspace(0.0, horizon, N_TIMES)
    start = places[given.rng.permutation(len(places))[:N_FOLLOWED]]
    try:
        states = follow_flow(function, start, times, given.ending, SHORT_SHARE)
    except RolloutError as error:
        return replace(found, notes=(str(error),))
    if states.shape[1] < FEWEST:
        return replace(found, is_cut_short=True)
    times = times[: states.shape[1]]
    found = replace(found, states=states, times=times, tested=states)
    moments = np.sort(given.rng.uniform(0, LONG * unit, N_SAMPLES))
    try:
        long = follow_flow(function, start[:N_LONG], moments, given.ending, LONG_SHARE)
    except RolloutError:
        return found
    is_cut_short = long.shape[1] < len(moments)
    return replace(found, long=long, is_cut_short=is_cut_short)


def evidence_of_simulator(step: Any, points: ArrayLike, given: Given) -> MotionEvidence:
    """From a function that takes states one step further."""
    places = np.array(points, dtype=np.float64)
    function = as_row_function(step, "simulator")
    names = checked_names(given.names, places.shape[1])
    scale = robust_spread(places)
    unit = own_time(function(places) - places, scale)
    count = int(np.ceil(HORIZON * unit if given.horizon is None else given.horizon))
    some = places[given.rng.permutation(len(places))[: max(2 * N_FOLLOWED, MOST_ROWS // 10)]]
    states = repeat_steps(function, some, max(count, 1), given.ending, SHORT_SHARE)
    motion = Orbits(_thinned(states, given.rng), names, scale)
    field = _secants(states[:, 0], states[:, 1], given)
    followed = states[:N_FOLLOWED]
    times = np.arange(states.shape[1], dtype=np.float64)
    free = places.shape[1] if field is None else field.tangent.rank
    is_cut_short = states.shape[1] < max(count, 1) + 1
    found = MotionEvidence(motion, field, free, followed, times, followed, is_computed=True)
    return replace(found, is_cut_short=is_cut_short)


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
        rows = differentiate_trajectories(states, moments).reshape(3, -1, states.shape[2])
        points, velocities, errors = rows[:, given.rng.permutation(rows.shape[1])[:MOST_ROWS]]
        field = GradientField.from_flow(points, velocities, errors=errors, **given.of_field)
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
        field = GradientField.from_pairs(first, second, **given.of_field)
    except FieldError:
        return None
    return field if field.n_points >= len(first) / 2 else None


def _thinned(states: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Places of each trajectory at random times, at most as many rows as the search can use."""
    is_few = len(states) < FEW_ORBITS
    most = MOST_ROWS // FEW_ORBITS if is_few else max(2, min(N_PLACES, MOST_ROWS // len(states)))
    if states.shape[1] <= most:
        return states
    return states[:, np.sort(rng.permutation(states.shape[1])[:most])]


def differentiate_trajectories(trajectories: FloatArray, times: FloatArray) -> FloatArray:
    """Smoothed states, velocities and their standard errors, shape (3, *trajectories.shape)."""
    found = np.apply_along_axis(lambda values: _differentiate(times, values), 1, trajectories)
    return np.moveaxis(found, 1, 0)


def _differentiate(times: FloatArray, values: FloatArray) -> FloatArray:
    """Smoothed values, slopes, and the typical error of the slopes."""
    whole = _spline(times, values)
    halves = [_spline(times[part], values[part]) for part in (slice(0, None, 2), slice(1, None, 2))]
    # The ends of a spline know one side only.
    middle = slice(len(times) // 10, len(times) - len(times) // 10)
    apart = halves[0](times, 1)[middle] - halves[1](times, 1)[middle]
    error = np.full_like(times, np.sqrt(np.mean(apart**2)) / 2)
    return np.stack([whole(times), whole(times, 1), error])


def _spline(times: FloatArray, values: FloatArray) -> CubicSpline:
    """The smoothing spline of least cross-validated error; without noise, through all values."""
    spread = float(np.ptp(values))
    if spread == 0:
        return CubicSpline(times, values)
    unit = (times - times[0]) / (times[-1] - times[0]) * len(times)
    smooth = make_smoothing_spline(unit, values / spread)
    left = np.sqrt(np.mean((smooth(unit) - values / spread) ** 2))
    between = CubicSpline(times, values)
    if left < 1e-6:
        return between
    return CubicSpline(times, smooth(unit) * spread)


class RolloutError(ClosedformError):
    """A motion could not be followed."""


def follow_flow(
    flow: RowFunction, start: FloatArray, times: FloatArray, ending: Ending, share: float = 1.0
) -> FloatArray:
    """States (n, n_times, d) from some points; fewer where time ends, or at Ctrl-C."""
    flow(start)  # its precision is known afterwards
    found = [start.reshape(1, -1)] * int((times <= 0).sum())

    def follow() -> None:
        count = len(found)
        tolerance = max(TOLERANCE, OF_PRECISION * flow.precision)
        solver = DOP853(
            lambda _, state: flow(state.reshape(start.shape)).ravel(),
            0.0,
            start.ravel(),
            float(times[-1]),
            rtol=tolerance,
            atol=tolerance * float(np.abs(start).max()),
        )
        while solver.status == "running" and not ending.is_due(share):
            message = solver.step()
            if solver.status == "failed" or not np.isfinite(solver.y).all():
                raise RolloutError(
                    f"The flow could not be followed to the time {times[-1]:g}: "
                    f"{message or 'its numbers are no longer finite.'} Pass points whose orbits "
                    f"stay where the flow is defined, or a shorter horizon."
                )
            passed = int((times <= solver.t).sum())
            if passed > count:
                found.append(solver.dense_output()(times[count:passed]).T)
                count = passed

    with np.errstate(all="ignore"):
        ending.unless_interrupted(follow)
    states = np.concatenate(found) if found else np.zeros((0, start.size))
    return np.moveaxis(states.reshape(-1, *start.shape), 0, 1)


def repeat_steps(
    step: RowFunction, start: FloatArray, count: int, ending: Ending, share: float = 1.0
) -> FloatArray:
    """States (n, count + 1, d) of a simulator; fewer where time ends, or at Ctrl-C."""
    states = [np.array(start, dtype=np.float64)]
    states.append(step(states[-1]))
    while len(states) <= count and not ending.is_due(share):
        following = ending.unless_interrupted(partial(step, states[-1]))
        states += [] if following is None else [following]
    found = np.stack(states, axis=1)
    if not np.isfinite(found).all():
        raise RolloutError(
            f"The simulator leaves finite numbers within {count} steps; pass other points or a "
            f"shorter horizon."
        )
    return found


def own_time(velocities: FloatArray, scale: FloatArray) -> float:
    """The time in which a typical point moves by one spread of the inputs."""
    speeds = np.linalg.norm(velocities / scale, axis=1)
    speed = float(np.median(speeds[np.isfinite(speeds)]))
    return 1.0 / speed if speed > 0 else 1.0
