from typing import Any

import numpy as np

import closedform as cf

RNG = np.random.default_rng(0)
POINTS = RNG.uniform(1, 2, (600, 2))
SIGNS = RNG.choice([-1.0, 1.0], (600, 1))


def field(signs: Any = 1.0, **options):
    return cf.GradientField.from_arrays(
        POINTS, POINTS[:, ::-1] * signs, names=["x", "y"], **options
    )


def test_signs_that_are_flipped_at_random_are_told():
    flipped = field(SIGNS)
    assert not flipped.is_signed
    finding = flipped.quality.finding("arbitrary-signs")
    assert finding is not None
    assert 0.4 < finding.data["share"] < 0.6


def test_an_answer_to_flipped_signs_says_so():
    answer = cf.interpret_field(field(SIGNS), budget=cf.Budget(evaluations=300), rng=0)
    assert "signs of the gradients are arbitrary" in str(answer)
    assert "signs of the gradients are arbitrary" in answer.explain()


def test_nothing_is_said_of_signs_that_hold_or_do_not_count():
    assert field().is_signed
    for one in (field(), field(SIGNS, signed=False)):
        assert one.quality.finding("arbitrary-signs") is None


def test_nothing_is_said_where_neighbours_are_far_apart():
    points = RNG.uniform(-1, 1, (300, 40))
    far = cf.GradientField.from_arrays(points, 2 * points)
    assert far.quality.finding("arbitrary-signs") is None
