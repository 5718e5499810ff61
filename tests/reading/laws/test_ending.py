"""What ends a search for laws: time, which roll-outs keep to, or Ctrl-C."""

import time

import numpy as np
import pytest

import closedform as cf
from closedform.reading.laws.law_search import LawSearch
from closedform.reading.laws.motions import Flow
from closedform.searching.space import SearchSpace

NAMES = ["x", "v"]
POINTS = np.random.default_rng(8).uniform(-1, 1, (300, 2))
SQUARES = cf.SearchSpace(operators=["add", "mul"], max_degree=2)


def oscillator(points):
    return np.column_stack([points[:, 1], -points[:, 0]])


def find(flow, budget=600.0):
    return cf.conserved(
        flow, POINTS, names=NAMES, rng=0, budget=budget, space=SQUARES, progress=False
    )


def same(law, text):
    return cf.same_concept(str(law.concept), text, NAMES).status != "different"


class Counted:
    """A flow that counts its calls, in single precision."""

    def __init__(self, wait=0.0, interrupt_at=None):
        self.calls, self.wait, self.interrupt_at = 0, wait, interrupt_at

    def __call__(self, points):
        self.calls += 1
        time.sleep(self.wait)
        if self.calls == self.interrupt_at:
            raise KeyboardInterrupt
        single = points.astype(np.float32)
        return np.column_stack([single[:, 1], -single[:, 0]])


def test_single_precision_does_not_force_an_integrator_to_tiny_steps():
    """A float32 module took four processor minutes before any search."""
    flow = Counted()
    found = find(flow)
    assert flow.calls < 20_000
    assert found.verified
    assert same(found.verified[0], "x**2 + v**2")


def test_a_module_in_single_precision_is_followed_in_double():
    torch = pytest.importorskip("torch")

    kinds = set()

    class Oscillator(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.length = torch.nn.Parameter(torch.ones(1))

        def forward(self, state):
            kinds.add(state.dtype)
            return torch.stack([state[:, 1], -state[:, 0] * self.length], dim=1)

    module = Oscillator()
    found = find(module)
    assert kinds == {torch.float64}
    assert module.length.dtype == torch.float32
    assert found.verified[0].drift is not None
    assert abs(found.verified[0].drift.total) < 1e-4


def test_the_budget_is_kept_in_roll_outs_and_time_is_what_it_says():
    flow = Counted(wait=0.01)
    found = find(flow, budget=4)
    assert found.seconds < 8
    assert found.count.upper is None
    assert "the roll-outs were ended" in str(found)
    assert found.status == "time"
    assert "Time ended the search" in str(found)
    assert "too short" not in str(found)


def test_ctrl_c_gives_what_was_found():
    flow = Counted(interrupt_at=60)
    found = find(flow)
    assert flow.calls <= 61
    assert found.status == "interrupted"
    assert "Interrupted" in str(found)


def test_ctrl_c_in_the_search_gives_what_was_found(monkeypatch):
    offer = LawSearch.offer

    def interrupted(self, concept):
        kept = offer(self, concept)
        if kept is not None and kept.is_law:
            monkeypatch.setattr(LawSearch, "offer", offer)
            raise KeyboardInterrupt
        return kept

    monkeypatch.setattr(LawSearch, "offer", interrupted)
    found = find(oscillator)
    assert found.status == "interrupted"
    assert same(found.laws[0], "x**2 + v**2")


def test_laws_are_told_in_their_plainest_form_modulo_the_others():
    names = ["x", "v", "y", "w"]
    points = np.random.default_rng(3).uniform(-1, 1, (300, 4))

    def two(x):
        return np.column_stack([x[:, 1], -x[:, 0], 2 * x[:, 3], -2 * x[:, 2]])

    field = cf.GradientField.from_flow(points, two, names=names)
    seen, held = Flow.of(field).split(np.random.default_rng(0))
    search = LawSearch(seen, held, SearchSpace(), np.random.default_rng(0))
    for text in ("x**2 + v**2", "3*x**2 + 3*v**2 + y**2 + w**2"):
        search.offer(cf.parse(text, names))
    search.settle()
    assert [str(one.concept) for one in search.laws()] == ["x**2 + v**2", "w**2 + y**2"]
