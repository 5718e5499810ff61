"""The suites of ``closedform bench``: which tasks they consist of."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from closedform_bench.invariants.baselines import read_directly, read_implicitly
from closedform_bench.invariants.bench_task import BenchTask
from closedform_bench.invariants.control import FIELD_CONTROLS, FieldControl
from closedform_bench.invariants.control_systems import CONTROL_SYSTEMS
from closedform_bench.invariants.control_track import ControlTask
from closedform_bench.invariants.field_track import FieldTask
from closedform_bench.invariants.other_suites import (
    KERNEL,
    SPEED_SYSTEMS,
    read_experiment,
    time_kernel,
    time_reading,
)
from closedform_bench.invariants.outcome import Row
from closedform_bench.invariants.system import System
from closedform_bench.invariants.system_catalogue import SYSTEMS, choose
from closedform_bench.paper.experiment_catalogue import EXPERIMENTS
from closedform_bench.paper.network_reading import BUDGET

Suite = Literal["paper", "invariants", "controls", "speed"]
Track = Literal["field", "network"]
Tool = Literal["closedform", "direct regression", "implicit regression"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked for.

    Attributes
    ----------
    suite : {'paper', 'invariants', 'controls', 'speed'}
    track : {'field', 'network'} or None
        None is `field`, and both for controls.
    noise : float
        Degrees, in the track `field`.
    systems : tuple of str
        Names; all of the suite if empty.
    seeds : tuple of int
        0 if empty; 0, 1 and 2 for controls.
    budget : float or None
        Seconds for each reading; None is what the suite is meant for.
    networks : Path
        Where trained networks are kept.
    tool : {'closedform', 'direct regression', 'implicit regression'}
        Who reads the systems of the suite `invariants`.
    """

    suite: Suite = "invariants"
    track: Track | None = None
    noise: float = 0.0
    systems: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    budget: float | None = None
    networks: Path = Path()
    tool: Tool = "closedform"

    def tasks(self) -> list[BenchTask]:
        """The tasks, in the order in which they are done.

        Raises
        ------
        UnknownSystemError
            If a system is unknown.

        Examples
        --------
        >>> [task.label for task in Plan(systems=("sir", "kepler"), seeds=(0, 1)).tasks()]
        ['sir, seed 0', 'kepler, seed 0', 'sir, seed 1', 'kepler, seed 1']
        """
        return _MAKERS[self.suite](self)


def _invariants(plan: Plan) -> list[BenchTask]:
    budget = 60.0 if plan.budget is None else plan.budget
    track = "pairs" if plan.tool == "implicit regression" else plan.track or "field"
    return [
        _task(plan, track, system.name, seed, budget, partial(_read, plan, system, seed, budget))
        for seed in plan.seeds or (0,)
        for system in choose(plan.systems, SYSTEMS)
    ]


def _read(plan: Plan, system: System, seed: int, budget: float) -> Row:
    if plan.tool == "direct regression":
        return read_directly(system, budget, seed)
    if plan.tool == "implicit regression":
        return read_implicitly(system, seed)
    if plan.track != "network":
        return FieldTask(plan.noise, budget, seed).run(system)
    from closedform_bench.invariants.network_track import NetworkTask  # brings torch

    return NetworkTask(plan.networks, budget, seed).run(system)


def _controls(plan: Plan) -> list[BenchTask]:
    budget = CONTROL_BUDGET if plan.budget is None else plan.budget
    runs: dict[str, tuple[Track, Callable[[int], Row]]] = {}
    if plan.track != "network":
        for control in FIELD_CONTROLS.values():
            runs[control.name] = "field", partial(_read_control, control, budget)
    if plan.track != "field":
        for system in CONTROL_SYSTEMS.values():
            runs[system.name] = "network", partial(_read_control_network, system, budget)
    return [
        _task(plan, track, name, seed, budget, partial(run, seed))
        for seed in plan.seeds or (0, 1, 2)
        for name, (track, run) in choose(
            plan.systems, {name: (name, entry) for name, entry in runs.items()}
        )
    ]


def _read_control(control: FieldControl, budget: float, seed: int) -> Row:
    return ControlTask(budget, seed).run(control)


def _read_control_network(system: System, budget: float, seed: int) -> Row:
    return ControlTask(budget, seed).run_network(system)


def _paper(plan: Plan) -> list[BenchTask]:
    """Experiments by number."""
    budget = BUDGET if plan.budget is None else plan.budget
    numbers = choose(plan.systems, {str(number): number for number in EXPERIMENTS})
    return [
        _task(
            plan,
            "network",
            str(number),
            seed,
            budget,
            partial(read_experiment, number, budget, seed),
        )
        for seed in plan.seeds or (0,)
        for number in numbers
    ]


def _speed(plan: Plan) -> list[BenchTask]:
    budget = 10.0 if plan.budget is None else plan.budget
    timed = {name: SYSTEMS[name] for name in SPEED_SYSTEMS}
    tasks: list[BenchTask] = []
    for seed in plan.seeds or (0,):
        if not plan.systems or KERNEL in plan.systems:
            tasks.append(_task(plan, "field", KERNEL, seed, budget, partial(time_kernel, seed)))
        names = [name for name in plan.systems if name != KERNEL]
        chosen = choose(names, timed) if names or not plan.systems else []
        tasks += [
            _task(plan, "field", s.name, seed, budget, partial(time_reading, s, budget, seed))
            for s in chosen
        ]
    return tasks


def _task(
    plan: Plan, track: str, name: str, seed: int, budget: float, run: Callable[[], Row]
) -> BenchTask:
    content = {
        "suite": plan.suite,
        "track": track,
        "tool": plan.tool,
        "system": name,
        "seed": seed,
        "noise": float(plan.noise),
        "budget": float(budget),
    }
    return BenchTask(content, run)


CONTROL_BUDGET = 4.0
"""Seconds for each control: all of them for three seeds take less than four minutes."""

_MAKERS: dict[Suite, Callable[[Plan], list[BenchTask]]] = {
    "invariants": _invariants,
    "controls": _controls,
    "paper": _paper,
    "speed": _speed,
}
