import numpy as np
import pytest

from closedform_bench.invariants.baselines import read_implicitly
from closedform_bench.invariants.independence import outside
from closedform_bench.invariants.motion_controls import MOTION_CONTROLS
from closedform_bench.invariants.motion_track import MotionTask, noisy_pairs
from closedform_bench.invariants.suites import Plan
from closedform_bench.invariants.system_catalogue import SYSTEMS


@pytest.mark.parametrize("kind", ["flow", "pairs"])
def test_a_system_is_read_from_its_motion(kind):
    row = MotionTask(kind, budget=600).run(SYSTEMS["rock-paper-scissors"])
    assert (row["recovered"], row["of"], row["false"]) == (2, 2, 0)


def test_flows_are_those_of_dynamical_systems():
    names = {task.content["system"] for task in Plan(track="flow").tasks()}
    assert len(names) == 27
    assert sum(len(SYSTEMS[name].invariants) for name in names) == 62
    assert len(Plan(track="pairs").tasks()) == 39


def test_controls_of_motions_are_read_in_their_track():
    tasks = Plan(suite="controls", track="flow", seeds=(0,)).tasks()
    assert {task.content["track"] for task in tasks} == {"flow"}
    assert {"lorenz", "near-circular", "one-trajectory"} <= {
        task.content["system"] for task in tasks
    }


def test_every_tool_sees_the_same_pairs():
    system = SYSTEMS["sir"]
    assert np.array_equal(noisy_pairs(system, 1, 0, 50), noisy_pairs(system, 1, 0, 50))
    apart = noisy_pairs(system, 1, 0, 50) - noisy_pairs(system, 0, 0, 50)
    assert 0 < np.abs(apart).max() < 0.05
    assert read_implicitly(system, 0)["recovered"] == 1


def test_what_controls_conserve_is_conserved():
    for name in ("near-circular", "one-trajectory"):
        system = MOTION_CONTROLS[name]
        points = system.points(100, np.random.default_rng(0))
        assert system.velocity is not None
        velocities = system.velocity(points)
        for law in system.conserved():
            slopes = np.einsum("nd,nd->n", law.gradient(points), velocities)
            assert np.abs(slopes).max() < 1e-9


def test_three_bodies_keep_the_line_of_their_centre():
    """Regression: this law was counted as false."""
    system = SYSTEMS["three-body"]
    points = system.points(50, np.random.default_rng(0))
    law = system.conserved()[-1]
    assert outside([law], system.conserved(), points)[0] < 1e-9
