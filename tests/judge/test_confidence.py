import numpy as np
import pytest

import closedform as cf
from closedform.expressions.complexity import description_length
from closedform.judge.confidence import judge_formulas, unproved_numbers, weighing
from closedform.judge.witnesses import Witnesses

NAMES = ["x", "v"]
RNG = np.random.default_rng(0)
POINTS = RNG.uniform(-1.5, 1.5, (900, 2))
TRUTH = cf.parse("v**2/2 + sin(x)", names=NAMES)


def field(noise=0.02, rough=0.001):
    latent = np.tanh(TRUTH(POINTS))
    gradients = TRUTH.gradient(POINTS)
    gradients /= np.linalg.norm(gradients, axis=1, keepdims=True)
    return cf.GradientField.from_arrays(
        POINTS, gradients + noise * RNG.normal(size=gradients.shape),
        latents=latent + rough * RNG.normal(size=900), names=NAMES, tangent="none",
    )  # fmt: skip


def judged(*texts, of=None):
    whole = field() if of is None else of
    formulas = [cf.parse(text, names=NAMES) for text in texts]
    lengths = [description_length(formula.tree) for formula in formulas]
    price = weighing(has_values=True).price
    return judge_formulas(
        formulas, [price * length for length in lengths], lengths,
        whole.subset(np.arange(600)), whole.subset(np.arange(600, 900)),
        (4e-4, 1e-5), weighing(has_values=True).most, np.random.default_rng(0),
    )  # fmt: skip


def test_the_truth_among_stand_ins_is_sure():
    found = judged("v**2/2 + sin(x)", "v**2/2 + x - x**3/7", "v**2/2 + x")
    assert found.confidence > 0.95
    assert found.holds
    assert found.listed() == []


def test_a_stand_in_is_not_however_it_was_chosen():
    found = judged("v**2/2 + x - x**3/7", "v**2/2 + sin(x)")
    assert found.confidence < 0.1
    assert found.listed() == [1]


def test_spellings_and_constants_do_not_compete():
    one = judged("v**2/2 + sin(x)", "v**2/2 + x")
    many = judged("v**2/2 + sin(x)", "v**2 + 2*sin(x)", "0.502*v**2 + sin(x)", "v**2/2 + x")
    assert many.confidence == pytest.approx(one.confidence, abs=0.02)


def test_what_is_worse_on_unseen_points_does_not_hold():
    whole = field()
    far = POINTS.copy()
    values = np.array(whole.latents)
    values[600:] += 0.05 * np.sin(9 * far[600:, :1] * far[600:, 1:])
    broken = cf.GradientField.from_arrays(
        POINTS, np.array(whole.directions[:, :, 0]), latents=values, names=NAMES, tangent="none"
    )
    assert not judged("v**2/2 + sin(x)", "v**2/2 + x", of=broken).holds


def test_weights_are_those_of_forms():
    found = judged("v**2/2 + x - x**3/7", "v**2/2 + x - x**3/6", "v**2/2 + x", "x*v")
    assert found.groups[0] == found.groups[1]
    assert len(set(found.groups)) == 3
    assert sum(found.weights) == pytest.approx(1)
    assert min(found.weights[:2]) == 0


def test_numbers_count_only_where_a_stand_in_could_need_them():
    """What is exact to rounding on all points has been tested far beyond its four numbers."""
    points = np.random.default_rng(0).uniform(1, 2, (300, 2))
    truth = cf.parse("x*(log(y**1.4/x**0.7 + 2.3228) - 0.84278)", names=["x", "y"])
    near = cf.parse("x*(log(y**1.4/x**0.7 + 2.3228) - 0.843)", names=["x", "y"])
    field = cf.GradientField.from_arrays(points, truth.gradient(points), names=["x", "y"])
    witnesses = Witnesses.of(field)
    assert unproved_numbers(truth, witnesses.hear(truth.tree)) == 0
    assert unproved_numbers(near, witnesses.hear(near.tree)) == 4
