"""Values that are not what a gradient is taken of: told or refused, never guessed."""

import numpy as np
import pytest

import closedform as cf
from closedform.errors import ExtractionError, NeuronError
from closedform.networks.samples import VARIES

torch = pytest.importorskip("torch")

POINTS = np.random.default_rng(0).uniform(-1, 1, (100, 2))


class Complex(torch.nn.Module):
    def forward(self, x):
        return torch.complex(x[:, 0] ** 2, x[:, 1])


class OwnGenerator(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.generator = torch.Generator()

    def forward(self, x):
        return (x * torch.rand(x.shape, generator=self.generator, dtype=x.dtype)).sum(dim=1)


@pytest.mark.parametrize("model", [lambda x: x[:, 0] ** 2 + 1j * x[:, 1], Complex()])
def test_complex_output_is_refused(model):
    with pytest.raises(NeuronError, match="complex"):
        cf.extract_field(model, POINTS, 0)


@pytest.mark.parametrize("max_points", [None, 3])
@pytest.mark.parametrize("model", [lambda x: x[:, 0] ** 2, torch.nn.Linear(2, 1)])
def test_masked_inputs_are_refused_whichever_points_are_chosen(model, max_points):
    masked = np.ma.masked_array(POINTS, mask=False)
    masked[70, 1] = np.ma.masked
    with pytest.raises(ExtractionError, match="1 entries of the inputs are masked"):
        cf.extract_field(model, masked, 0, max_points=max_points, rng=0)
    with pytest.raises(ExtractionError, match="masked"):
        cf.interpret(model, masked, 0, budget=1)


def test_a_mask_that_hides_nothing_changes_nothing():
    masked = np.ma.masked_array(POINTS, mask=False)
    assert cf.extract_field(lambda x: x[:, 0] ** 2, masked, 0).n_points == 100


@pytest.mark.parametrize("model", [lambda x: x[:, 0] ** 2 + x[:, 1], torch.nn.Linear(2, 1)])
def test_bytes_in_the_other_order(model):
    usual, turned = (cf.extract_field(model, POINTS.astype(kind), 0) for kind in ("<f8", ">f8"))
    assert np.array_equal(usual.points, turned.points)
    assert np.array_equal(usual.directions, turned.directions)


def counting():
    calls = []

    def model(x):
        calls.append(1)
        return x[:, 0] * len(calls)

    return model


def noisy():
    rng = np.random.default_rng(0)
    return lambda x: x[:, 0] + rng.normal(size=len(x))


@pytest.mark.parametrize("model", [counting(), noisy(), OwnGenerator()])
def test_a_network_that_answers_differently_each_time_is_told(model):
    with pytest.warns(cf.ClosedformWarning, match="differently each time"):
        field = cf.extract_field(model, POINTS, 0)
    assert VARIES in field.notes


def test_the_note_is_in_the_answer():
    field = cf.GradientField.from_arrays(POINTS, 2 * POINTS, notes=[VARIES])
    answer = cf.interpret_field(field, budget=cf.Budget(evaluations=200), rng=0)
    assert VARIES in answer.provenance.notes
    assert "differently each time" in answer.explain()
