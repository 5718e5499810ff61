import time

import numpy as np
import pytest

import closedform as cf
from closedform.reading import network as module


@pytest.mark.parametrize(("budget", "least", "most"), [(60.0, 50.0, 59.85), (0.2, 0.1, 0.1)])
def test_extraction_counts_and_leaves_half(monkeypatch, budget, least, most):
    """A budget is of seconds for the whole call; 500 inputs took a second before it began."""
    given = {}

    class Seen(Exception):
        pass

    def read(field, **options):
        given.update(options)
        raise Seen

    def extract(*_, **__):
        time.sleep(0.15)

    monkeypatch.setattr(module, "interpret_field", read)
    monkeypatch.setattr(module, "extract_field", extract)
    with pytest.raises(Seen):
        cf.interpret(len, np.zeros((5, 2)), 0, budget=budget)
    assert least <= given["budget"].seconds <= most


def test_the_budget_that_was_asked_for_is_told():
    points = np.random.default_rng(0).uniform(-1, 1, (100, 2))
    answer = cf.interpret(lambda x: x[:, 0] + x[:, 1], points, 0, budget=2.0, rng=0)
    assert answer.provenance.budget == "2 s"
