"""Many inputs: a reading ends within its budget, with an answer or a reason."""

import time

import numpy as np
import pytest

import closedform as cf
from closedform.reading.one_field import compile_all
from closedform.searching.budget import processor_seconds

BUDGET = 1.5


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    compile_all()
    points = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    cf.interpret_field(cf.GradientField.from_arrays(points, 2 * points), budget=1, rng=0)


@pytest.mark.parametrize("n_inputs", [60, 500])
def test_a_field_of_many_inputs_keeps_its_budget(n_inputs):
    points = np.random.default_rng(0).uniform(-1, 1, (1000, n_inputs))
    field = cf.GradientField.from_arrays(points, 2 * points)
    began = time.process_time()
    with processor_seconds():
        answer = cf.interpret_field(field, budget=BUDGET, rng=0)
    assert time.process_time() - began < BUDGET + 1
    assert answer.verdict.status == "none"
    assert answer.verdict.reasons


def test_a_network_of_many_inputs_keeps_its_budget():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(200, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    inputs = np.random.default_rng(0).uniform(-1, 1, (1000, 200)).astype(np.float32)
    cf.extract_field(network, inputs[:50], 0)
    began = time.process_time()
    with processor_seconds():
        cf.interpret(network, inputs, 0, budget=BUDGET, rng=0)
    assert time.process_time() - began < BUDGET + 1


def test_few_of_many_inputs_are_found():
    points = np.random.default_rng(0).uniform(1, 2, (800, 100))
    slopes = np.zeros_like(points)
    slopes[:, 3], slopes[:, 70] = points[:, 70], points[:, 3]
    field = cf.GradientField.from_arrays(points, slopes)
    answer = cf.interpret_field(field, budget=5, rng=0)
    assert cf.same_concept(str(answer.concept), "x3*x70", list(field.names)).status == "proved"
