import numpy as np
import pytest

import closedform as cf
from closedform.basics.keywords import KeywordError

NAMES = ["x", "v"]
SQUARES = cf.SearchSpace(operators=["add", "mul"], max_degree=2)
"""Room enough for the energy of an oscillator, where a test is not about the search."""


def oscillator(points):
    return np.column_stack([points[:, 1], -points[:, 0]])


def swings(n, steps, rng, *, largest=2.0, least=0.3, noise=0.0):
    """Orbits of an oscillator."""
    size, phase = rng.uniform(least, largest, (n, 1)), rng.uniform(0, 6.3, (n, 1))
    angle = phase + np.linspace(0, 7, steps)
    states = np.stack([size * np.sin(angle), size * np.cos(angle)], axis=2)
    return states + noise * rng.normal(size=states.shape)


def find(*arguments, **options):
    return cf.conserved(*arguments, names=NAMES, rng=0, budget=600, progress=False, **options)


def same(law, text):
    return cf.same_concept(law.concept, text, NAMES).status != "different"


def test_a_flow_has_its_energy_and_no_room_for_more():
    found = find(oscillator, np.random.default_rng(0).uniform(-1, 1, (300, 2)))
    assert [law.verdict.status for law in found.laws] == ["verified"]
    assert same(found.laws[0], "x**2 + v**2")
    assert found.count.is_certain
    assert found.count.lower == 1
    drift = found.laws[0].drift
    assert drift is not None
    assert abs(drift.total) < 1e-4


@pytest.fixture(scope="module")
def swinging():
    """The laws of some trajectories."""
    states = swings(30, 40, np.random.default_rng(1))
    return find(trajectories=states, times=np.linspace(0, 7, 40))


def test_trajectories_have_it_too_and_the_law_test_is_made(swinging):
    assert same(swinging.verified[0], "x**2 + v**2")
    test = swinging.verified[0].test
    assert test is not None
    assert test.high < 1e-6
    assert test.n_orbits == 10


def test_distant_pairs_need_no_directions():
    found = find(pairs=swings(600, 2, np.random.default_rng(2)))
    assert same(found.verified[0], "x**2 + v**2")
    assert found.verified[0].interpretation is None


def test_noise_is_told_from_a_change():
    found = find(pairs=swings(900, 2, np.random.default_rng(3), noise=0.01), space=SQUARES)
    law = found.verified[0]
    points = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    direction = law.concept.gradient(points)
    cosine = np.einsum("nd,nd->n", direction, points) / np.linalg.norm(direction, axis=1)
    assert (np.abs(cosine) / np.linalg.norm(points, axis=1)).min() > 0.99
    assert law.change.systematic == 0
    assert law.change.total > 1e-3


def test_friction_leaves_no_law():
    def damped(points):
        return np.column_stack([points[:, 1], -points[:, 0] - 0.2 * points[:, 1]])

    found = cf.conserved(
        damped,
        np.random.default_rng(4).uniform(-2, 2, (400, 2)),
        names=NAMES,
        rng=0,
        budget=3,
        space=SQUARES,
        engine="terms",
        progress=False,
    )
    assert found.verified == ()
    assert found.count.lower == 0


def test_one_energy_cannot_show_that_it_is_kept_and_that_is_said():
    states = swings(20, 30, np.random.default_rng(5), largest=1.001, least=0.999)
    found = find(trajectories=states, space=SQUARES)
    assert not any(same(law, "x**2 + v**2") for law in found.verified)
    assert "x**2 + v**2" in found.warnings[0]
    assert "Choose initial conditions" in found.warnings[0]


def test_a_simulator_that_loses_energy_is_told_by_how_much():
    turn = np.array([[np.cos(0.1), np.sin(0.1)], [-np.sin(0.1), np.cos(0.1)]]) * (1 - 1e-4)
    points = np.random.default_rng(6).uniform(-1, 1, (300, 2))
    found = find(
        simulator=lambda x: x @ turn.T,
        points=points,
        laws=["x**2 + v**2"],
        horizon=63,
        space=SQUARES,
    )
    law = next(law for law in found.laws if same(law, "x**2 + v**2"))
    assert law.drift is not None
    assert law.drift.total == pytest.approx(100 * ((1 - 1e-4) ** (2 * 63) - 1), rel=0.05)
    assert law.drift.per_step == pytest.approx(0.02, rel=0.5)


def test_functions_of_laws_do_not_count_twice():
    def two(points):
        return np.column_stack([points[:, 1], -points[:, 0], points[:, 3], -4 * points[:, 2]])

    points = np.random.default_rng(7).uniform(-1, 1, (500, 4))
    found = cf.conserved(
        two(points), points, names=["x", "v", "y", "w"], rng=0, budget=600, progress=False
    )
    assert found.count.lower == len(found.verified) == 3
    assert found.count.upper is None


def test_a_torch_module_is_a_flow():
    torch = pytest.importorskip("torch")

    class Turning(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.turn = torch.nn.Linear(2, 2, bias=False)
            self.turn.weight.data = torch.tensor([[0.0, 1.0], [-1.0, 0.0]])

        def forward(self, time, state):
            return self.turn(state) + 0 * time

    module = Turning().double()
    found = find(module, np.random.default_rng(8).uniform(-1, 1, (300, 2)))
    assert same(found.verified[0], "x**2 + v**2")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "got none of them"),
        ({"flow": oscillator}, "needs points"),
        ({"flow": oscillator, "pairs": np.zeros((3, 2, 2))}, "flow and pairs"),
    ],
)
def test_what_is_missing_is_said(given, message):
    with pytest.raises(KeywordError, match=message):
        cf.conserved(**given)


def test_the_same_seed_gives_the_same_answer():
    pairs = swings(300, 2, np.random.default_rng(9))
    first, second = (find(pairs=pairs) for _ in range(2))
    assert [str(law) for law in first.laws] == [str(law) for law in second.laws]


def test_the_drift_is_drawn(swinging):
    pytest.importorskip("matplotlib")
    axes = swinging.plot_drift()
    assert axes.get_ylabel() == "change (%)"
    assert len(axes.lines) == len(swinging.laws) + 1


def test_what_disturbs_a_law_less_than_matters_does_not_refute_it():
    rng = np.random.default_rng(7)
    times = np.linspace(0, 6, 40)
    size, start = rng.uniform(0.5, 2, (30, 1)), rng.uniform(0, 6.3, (30, 1))
    phase = start + times
    radius = size * (1 + 3e-5 * np.sin(3 * phase))
    states = np.stack([radius * np.cos(phase), -radius * np.sin(phase)], axis=2)
    found = find(trajectories=states, times=times, space=SQUARES)
    assert [str(concept) for concept in found.concepts] == ["x**2 + v**2"]
