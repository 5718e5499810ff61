import json
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest

from closedform.judge.confidence import Clues, Weighing, weighing, weights_of
from closedform.judge.regions import independent_pieces

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("n_inputs", [1, 2, 3])
def test_noise_counts_every_point_and_a_trend_few(n_inputs):
    points = RNG.uniform(-1, 1, (1000, n_inputs))
    noise = RNG.normal(size=(1000, 2))
    trend = np.sin(2 * points[:, :1]) * np.ones((1, 2))
    pieces = [independent_pieces(each, points) for each in (noise, trend, noise + 0.7 * trend)]
    assert pieces[0] > 700
    assert pieces[1] < 60
    assert pieces[1] < pieces[2] < pieces[0]


def test_no_error_at_all_counts_every_point():
    assert independent_pieces(np.zeros((30, 1)), RNG.normal(size=(30, 2))) == 30


def test_a_count_is_capped():
    numbers = Weighing((10.0, 20.0), 0.4, (0.0,))
    assert numbers.counts((5.0, 500.0)) == (5.0, 20.0)


def test_spellings_of_one_form_count_once():
    plain = weights_of(np.array([0.0, 1.0]), [0, 1])
    copied = weights_of(np.array([0.0, 0.0, 0.0, 1.0]), [0, 0, 0, 1])
    assert copied[[0, 3]] == pytest.approx(plain)
    assert copied.sum() == pytest.approx(1)


def test_each_clue_points_the_way_that_it_should():
    for has_values, left, rough, smooth in ((True, -10.0, 6.0, 2.5), (False, -20.0, 0.0, -3.0)):
        numbers = weighing(has_values=has_values)
        good = Clues(step=3.0, left=left, shared=rough, excess=0.0, n_chosen=0.0)
        poor = Clues(step=-0.5, left=-2.0, shared=smooth, excess=5.0, n_chosen=3.0)
        assert numbers.chance_of_truth(good) > 0.9
        assert numbers.chance_of_truth(poor) < 0.1
        for clue, worse in (("step", -0.5), ("shared", smooth), ("n_chosen", 3.0)):
            doubtful = replace(good, **{clue: worse})
            assert numbers.chance_of_truth(doubtful) < numbers.chance_of_truth(good)


def test_the_fitted_numbers_name_their_run():
    stored = json.loads(files("closedform.judge").joinpath("weighing.json").read_text())
    assert {"command", "collected", "cases"} <= set(stored["run"])
