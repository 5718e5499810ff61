import numpy as np
import pytest

import closedform as cf
from closedform.expressions.parse import parse
from closedform.reading.laws.motions import NeededNoise, Orbits, explained_share

NAMES = ("x", "y", "z", "w")
SQUARES = cf.SearchSpace(operators=["add", "mul"], max_degree=2)


def moved(noise, n=1500):
    """Pairs that keep x + y and z + w while x and z move a little, forwards or backwards."""
    rng = np.random.default_rng(0)
    first, step = rng.normal(size=(n, 4)), 0.12 * rng.normal(size=(n, 2))
    second = first + step @ [[1, -1, 0, 0], [0, 0, 1, -1]]
    pairs = np.stack([first, second], axis=1)
    return pairs + noise * rng.normal(size=pairs.shape)


def laws(pairs, **options):
    return cf.conserved(
        pairs=pairs, names=NAMES, space=SQUARES, rng=0, budget=600, progress=False, **options
    )


@pytest.mark.parametrize("noise", [0.01, [0.002, 0.002, 0.02, 0.02]], ids=["equal", "unequal"])
def test_what_moves_unpredictably_is_not_put_down_to_noise(noise):
    found = laws(moved(np.array(noise)))
    assert sorted(str(law.concept) for law in found.verified) == ["x + y", "z + w"]


def test_a_stated_formula_is_held_against_the_noise_too():
    found = laws(moved(0.01), laws=["x", "2*x + 2*y"])
    status = {str(law.concept): law.verdict.status for law in found.laws}
    assert status["x"] != "verified"
    assert status["x + y"] == "verified"


def test_noise_of_one_input_says_nothing_of_another():
    kept = NeededNoise(1.0, np.array([0.5, 0.5, 0.0]))
    assert explained_share(NeededNoise(9.0, np.array([0.5, 0.5, 0.0])), [kept]) < 0.12
    assert explained_share(NeededNoise(9.0, np.array([0.0, 0.1, 0.9])), [kept]) == 1.0


def test_a_copy_of_a_law_is_none_beside_it():
    pairs = moved(0.01)
    orbits = Orbits(pairs, NAMES, pairs[:, 0].std(axis=0))
    law = parse("x + y", NAMES)
    own, copy = parse("z + w", NAMES), parse("x + y + 0.05*x**2", NAMES)
    needed = orbits.needed_noise(law).variance
    assert orbits.needed_noise(copy).variance < 2.5 * needed
    assert orbits.needed_noise(copy, [law]).variance > 20 * needed
    assert orbits.needed_noise(own, [law]).variance < 1.2 * needed


@pytest.mark.parametrize("n_places", [2, 5])
def test_needed_noise_is_the_noise(n_places):
    rng = np.random.default_rng(1)
    turn, size = rng.uniform(0, 6.3, (800, n_places)), rng.uniform(1, 2, (800, 1))
    groups = np.stack([size * np.cos(turn), size * np.sin(turn)], axis=2)
    noisy = Orbits(groups + 0.01 * rng.normal(size=groups.shape), ("x", "y"), np.ones(2))
    found = noisy.needed_noise(parse("x**2 + y**2", ["x", "y"]))
    assert np.sqrt(found.variance) == pytest.approx(0.01, rel=0.07)
    np.testing.assert_allclose(found.shares, 0.5, atol=0.03)


def test_noise_does_not_make_a_stated_constraint_a_coincidence():
    rng = np.random.default_rng(2)
    height, turn = rng.uniform(-0.9, 0.9, (1500, 1)), rng.uniform(0, 6.3, (1500, 2))
    radius = np.sqrt(1 - height**2)
    ball = np.stack([radius * np.cos(turn), radius * np.sin(turn), height + 0 * turn], axis=2)
    pairs = ball + 0.003 * rng.normal(size=ball.shape)
    given = {"pairs": pairs, "names": NAMES[:3], "space": SQUARES, "rng": 0, "budget": 600}
    stated = cf.conserved(**given, constraints=["x**2 + y**2 + z**2 = 1"], progress=False)
    assert [str(law.concept) for law in stated.verified] == ["z"]
    assert not stated.warnings
    silent = cf.conserved(**given, progress=False)
    assert not silent.verified
    assert "hardly varies" in silent.warnings[0]


def test_an_input_that_mostly_stays_is_measured_by_the_rest():
    pairs = moved(0.0)
    pairs[:900, 1] = pairs[:900, 0]
    orbits = Orbits(pairs, NAMES, np.ones(4))
    needed = orbits.needed_noise(parse("x", NAMES))
    assert needed.variance > 1e-3
    still = NeededNoise(0.0, needed.shares)
    assert explained_share(needed, [still]) == 0.0
    assert explained_share(still, [needed]) == 1.0
