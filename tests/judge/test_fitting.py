import numpy as np
import pytest

import closedform as cf
from closedform.judge.fitting import Fitter
from closedform.judge.regions import divide
from closedform.judge.witnesses import Witnesses, typical

NAMES = ["x", "v"]
RNG = np.random.default_rng(0)
POINTS = RNG.uniform(0.5, 2, (700, 2))
TRUTH = cf.parse("x**2 + 1.7*v**1.3", names=NAMES)


def fitter(noise, rough=0.0, counts=(10.0, 20.0), values=True):
    latent = np.tanh(TRUTH(POINTS) / 5)
    latent = latent + rough * latent.std() * RNG.normal(size=len(latent))
    gradients = TRUTH.gradient(POINTS)
    gradients /= np.linalg.norm(gradients, axis=1, keepdims=True)
    field = cf.GradientField.from_arrays(
        POINTS, gradients + noise * RNG.normal(size=gradients.shape),
        latents=latent if values else None, names=NAMES, tangent="none",
    )  # fmt: skip
    witnesses = Witnesses.of(field)
    scales = typical(witnesses.hear(TRUTH.tree))
    return Fitter(witnesses, divide(field, np.random.default_rng(0)), scales, counts)


def constants(fitted):
    from closedform.expressions.complexity import constant_values

    return np.array(constant_values(fitted.expression.tree, fitted.positions))


@pytest.mark.parametrize("values", [True, False])
def test_constants_are_found_again(values):
    start = cf.parse("x**2 + 1.4*v**1.45", names=NAMES)
    found = fitter(0.01, 0.003, values=values).fit(start, steps=20)
    assert constants(found) == pytest.approx([1.7, 1.3], rel=0.03)


def test_exact_values_outvote_rough_directions():
    start = cf.parse("x**2 + 1.4*v**1.45", names=NAMES)
    both = fitter(0.15, 0.001).fit(start, steps=20)
    alone = fitter(0.15, values=False).fit(start, steps=20)
    far, near = (np.abs(constants(one) / [1.7, 1.3] - 1).max() for one in (alone, both))
    assert near < far / 2
    assert near < 0.01


def test_errors_are_those_that_regions_show():
    found = fitter(0.05, values=False).fit(TRUTH, steps=20)
    apart = np.abs(constants(found) - [1.7, 1.3])
    assert (apart < 4 * np.array(found.errors)).all()
    assert (np.array(found.errors) < 0.1).all()


def test_a_region_is_judged_without_being_fitted():
    plain = fitter(0.05, 0.01)
    found = plain.fit(cf.parse("0.1*x*v + 0.9*x**2 + 1.6*v + 0.3*v**2", names=NAMES))
    refitted = plain.witnesses.hear(found.expression.tree)
    apart, seen = (
        sum(s.mean() for s in heard.squares() if s is not None) for heard in (found.heard, refitted)
    )
    assert apart > seen


def test_a_formula_without_constants_is_heard_as_it_is():
    found = fitter(0.01).fit(cf.parse("x**2 + v", names=NAMES))
    assert found.errors == ()
    assert str(found.expression) == "x**2 + v"


def test_several_latents_are_fitted_together():
    field = cf.GradientField.from_arrays(
        POINTS, np.repeat(TRUTH.gradient(POINTS)[:, None], 2, axis=1),
        latents=np.column_stack([TRUTH(POINTS), np.exp(-TRUTH(POINTS))]), names=NAMES,
        tangent="none",
    )  # fmt: skip
    witnesses = Witnesses.of(field)
    assert witnesses.latents.shape == (700, 2)
    labels = divide(field, np.random.default_rng(0))
    found = Fitter(witnesses, labels, (1e-6, 1e-5), (10.0, 20.0)).fit(
        cf.parse("x**2 + 1.45*v**1.37", names=NAMES), steps=20
    )
    assert constants(found) == pytest.approx([1.7, 1.3], rel=1e-3)
