import numpy as np
import pytest

import closedform as cf
from closedform.errors import ShapeError
from closedform.interpretation.answer_data import spreads
from closedform.reading.several_networks import common_field
from closedform.searching.budget import Budget

BUDGET = Budget(evaluations=800)
NAMES = ["x", "v"]
TRUTH = cf.parse("x**2 + 2*v**2 + x*v", names=NAMES)


def network(seed, bias=0.05, n_points=400, points_seed=0):
    """A latent that is a distorted, smoothly wrong copy of the truth."""
    rng = np.random.default_rng(seed)
    points = np.random.default_rng(points_seed).uniform(-1.5, 1.5, (n_points, 2))
    slope = np.stack(
        [np.sin(points @ rng.normal(size=(2, 1)) + rng.uniform(0, 6)) for _ in range(2)], axis=1
    )[:, :, 0]
    gradients = TRUTH.gradient(points) + bias * slope
    return cf.GradientField.from_arrays(
        points, gradients, latents=np.tanh(TRUTH(points) * rng.choice([-1, 1])), names=NAMES
    )


def error(field):
    exact = TRUTH.gradient(field.points)
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    return float(np.mean(1 - (field.directions[:, :, 0] * exact).sum(axis=1) ** 2))


@pytest.fixture(scope="module")
def found():
    fields = [network(seed) for seed in range(4)]
    return fields, cf.interpret_fields(fields, engine="terms", budget=BUDGET, rng=0)


def test_directions_that_networks_agree_on_are_nearer_to_the_truth():
    fields = [network(seed) for seed in range(5)]
    assert error(common_field(fields)) < 0.4 * np.median([error(field) for field in fields])


def test_agreed_directions_have_one_sign():
    common = common_field([network(seed, bias=0.0) for seed in range(3)])
    exact = TRUTH.gradient(common.points)
    signs = np.sign((common.directions[:, :, 0] * exact).sum(axis=1))
    assert abs(signs.mean()) == 1


def test_points_where_networks_disagree_count_less():
    fields = [network(seed, bias=0.3) for seed in range(3)]
    common = common_field(fields)
    apart = 1 - np.mean(
        [(f.directions[:, :, 0] * common.directions[:, :, 0]).sum(axis=1) ** 2 for f in fields],
        axis=0,
    )
    assert (
        common.weights[apart > np.quantile(apart, 0.9)].max()
        < common.weights[apart < np.median(apart)].min()
    )


def test_the_common_concept_is_judged_on_every_network(found):
    fields, interpretation = found
    assert bool(cf.same_concept(str(interpretation.concept), str(TRUTH), NAMES))
    assert [reading.name for reading in interpretation.networks] == [
        f"network {i}" for i in range(1, 5)
    ]
    assert all(reading.verdicts[0].status == "verified" for reading in interpretation.networks)
    assert (
        interpretation.agreement
        == "All 4 networks agree on this formula: each verifies it with constants of its own."
    )
    # Each with its own bias, so that no two have the same constants.
    assert len({reading.constants for reading in interpretation.networks}) == len(fields)


def test_constants_come_with_their_spread(found):
    interpretation = found[1]
    for spread in spreads(interpretation.networks):
        assert len(spread.values) == 4
        assert 0 < spread.error < 0.1
        assert min(abs(spread.mean - truth) for truth in (1.0, 0.5, 2.0)) < 5 * spread.error


def test_saved_and_loaded_it_is_equal(found, tmp_path):
    found[1].save(tmp_path / "r.json")
    assert cf.load_interpretation(tmp_path / "r.json") == found[1]


def test_a_network_that_holds_something_else_is_named():
    points = network(0).points
    other = cf.GradientField.from_arrays(
        points, np.stack([np.cos(3 * points[:, 1]), points[:, 0]], axis=1), names=NAMES
    )
    interpretation = cf.interpret_fields(
        [*(network(seed, 0.0) for seed in range(3)), other],
        engine="terms",
        budget=BUDGET,
        space=cf.SearchSpace(operators=["add", "sub", "mul"]),
        rng=0,
        network_names=list("abcd"),
    )
    assert [reading.verdicts[0].status for reading in interpretation.networks] == [
        *["verified"] * 3,
        "none",
    ]
    assert "3 of 4" in interpretation.agreement


def test_fields_at_other_points_are_put_together():
    fields = [network(seed, points_seed=seed, n_points=200) for seed in range(2)]
    common = common_field(fields)
    assert common.n_points == 400
    for place, field in enumerate(fields):
        part = common.directions[200 * place : 200 * (place + 1), :, 0]
        np.testing.assert_allclose(
            np.abs((part * field.directions[:, :, 0]).sum(axis=1)), 1.0, atol=1e-9
        )


def test_networks_of_other_inputs_are_refused():
    points = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    other = cf.GradientField.from_arrays(points, points, names=["a", "b"])
    with pytest.raises(ShapeError, match="different inputs"):
        common_field([network(0), other])


def test_a_list_of_networks_is_read_together():
    points = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    models = [
        lambda x: np.tanh(x[:, 0] ** 2 + 2 * x[:, 1]),
        lambda x: np.exp(-(x[:, 0] ** 2) - 2 * x[:, 1]),
    ]
    interpretation = cf.interpret(
        models, points, 0, names=NAMES, engine="terms", budget=BUDGET, rng=0
    )
    assert str(interpretation.concept) == "2*v + x**2"
    assert len(interpretation.networks) == 2
    assert interpretation.verdict.status == "verified"


def test_names_of_networks_are_counted_before_the_search(monkeypatch):
    """They were counted after it, and cost the answer."""
    import closedform.reading.several_networks as several

    monkeypatch.setattr(
        several, "interpret_field", lambda *_, **__: pytest.fail("the search was begun")
    )
    points = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    fields = [cf.GradientField.from_arrays(points, points)] * 2
    with pytest.raises(ShapeError, match="3 names for 2 networks"):
        cf.interpret_fields(fields, network_names=["a", "b", "c"])
