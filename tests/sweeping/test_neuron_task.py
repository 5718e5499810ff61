from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from closedform.errors import BudgetError
from closedform.field.gradient_field import GradientField
from closedform.sweeping import neuron_task as module
from closedform.sweeping.neuron_task import Effort, read_with

POINTS = np.random.default_rng(0).uniform(-1, 1, (300, 2))
FIELD = GradientField.from_arrays(POINTS, POINTS, latents=(POINTS**2).sum(axis=1))
NOISY = GradientField.from_arrays(
    POINTS, np.random.default_rng(1).normal(size=(300, 2)), latents=POINTS[:, 0]
)


def answers(monkeypatch, **by_engine):
    """Let each engine give a verdict, a misalignment and a floor, and note what was asked."""
    asked = []

    def fake(_field, *, engine, budget, rng, rule):
        asked.append((engine, budget.evaluations, budget.target, rng, rule))
        status, misalignment, floor = by_engine[engine]
        verdict, alignment = (
            SimpleNamespace(status=status),
            SimpleNamespace(misalignment=misalignment),
        )
        return SimpleNamespace(verdict=verdict, alignment=alignment, floor=floor, engine=engine)

    monkeypatch.setattr(module, "interpret_field", fake)
    return asked


def test_terms_are_enough_where_they_verify(monkeypatch):
    asked = answers(monkeypatch, terms=("verified", 1e-4, 1e-4))
    assert read_with(Effort(terms=10, evaluations=99), FIELD, 7)[1] == "terms"
    assert asked == [("terms", 10, None, 7, "evidence")]


def test_terms_are_enough_at_the_floor_of_the_noise(monkeypatch):
    asked = answers(monkeypatch, terms=("none", 0.4, 0.4))
    assert NOISY.quality.noise_misalignment > 0.4
    assert read_with(Effort(), NOISY, 0)[1] == "terms"
    (engine, _, target, _, _) = asked[0]
    assert (engine, len(asked)) == ("terms", 1)
    assert target == pytest.approx(1.1 * NOISY.quality.noise_misalignment)


def test_evolution_where_something_is_left(monkeypatch):
    asked = answers(monkeypatch, terms=("approximate", 0.05, 0.01), auto=("verified", 1e-5, 1e-5))
    assert read_with(Effort(terms=10, evaluations=99), FIELD, 0)[1] == "auto"
    assert [(engine, count) for engine, count, *_ in asked] == [("terms", 10), ("auto", 99)]


def test_the_better_of_both_is_kept(monkeypatch):
    answers(monkeypatch, terms=("approximate", 0.03, 0.01), auto=("approximate", 0.05, 0.01))
    assert read_with(Effort(), FIELD, 0)[1] == "terms"
    answers(monkeypatch, terms=("approximate", 0.03, 0.01), auto=("verified", 0.04, 0.01))
    assert read_with(Effort(), FIELD, 0)[1] == "auto"


@pytest.mark.parametrize(
    ("floor", "effort", "counts"),
    [
        (0.4, Effort(), [1000, 2000]),
        (0.4, Effort(look=0.0), [1000, 20_000]),
        (0.1, Effort(), [1000, 20_000]),
    ],
)
def test_a_look_is_enough_where_everything_is_far_off(monkeypatch, floor, effort, counts):
    asked = answers(monkeypatch, **dict.fromkeys(("terms", "auto"), ("none", floor, floor)))
    read_with(effort, FIELD, 0)
    assert [count for _, count, *_ in asked] == counts


def test_a_look_that_comes_near_is_followed_by_the_whole_reading(monkeypatch):
    floors = iter((0.4, 0.1, 1e-4))
    asked = []

    def fake(_field, *, engine, budget, rng, rule):
        asked.append((engine, budget.evaluations))
        floor = next(floors)
        status = "verified" if floor < 0.01 else "none"
        return SimpleNamespace(
            verdict=SimpleNamespace(status=status),
            alignment=SimpleNamespace(misalignment=floor),
            floor=floor,
        )

    monkeypatch.setattr(module, "interpret_field", fake)
    assert read_with(Effort(), FIELD, 0)[0].floor == 1e-4
    assert asked == [("terms", 1000), ("auto", 2000), ("auto", 20_000)]


@pytest.mark.parametrize(
    ("effort", "engines"),
    [
        (Effort(evaluations=0), ["terms"]),
        (Effort(terms=0), ["auto"]),
        (Effort(terms=0, engine="evolution"), ["evolution"]),
        (Effort(engine="terms"), ["terms"]),
        (Effort(terms=0, engine="terms"), ["terms"]),
    ],
)
def test_either_can_be_left_out(monkeypatch, effort, engines):
    asked = answers(
        monkeypatch, **dict.fromkeys(("terms", "auto", "evolution"), ("none", 0.5, 0.5))
    )
    read_with(effort, FIELD, 0)
    assert [engine for engine, *_ in asked] == engines


@pytest.mark.parametrize("wrong", [{"terms": -1}, {"terms": 0, "evaluations": 0}])
def test_nothing_to_spend_is_refused(wrong):
    with pytest.raises(BudgetError, match=f"positive.*got terms={wrong['terms']} and evaluations="):
        replace(Effort(), **wrong)


@pytest.mark.parametrize("look", [-0.1, 1.5])
def test_a_look_is_a_share(look):
    with pytest.raises(BudgetError, match=f"from 0 to 1; got {look}"):
        Effort(look=look)
