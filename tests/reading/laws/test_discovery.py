from dataclasses import replace

import numpy as np
import pytest

import closedform as cf
from closedform.errors import ShapeError
from closedform.networks.siamese_training import SiameseOptions
from closedform.searching.budget import Budget

BUDGET = Budget(evaluations=200)
PLAIN = cf.SearchSpace(operators=["add", "sub", "mul"], max_degree=2)
QUICK = SiameseOptions(
    hidden=(32, 32),
    activation="elu",
    learning_rate=1e-2,
    batch_size=128,
    epochs=20,
    schedule="cycle",
    standardize=True,
    loss="contrast",
)


def turned(n, rng):
    """Points and the same turned around the third axis: the distance from it and the height are
    shared.
    """
    points = rng.uniform(-1, 1, (n, 3))
    angle = rng.uniform(0, 2 * np.pi, n)
    cos, sin = np.cos(angle), np.sin(angle)
    after = np.column_stack(
        [
            cos * points[:, 0] - sin * points[:, 1],
            sin * points[:, 0] + cos * points[:, 1],
            points[:, 2],
        ]
    )
    return np.stack([points, after], axis=1)


@pytest.mark.parametrize("how", ["grow", "hold"])
def test_the_invariant_of_a_plane_rotation_is_found_and_no_more(how):
    """Networks with latents to spare, or asked for more, know no more."""
    found = cf.discover(
        lambda n, rng: turned(n, rng)[:, :, :2],
        names=["x", "y"],
        how=how,
        training=replace(QUICK, epochs=12),
        n_pairs=2000,
        n_points=200,
        engine="terms",
        budget=BUDGET,
        space=PLAIN,
        rng=0,
    )
    assert found.is_complete
    (concept,) = found.concepts
    assert "no more" in found.sentence or "nothing more" in found.sentence
    points = np.random.default_rng(1).uniform(0.2, 1, (50, 2))
    gradient = concept.gradient(points)
    turn = gradient[:, 0] * points[:, 1] - gradient[:, 1] * points[:, 0]
    sizes = np.linalg.norm(gradient, axis=1) * np.linalg.norm(points, axis=1)
    assert np.mean((turn / sizes) ** 2) < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("how", ["grow", "hold"])
def test_both_invariants_of_a_rotation_are_found_and_no_more(how):
    found = cf.discover(
        turned,
        names=["x", "y", "z"],
        how=how,
        training=QUICK,
        n_pairs=3000,
        n_points=500,
        engine="terms",
        budget=BUDGET,
        rng=0,
    )
    assert found.is_complete
    assert len(found.concepts) == 2
    assert "no more" in found.sentence
    points = np.random.default_rng(1).uniform(0.2, 1, (50, 3))
    truths = [cf.parse("x**2 + y**2", names=["x", "y", "z"]), cf.parse("z", names=["x", "y", "z"])]
    spans = np.linalg.qr(np.stack([truth.gradient(points) for truth in truths], axis=2))[0]
    for concept in found.concepts:
        gradient = concept.gradient(points)
        gradient /= np.linalg.norm(gradient, axis=1, keepdims=True)
        assert 1 - np.mean(np.einsum("ndk,nd->nk", spans, gradient) ** 2 @ np.ones(2)) < 1e-3


def test_something_else_than_pairs_is_refused():
    with pytest.raises(ShapeError, match="sampler"):
        cf.discover(lambda n, rng: rng.normal(size=(n, 3)), n_pairs=10)


def test_pairs_are_read_without_a_network():
    found = cf.discover(turned, names=["x", "y", "z"], n_pairs=900, budget=600, rng=0)
    assert found.rounds == ()
    assert found.laws is not None
    assert len(found.concepts) == len(found.tests) == 2
    assert max(test.high for test in found.tests) < 1e-6
    assert "pairs themselves" in found.sentence
