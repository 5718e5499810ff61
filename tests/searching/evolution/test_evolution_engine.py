import _thread
import pickle
import threading
import time

import numpy as np
import pytest

import closedform as cf
from closedform.basics.progress import Silent
from closedform.field.alignment.misalignment import point_misalignment
from closedform.field.gradient_field import GradientField
from closedform.searching.budget import Budget
from closedform.searching.engine import Engine
from closedform.searching.evolution.evolution_engine import Evolution, choose_units
from closedform.searching.space import SearchSpace

pytest.importorskip("pyoperon")


def make_field(truth, names=("x", "v"), n_points=400, seed=0, units=None, noise=0.0, **options):
    rng = np.random.default_rng(seed)
    points = rng.uniform(-2, 2, (n_points, len(names)))
    gradients = cf.parse(truth, names=list(names)).gradient(points)
    gradients += (
        noise * rng.normal(size=gradients.shape) * np.linalg.norm(gradients, axis=1, keepdims=True)
    )
    if units is not None:
        points, gradients = points * units, gradients / units
    return GradientField.from_arrays(points, gradients, names=list(names), **options)


def run(field, *, engine=None, space=None, seed=0, progress=None, **limits):
    engine = engine or Evolution(population=200)
    return engine.search(
        field,
        space or SearchSpace(),
        Budget(**limits),
        np.random.default_rng(seed),
        progress or Silent(),
    )


def lines(result):
    return [(c.complexity, c.misalignment.hex(), str(c.expression)) for c in result.front]


def test_it_is_an_engine():
    assert isinstance(Evolution(), Engine)


@pytest.mark.parametrize("truth", ["x*v", "v**2/2 + sin(x)", "x/(1 + v**2)"])
def test_concepts_are_found(truth):
    result = run(make_field(truth), evaluations=150_000)
    assert result.status == "finished"
    assert result.front.best is not None
    fresh = make_field(truth, seed=9)
    lost = point_misalignment(
        result.front.best.expression.gradient(fresh.points) * fresh.scale, fresh.frames
    )
    assert lost.max() < 1e-6


@pytest.mark.parametrize("factor", [1000.0, 0.001])
def test_units_do_not_matter(factor):
    units = np.array([factor, 1.0])
    result = run(make_field("v**2/2 + sin(x)", units=units), evaluations=150_000, target=1e-13)
    assert result.front.best is not None
    assert result.front.best.misalignment < 1e-12
    truth = cf.parse(f"v**2/2 + sin(x/{factor})", names=["x", "v"])
    points = np.random.default_rng(3).uniform(-2, 2, (200, 2)) * units
    found, expected = (e.gradient(points) * units for e in (result.front.best.expression, truth))
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert point_misalignment(found, expected[:, :, None]).max() < 1e-6


def test_units_are_powers_of_a_thousand():
    np.testing.assert_allclose(
        choose_units(np.array([0.04, 30.0, 40.0, 4e-4])), [1, 1, 1000, 1e-3], rtol=1e-15
    )


def test_the_front_is_judged_on_all_points_in_the_users_units():
    field = make_field("x**2 + v", n_points=3000, units=np.array([2000.0, 1.0]), noise=0.05)
    result = run(field, evaluations=5000)
    for candidate in result.front:
        gradients = candidate.expression.gradient(field.points) * field.scale
        assert point_misalignment(gradients, field.frames).mean() == pytest.approx(
            candidate.misalignment, rel=1e-9
        )
        assert candidate.complexity == candidate.expression.complexity()
        assert candidate.engine == "evolution"


def test_several_latents_and_a_tangent_space():
    rng = np.random.default_rng(0)
    points = rng.uniform(-2, 2, (400, 4))
    first, second = (cf.parse(text, names=["a", "b", "c", "d"]) for text in ("a*b", "c + d**2"))
    jacobians = np.stack([first.gradient(points), second.gradient(points)], axis=1)
    result = run(
        GradientField.from_arrays(points, jacobians, names=["a", "b", "c", "d"]), evaluations=20_000
    )
    assert result.front.best is not None
    assert result.front.best.misalignment < 1e-12
    points[:, 3] = 1 - points[:, 0]
    field = GradientField.from_arrays(
        points, first.gradient(points) + 5, names=["a", "b", "c", "d"], tangent="linear"
    )
    assert run(field, evaluations=2000).front.best is not None


def test_the_same_seed_gives_the_same_front():
    field = make_field("x*v + exp(x)", noise=0.02)
    engine = Evolution(population=150, islands=2)
    first = run(field, engine=engine, evaluations=4000)
    second = run(field, engine=pickle.loads(pickle.dumps(engine)), evaluations=4000)
    assert lines(first) == lines(second)
    assert lines(first) != lines(run(field, engine=engine, evaluations=4000, seed=1))


def test_an_evaluation_budget_is_kept():
    result = run(make_field("x*v + exp(x)", noise=0.1), evaluations=3210)
    assert result.status == "evaluations"
    assert 3210 <= result.statistics["evaluations"] < 3210 + 50


def test_a_target_ends_the_search():
    result = run(make_field("v**2/2 + sin(x)"), evaluations=10**6, target=0.05)
    assert result.status == "target"
    assert result.front.best is not None
    assert result.front.best.misalignment <= 0.06


def test_ctrl_c_gives_the_best_so_far():
    field = make_field("x*v/(1 + x**2) + exp(sin(3*x))", noise=0.2)
    run(field, evaluations=500)
    pressed = []
    timer = threading.Timer(
        1.0, lambda: (pressed.append(time.process_time()), _thread.interrupt_main())
    )
    timer.start()
    result = run(field, seconds=60)
    assert result.status == "interrupted"
    assert len(result.front) > 0
    assert time.process_time() - pressed[0] < 1.5


def test_the_space_is_respected():
    space = SearchSpace(operators=("add", "mul", "sin"), max_complexity=14, inside={"sin": ["v"]})
    result = run(make_field("x**3*v + exp(x)", noise=0.05), space=space, evaluations=8000)
    assert len(result.front) > 2
    for candidate in result.front:
        assert candidate.complexity <= 14
        assert space.allows(candidate.expression.tree, candidate.expression.names)


def test_seeds_and_guesses_are_used():
    field = make_field("sin(x*v)/(1 + exp(x)) + v**3")
    seed = cf.parse("sin(x*v)/(1 + exp(x)) + 1.3*v**3", names=["x", "v"])
    for engine, space in (
        (Evolution(population=100, seeds=(seed,)), SearchSpace()),
        (Evolution(population=100), SearchSpace(guesses=[str(seed)])),
    ):
        result = run(field, engine=engine, space=space, evaluations=400)
        assert result.front.best is not None
        assert result.front.best.misalignment < 1e-9


def test_restarts_when_stuck():
    field = make_field("x*v", noise=1.0)
    result = run(field, engine=Evolution(population=50, patience=3), evaluations=10_000)
    assert result.statistics["restarts"] > 1


def test_nothing_to_search_is_no_error():
    dead = GradientField.from_arrays(
        np.random.default_rng(0).normal(size=(50, 2)), np.zeros((50, 2))
    )
    assert len(run(dead, evaluations=1000).front) == 0
    assert (
        len(run(make_field("x*v"), space=SearchSpace(operators=("neg",)), evaluations=1000).front)
        == 0
    )


def test_progress_is_told():
    seen = []

    class Recorder:
        def show(self, snapshot):
            seen.append(snapshot)

        def close(self):
            seen.append("closed")

    run(make_field("x*v + exp(x)", noise=0.1), seconds=1.0, progress=Recorder())
    assert seen[-1] == "closed"
    assert any(snapshot.details and snapshot.rate > 0 for snapshot in seen[:-1])


def test_a_space_without_products():
    """Sums get no coefficients where the space has no products."""
    space = SearchSpace(operators=("sin", "sub", "div"), max_complexity=12)
    engine = Evolution(population=100, seeds=(cf.parse("x*v", names=["x", "v"]),))
    result = run(make_field("sin(x) - v", noise=0.02), engine=engine, space=space, evaluations=6000)
    assert len(result.front) > 0
    assert all(
        space.allows(candidate.expression.tree, candidate.expression.names)
        for candidate in result.front
    )
