import numpy as np
import pytest

from closedform.field.tangent_space import TangentSpace, robust_spread
from closedform.sweeping.likeness import Likenesses, describe

POINTS = np.random.default_rng(0).uniform(-1, 1, (400, 2))
X, Y = POINTS.T
G = X**2 + 3 * Y
DG = np.stack([2 * X, 3 + 0 * Y], axis=1)


def likeness(gradients, values):
    scale = robust_spread(POINTS)
    return describe(
        np.asarray(gradients)[None], np.asarray(values)[None], TangentSpace("none", 2), scale
    )[0]


CONCEPT = likeness(DG, G)


@pytest.mark.parametrize(
    ("factor", "values"),
    [
        (2 + 0 * G, 2 * G),
        (-1 + 0 * G, -G),
        (np.exp(G), np.exp(G)),
        (-3 * G**2 - 1, -(G**3) - G),
        (1 - np.tanh(G) ** 2, np.tanh(G)),
    ],
)
def test_functions_of_a_neuron_are_like_it(factor, values):
    other = likeness(DG * factor[:, None], values)
    assert CONCEPT.matches(other)
    seen = Likenesses()
    seen.add(CONCEPT, "first")
    assert seen.find(other) == "first"


@pytest.mark.parametrize(
    ("gradients", "values"),
    [
        # The square of what changes its sign is another concept, though its directions are the same
        # up to signs.
        (DG * G[:, None], G**2),
        (DG + np.array([0, 1e-3]), G + 1e-3 * Y),
        (np.stack([X, Y], axis=1), X**2 + Y**2),
        # The same directions with values in another order: parts that do not hang together.
        (DG, np.where(X > 0.5, G - 9, G)),
        (DG * (X > 0)[:, None], np.where(X > 0, G, 0)),
    ],
)
def test_others_are_not(gradients, values):
    other = likeness(gradients, values)
    assert not CONCEPT.matches(other)
    seen = Likenesses()
    seen.add(CONCEPT, "first")
    assert seen.find(other) is None


def test_rounding_of_single_precision_makes_no_difference():
    assert CONCEPT.matches(likeness(DG.astype(np.float32), G.astype(np.float32)))


@pytest.mark.parametrize(("share", "is_dead"), [(1.0, True), (0.985, True), (0.9, False)])
def test_the_dead(share, is_dead):
    alive = np.arange(400) >= share * 400
    assert likeness(DG * alive[:, None], G * alive).is_dead is is_dead


def test_gradients_that_are_not_finite_do_not_count():
    broken = DG.copy()
    broken[:100] = np.nan
    assert likeness(broken, G).zero_share == 0.25


def test_many_are_remembered():
    rng = np.random.default_rng(1)
    slopes = rng.normal(size=(200, 2))
    gradients = np.stack([slope + 0 * POINTS for slope in slopes])
    values = np.stack([POINTS @ slope for slope in slopes])
    found = describe(gradients, values, TangentSpace("none", 2), robust_spread(POINTS))
    seen = Likenesses()
    for number, one in enumerate(found):
        assert seen.find(one) is None
        seen.add(one, str(number))
    assert [seen.find(one) for one in found] == [str(number) for number in range(200)]
