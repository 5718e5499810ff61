from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from closedform.errors import ReportError
from closedform.interpretation.evidence import Directions, Phi
from closedform.report.figure_numbers import (
    LogAxis,
    angle_histogram,
    arrows,
    front_axis,
    scatter,
    short_number,
    thinned,
    ticks,
)


@given(st.lists(st.floats(0, 1), min_size=1))
def test_a_log_axis_holds_every_value_above_its_foot(values):
    axis = LogAxis.around(values)
    shares = [axis.share(value) for value in values]
    assert all(0 < share <= 1 for share in shares)
    assert axis.high - axis.low >= 2
    assert len(axis.exponents) <= 7


def test_shares_are_logarithmic():
    assert LogAxis(-4, 0).share(1e-1) == pytest.approx(0.75)
    assert LogAxis(-4, 0).share(0.0) == 0
    assert LogAxis(-4, 0).percent(3e-1) == 86.93


def test_the_axis_of_a_front_holds_its_floor(example):
    assert front_axis(replace(example, floor=1e-6)).low < -5
    assert front_axis(example).low == -4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda found: {"chosen": 99}, "chosen is 99"),
        (lambda found: {"steepest_drop": -1}, "steepest_drop is -1"),
        (lambda found: {"front": found.front[::-1]}, "order of complexity"),
        (lambda found: {"floor": float("nan")}, "finite"),
        (lambda found: {"front": (replace(found.front[0], misalignment=float("inf")),)}, "finite"),
    ],
)
def test_a_front_that_does_not_fit_is_refused(example, change, message):
    with pytest.raises(ReportError, match=message):
        front_axis(replace(example, **change(example)))


def test_a_histogram_counts_every_angle_once():
    angles = np.random.default_rng(0).exponential(3, 1000)
    data = angle_histogram(angles.tolist())
    assert data is not None
    assert data.shares.sum() == pytest.approx(1)
    assert data.median == pytest.approx(np.median(angles))
    assert (angles < data.upper).mean() == pytest.approx(0.95, abs=0.01)


def test_a_histogram_of_perfect_angles_is_no_division_by_zero():
    data = angle_histogram([0.0] * 5)
    assert data is not None
    assert data.shares[0] == 1
    assert angle_histogram([np.nan]) is None
    assert angle_histogram(()) is None


def sampled(concept, latent):
    return Phi(1.0, 1.0, 1.0, (0.0, 1.0), (0.0, 1.0), tuple(concept), tuple(latent))


def test_a_scatter_leaves_out_what_is_not_finite():
    data = scatter(sampled([0.0, np.inf, 2.0, 1.0], [1.0, 1.0, np.nan, 3.0]))
    assert data is not None
    assert data.x.tolist() == [0, 1]
    assert scatter(sampled([np.nan], [1.0])) is None
    assert scatter(sampled((), ())) is None
    assert scatter(None) is None


def test_half_a_sample_is_refused():
    with pytest.raises(ReportError, match="1 values of x and 2 of y"):
        scatter(sampled([0.0], [0.0, 1.0]))


def test_a_far_outlier_does_not_squeeze_the_rest():
    values = np.append(np.linspace(0, 1, 300), 1e6)
    data = scatter(sampled(values, values))
    assert data is not None
    assert data.x_range[1] < 2


def test_a_constant_still_has_a_range():
    data = scatter(sampled([3.0, 3.0], [0.0, 0.0]))
    assert data is not None
    assert data.x_range[0] < 3 < data.x_range[1]
    assert data.y_range[0] < 0 < data.y_range[1]


def directions(*vectors):
    return Directions(*(tuple(map(tuple, rows)) for rows in vectors))


def test_arrows_are_unit_vectors_on_the_networks_side():
    rng = np.random.default_rng(0)
    points, network = rng.normal(size=(500, 2)), rng.normal(size=(500, 2))
    network[0] = 0
    network[1] = np.inf
    data = arrows(directions(points, network, -3 * network), limit=100)
    assert data is not None
    shown, unit, concept = data
    assert len(shown) <= 100
    assert np.allclose(np.linalg.norm(unit, axis=1), 1)
    assert np.allclose(unit, concept)
    assert arrows(directions(points, np.zeros_like(network), network)) is None
    assert arrows(None) is None


def test_directions_that_do_not_fit_their_points_are_refused():
    points = np.ones((3, 2))
    with pytest.raises(ReportError, match="two numbers at each"):
        arrows(directions(points, np.ones((4, 2)), points))


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_lie_inside_and_are_few(low, span):
    found = ticks(low, low + span)
    assert all(
        low - 1e-6 * span - 1e-9 <= value <= low + span + 1e-6 * span + 1e-9 for value in found
    )
    assert 2 <= len(found) <= 9


def test_short_numbers():
    assert [short_number(value) for value in (0.0, 1.0, 0.25, 1234.0)] == ["0", "1", "0.25", "1200"]
    assert short_number(-2e-9) == "-2\N{MULTIPLICATION SIGN}10⁻⁹"


def test_thinning_keeps_both_ends():
    rows = thinned(1000, 10)
    assert (rows[0], rows[-1], len(rows)) == (0, 999, 10)
    assert thinned(3, 10).tolist() == [0, 1, 2]
