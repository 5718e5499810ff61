"""Every invariant is conserved, and the invariants are as independent as their number says."""

import numpy as np
import pytest

from closedform.errors import ClosedformError
from closedform.expressions.constraint import parse_constraint
from closedform.expressions.parse import parse
from closedform_bench.invariants.independence import count_independent, unit_gradients
from closedform_bench.invariants.system import System
from closedform_bench.invariants.system_catalogue import SYSTEMS, choose

EVERY = pytest.mark.parametrize("system", SYSTEMS.values(), ids=list(SYSTEMS))
FLOWING = pytest.mark.parametrize(
    "system", [s for s in SYSTEMS.values() if s.velocity is not None], ids=lambda s: s.name
)


def change(text: str, system: System, pairs: np.ndarray) -> float:
    """The largest change within a pair, in units of the function's spread."""
    values = parse(text, system.inputs)(pairs.reshape(-1, len(system.inputs))).reshape(-1, 2)
    return float(
        np.abs(values[:, 0] - values[:, 1]).max()
        / np.percentile(np.abs(values - np.median(values)), 75)
    )


@pytest.fixture(scope="module")
def all_pairs() -> dict[str, np.ndarray]:
    return {name: system.pairs(20, np.random.default_rng(3)) for name, system in SYSTEMS.items()}


def test_there_are_39_systems_with_81_invariants() -> None:
    kinds = [system.kind for system in SYSTEMS.values()]
    assert (kinds.count("dynamics"), kinds.count("algebraic")) == (27, 12)
    assert sum(len(system.invariants) for system in SYSTEMS.values()) == 81


@EVERY
def test_pairs_share_every_invariant_and_little_else(
    system: System, all_pairs: dict[str, np.ndarray]
) -> None:
    pairs = all_pairs[system.name]
    assert pairs.shape == (20, 2, len(system.inputs))
    assert np.isfinite(pairs).all()
    for text in (*system.invariants, *system.further):
        assert change(text, system, pairs) < 1e-5, text
    assert max(change(name, system, pairs) for name in system.inputs) > 0.5


@FLOWING
def test_invariants_do_not_change_along_the_flow(system: System) -> None:
    points = system.points(200, np.random.default_rng(0))
    assert system.velocity is not None
    velocity = system.velocity(points)
    for truth in system.conserved():
        gradient = truth.gradient(points)
        size = np.linalg.norm(gradient, axis=1) * np.linalg.norm(velocity, axis=1)
        assert np.abs((gradient * velocity).sum(axis=1)).max() < 1e-12 * size.max()


@EVERY
def test_invariants_are_independent_and_constraints_hold(system: System) -> None:
    points = system.points(300, np.random.default_rng(1))
    assert count_independent(system.truths(), points, system.constraints) == len(system.invariants)
    sizes = np.linalg.svd(
        unit_gradients(system.truths(), points, system.constraints), compute_uv=False
    )
    assert np.median(sizes[:, -1]) > 0.02
    for text in system.constraints:
        assert np.abs(parse_constraint(text, system.inputs).function(points)).max() < 1e-12


@EVERY
def test_a_function_fits_nothing_by_dimension_alone(system: System) -> None:
    assert len(system.invariants) < len(system.inputs) - len(system.constraints)


def test_constraints_hold_along_the_motion(all_pairs: dict[str, np.ndarray]) -> None:
    for system in SYSTEMS.values():
        for text in system.constraints:
            values = parse_constraint(text, system.inputs).function(all_pairs[system.name][:, 1])
            assert np.abs(values).max() < 1e-5, (system.name, text)


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(ClosedformError, match="did you mean 'kepler'"):
        choose(["keppler"], SYSTEMS)
