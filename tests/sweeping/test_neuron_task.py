from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from closedform.errors import BudgetError
from closedform.expressions.parse import parse
from closedform.field.gradient_field import GradientField
from closedform.sweeping import neuron_task as module
from closedform.sweeping.neuron_task import Effort, read_with

POINTS = np.random.default_rng(0).uniform(-1, 1, (300, 2))
FIELD = GradientField.from_arrays(POINTS, POINTS, latents=(POINTS**2).sum(axis=1))
NOISY = GradientField.from_arrays(
    POINTS, np.random.default_rng(1).normal(size=(300, 2)), latents=POINTS[:, 0]
)


def front(misalignment, text="x*y") -> Any:
    """One formula of complexity 10."""
    formula = parse(text, names=["x", "y"])
    return [SimpleNamespace(expression=formula, misalignment=misalignment, complexity=10)]


STEEP_FRONT, FLAT_FRONT = front(0.5 * np.exp(-4.1)), front(0.5 * np.exp(-3.9))
"""Just above and just below 0.4 nats for each unit; chance leaves 0.5."""


def answers(monkeypatch, entries=STEEP_FRONT, **by_engine):
    """Let each engine give a verdict, a misalignment and a floor, and note what was asked."""
    asked = []

    def fake(_field, *, engine, budget, rng, rule):
        asked.append((engine, budget.evaluations, budget.target, rng, rule))
        status, misalignment, floor = by_engine[engine]
        verdict, alignment = (
            SimpleNamespace(status=status),
            SimpleNamespace(misalignment=misalignment),
        )
        return SimpleNamespace(verdict=verdict, alignment=alignment, floor=floor, front=entries)

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


def looks(monkeypatch, lowest):
    """Let a look find this misalignment, and note what was asked."""
    asked = []

    def fake(_field, *, engine, budget, rng, progress):
        asked.append((engine, budget.evaluations, rng, progress))
        return SimpleNamespace(front=SimpleNamespace(lowest=lowest))

    monkeypatch.setattr(module, "search", fake)
    return asked


@pytest.mark.parametrize(
    ("status", "entries"),
    [
        ("none", FLAT_FRONT),
        ("none", STEEP_FRONT),
        ("approximate", FLAT_FRONT),
        ("approximate", front(1e-9, "x")),
    ],
)
def test_a_look_that_finds_nothing_ends_a_reading(monkeypatch, status, entries):
    asked = answers(monkeypatch, entries, terms=(status, 0.3, 0.2))
    looked = looks(monkeypatch, 0.11)
    assert read_with(Effort(), FIELD, 7)[1] == "terms"
    assert looked == [("auto", 2000, 7, False)]
    assert [count for _, count, *_ in asked] == [1000]


@pytest.mark.parametrize("status", ["none", "approximate"])
def test_a_look_that_finds_something_is_followed_by_the_whole_reading(monkeypatch, status):
    answers(monkeypatch, FLAT_FRONT, terms=(status, 0.3, 0.2), auto=("approximate", 0.02, 0.01))
    looked = looks(monkeypatch, 0.09)
    found, engine = read_with(Effort(), FIELD, 7)
    assert (len(looked), engine, found.floor) == (1, "auto", 0.01)


@pytest.mark.parametrize(
    ("status", "entries", "effort"),
    [
        ("approximate", STEEP_FRONT, Effort()),
        ("ambiguous", FLAT_FRONT, Effort()),
        ("none", FLAT_FRONT, Effort(look=0.0)),
    ],
)
def test_no_look_where_a_formula_explains_much_or_none_is_wanted(
    monkeypatch, status, entries, effort
):
    asked = answers(monkeypatch, entries, terms=(status, 0.3, 0.2), auto=("verified", 0.02, 0.01))
    looked = looks(monkeypatch, 0.2)
    assert read_with(effort, FIELD, 0)[1] == "auto"
    assert not looked
    assert [count for _, count, *_ in asked] == [1000, 20_000]


def test_a_smooth_function_is_not_read_on():
    middles = np.random.default_rng(4).uniform(-1, 1, (12, 3))
    points = np.random.default_rng(5).uniform(-1, 1, (300, 3))
    gaps = points[:, None, :] - middles
    heights = np.exp(-3 * (gaps**2).sum(axis=2)) * (-1) ** np.arange(12)
    slopes = -6 * np.einsum("nk,nkd->nd", heights, gaps)
    field = GradientField.from_arrays(points, slopes, latents=heights.sum(axis=1))
    found, engine = read_with(Effort(terms=300, evaluations=3000), field, 0)
    assert (found.verdict.status, engine) == ("none", "terms")


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
