import numpy as np
import pytest

import closedform as cf
from closedform.errors import ShapeError
from closedform.judge.systematic import ChangeParts, split_change
from closedform.networks.whole_network import as_row_function
from closedform.reading.laws.counting import find_degeneracy, orbit_dimension
from closedform.reading.laws.found_laws import Count, KeptAlongOrbits, fit_on_orbits, measure_drift
from closedform.reading.laws.found_laws import change_along_orbits as law_test
from closedform.reading.laws.law_search import LawSearch
from closedform.reading.laws.law_sums import distance_library, find_sums, prepare_fit
from closedform.reading.laws.motion_evidence import (
    Ending,
    RolloutError,
    differentiate_trajectories,
    follow_flow,
    repeat_steps,
)
from closedform.reading.laws.motions import Flow
from closedform.searching.budget import UNHURRIED
from closedform.searching.space import SearchSpace

RNG = np.random.default_rng(0)


def circles(n, places, eccentricity, rng):
    """Kepler orbits of a unit mass in a plane."""
    size, turn = rng.uniform(0.5, 2, (n, 1)), rng.uniform(0, 6.3, (n, 1))
    angle = rng.uniform(0, 6.3, (n, places))
    radius = size * (1 - eccentricity**2) / (1 + eccentricity * np.cos(angle))
    speed = 1 / np.sqrt(size * (1 - eccentricity**2))
    there = angle + turn
    place = np.stack([radius * np.cos(there), radius * np.sin(there)], axis=2)
    velocity = np.stack(
        [
            -speed * (np.sin(there) + eccentricity * np.sin(turn)),
            speed * (np.cos(there) + eccentricity * np.cos(turn)),
        ],
        axis=2,
    )
    return np.concatenate([place, velocity], axis=2)


def test_nearly_circular_orbits_are_found_out():
    states = circles(200, 8, 0.02, np.random.default_rng(1))
    points = states.reshape(-1, 4)
    found = find_degeneracy(points, ("x", "y", "p", "q"), points.std(axis=0), RNG)
    assert found is not None
    assert cf.same_concept(str(found.concept), "x*p + y*q").status != "different"
    wide = circles(200, 8, 0.6, np.random.default_rng(2)).reshape(-1, 4)
    assert find_degeneracy(wide, ("x", "y", "p", "q"), wide.std(axis=0), RNG) is None


def test_the_law_test_tells_energy_from_distance_on_ellipses():
    states = circles(60, 20, 0.3, np.random.default_rng(3))
    names = ["x", "y", "p", "q"]
    energy = law_test(cf.parse("(p**2 + q**2)/2 - 1/sqrt(x**2 + y**2)", names), states, RNG)
    distance = law_test(cf.parse("x**2 + y**2", names), states, RNG)
    assert energy.high < 1e-9
    assert distance.low > 0.1


def test_the_check_says_what_it_measured_and_refuses_what_data_cannot_tell():
    fine = KeptAlongOrbits(None, 1e-4, 0.01).measure()
    assert fine.passed
    assert "0.01%" in fine.text
    assert not KeptAlongOrbits(None, 0.002, 0.0).measure().passed
    assert not KeptAlongOrbits(None, 0.0, 0.0, "They are all circles.").measure().passed


def test_a_change_that_depends_on_the_place_is_seen_below_noise():
    places = RNG.normal(size=(2000, 3))
    noise = RNG.normal(size=2000)
    seen = split_change(noise + 0.5 * np.sin(2 * places[:, 0]), places, RNG)
    assert seen.systematic == pytest.approx(0.35, abs=0.1)
    assert split_change(noise, places, RNG).systematic == 0
    assert split_change(np.full(50, np.nan), places[:50], RNG) == ChangeParts(np.inf, np.inf)


def test_orbits_fill_what_they_fill():
    time = np.sort(np.random.default_rng(4).uniform(0, 3000, 1500))
    ring = np.column_stack([np.cos(time), np.sin(time)])
    assert orbit_dimension(ring, np.ones(2)) == pytest.approx(1, abs=0.2)
    assert orbit_dimension(ring[:100], np.ones(2)) is None


def test_a_count_is_certain_only_where_both_bounds_agree():
    assert Count(2, 2).is_certain
    assert not Count(2, 3).is_certain
    assert "too short" in str(Count(1, None))
    assert "roll-outs were ended" in str(Count(1, None, is_cut_short=True))


def test_drift_has_the_sign_of_growth_also_for_negative_quantities():
    times = np.linspace(0, 1, 5)
    states = -(1 + 0.02 * times)[None, :, None] * np.ones((4, 1, 1))
    found = measure_drift(cf.parse("x", ["x"]), states, times, RNG)
    assert found is not None
    assert found.total == pytest.approx(2.0)
    assert measure_drift(cf.parse("log(x)", ["x"]), states, times, RNG) is None


def test_velocities_know_their_errors():
    times = np.linspace(0, 12, 300)
    noise = 0.01 * np.random.default_rng(5).normal(size=(1, 300, 1))
    _, velocities, errors = differentiate_trajectories(np.sin(times)[None, :, None] + noise, times)
    error = np.sqrt(np.mean((velocities[0, 20:-20, 0] - np.cos(times[20:-20])) ** 2))
    assert error < 0.1
    assert error / 4 < errors.mean() < 4 * error


def test_constants_are_fitted_on_pairs():
    states = circles(300, 2, 0.5, np.random.default_rng(6))
    names = ["x", "y", "p", "q"]
    guess = cf.parse("(p**2 + q**2)/2 - 0.8/sqrt(x**2 + y**2)", names)
    found = fit_on_orbits(guess, states)
    truth = "(p**2 + q**2)/2 - 1/sqrt(x**2 + y**2)"
    assert law_test(found, states, RNG).change < 1e-4
    assert cf.same_concept(str(fit_on_orbits(cf.parse(truth, names), states)), truth)


def test_a_roll_out_that_cannot_go_on_says_so():
    with pytest.raises(RolloutError, match="shorter horizon"):
        follow_flow(
            as_row_function(lambda x: x**2),
            np.full((1, 1), 2.0),
            np.linspace(0, 5, 3),
            Ending(UNHURRIED.start()),
        )
    with (
        pytest.raises(RolloutError, match="3 steps"),
        pytest.warns(RuntimeWarning, match="overflow"),
    ):
        repeat_steps(
            as_row_function(lambda x: x**40), np.full((1, 1), 1e9), 3, Ending(UNHURRIED.start())
        )


def test_a_flow_of_another_shape_is_refused():
    with pytest.raises(ShapeError, match=r"jax\.vmap"):
        as_row_function(lambda x: x.sum(axis=1))(np.ones((3, 2)))
    with pytest.raises(TypeError, match=r"torch\.nn\.Module"):
        as_row_function(3)


def test_distances_between_bodies_are_terms():
    names = ("x1", "x2", "y1", "y2", "u1", "u2", "v1", "v2")
    points = np.random.default_rng(5).uniform(-2, 2, (600, 8))
    apart = points[:, [0, 2]] - points[:, [1, 3]]
    points = points[np.linalg.norm(apart, axis=1) > 0.5]
    apart = points[:, [0, 2]] - points[:, [1, 3]]
    pull = apart / np.linalg.norm(apart, axis=1)[:, None] ** 3
    velocities = np.stack(
        [*points[:, 4:].T, -pull[:, 0], pull[:, 0], -pull[:, 1], pull[:, 1]], axis=1
    )
    flow = Flow.of(cf.GradientField.from_flow(points, velocities, names=names))
    library = distance_library(SearchSpace(), names, flow.points, flow.scale)
    fit = prepare_fit(flow, library)
    assert fit is not None
    assert any("1/sqrt" in str(one) for one in find_sums(fit, names, RNG))
    assert not distance_library(SearchSpace(), tuple("abcdefgh"), flow.points, flow.scale)


def test_noise_leaves_plain_numbers_and_an_input_that_never_moves_hides_nothing():
    rng = np.random.default_rng(8)
    points = rng.uniform([-2, -1.5, 0.5], [2, 1.5, 2], (1500, 3))
    theta, speed, strength = points.T
    velocities = np.column_stack([speed, -strength * np.sin(theta), np.zeros(1500)])
    noise = 0.01 * np.sqrt(np.mean(velocities**2, axis=0)) * rng.normal(size=velocities.shape)
    field = cf.GradientField.from_flow(points, velocities + noise, names=["theta", "w", "c"])
    seen, held = Flow.of(field).split(rng)
    space = SearchSpace(operators=("add", "sub", "mul", "pow", "cos"))
    search = LawSearch(seen, held, space, rng)
    search.run(2, lambda: False)
    search.settle()
    assert {str(law.concept) for law in search.laws()} == {"c", "w**2/2 - c*cos(theta)"}


def test_few_points_on_a_stated_surface_are_enough():
    # Tangents were asked for at 400 points, however many there were.
    points = np.random.default_rng(9).normal(size=(300, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    velocities = np.column_stack([-points[:, 1], points[:, 0], np.zeros(300)])
    found = cf.conserved(
        velocities,
        points,
        names=["x", "y", "z"],
        constraints=["x**2 + y**2 + z**2 = 1"],
        budget=cf.Budget(evaluations=500),
        rng=0,
        progress=False,
    )
    assert [str(one) for one in found.concepts] == ["z"]
