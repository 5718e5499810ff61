import numpy as np
import pytest

import closedform as cf
from closedform.expressions.tape import CONSTANT_CODE, compile_tapes
from closedform.field.alignment.comparison import fit_constants, prepare
from closedform.field.alignment.tolerances import LARGEST_FITTED

NAMES = ["x", "y"]
POINTS = np.random.default_rng(0).uniform(0.2, 1.8, (300, 2))


def comparison_with(truth, names=NAMES, points=POINTS):
    gradients = cf.parse(truth, names=names).gradient(points)
    return prepare(
        points, (gradients / np.linalg.norm(gradients, axis=1, keepdims=True))[:, :, None]
    )


@pytest.mark.parametrize(
    ("truth", "start", "expected"),
    [
        ("y**2/2 + sin(x)", "0.9*y*y + sin(x)", [0.5]),
        ("sin(2.3*x + 0.4) + y**2", "sin(2*x + 0.1) + y*y", [2.3, 0.4]),
        ("x**1.5*y", "x**2.2*y", [1.5]),
        ("x/(1 + y**2)", "x/(3 + y*y)", [1.0]),
    ],
)
def test_the_true_constants_are_found(truth, start, expected):
    tapes = compile_tapes([cf.parse(start, names=NAMES).tree])
    numbers, found, bad = fit_constants(comparison_with(truth), tapes, np.array([30]))
    np.testing.assert_allclose(numbers[tapes.codes == CONSTANT_CODE], expected, rtol=1e-4)
    assert found[0] < 1e-10
    assert bad[0] == 0


def test_several_latents_and_a_tangent_space():
    rng = np.random.default_rng(1)
    names = ["x", "y", "z", "t"]
    points = rng.uniform(0.2, 1.5, (400, 4))
    first, second = cf.parse("x*y + 0.7*z", names=names), cf.parse("x + t**2", names=names)
    tangent = np.linalg.qr(rng.normal(size=(4, 3)))[0]
    jacobian = np.stack([first.gradient(points), second.gradient(points)], axis=2)
    frames = np.linalg.qr(np.einsum("dr,ndk->nrk", tangent, jacobian))[0]
    comparison = prepare(points, frames, tangent=tangent)
    tapes = compile_tapes([cf.parse("x*y + 0.2*z + (x + t*t)**2", names=names).tree])
    numbers, found, _ = fit_constants(comparison, tapes, np.array([50]))
    assert found[0] < 1e-9
    assert numbers[tapes.codes == CONSTANT_CODE][0] == pytest.approx(0.7, rel=1e-3)


def test_only_chosen_trees_are_fitted_and_nothing_gets_worse():
    comparison = comparison_with("y**2/2 + sin(x)")
    tapes = compile_tapes(
        [
            cf.parse(text, names=NAMES).tree
            for text in ("0.9*y*y + sin(x)", "0.9*y*y + sin(x)", "x", "log(x - 9)*2")
        ]
    )
    before, _ = comparison.misalignments(tapes)
    numbers, after, _ = fit_constants(comparison, tapes, np.array([20, 0, 20, 20]))
    assert after[0] < 1e-9
    assert after[1:] == pytest.approx(before[1:])
    np.testing.assert_array_equal(
        numbers[tapes.starts[1] : tapes.starts[2]], tapes.numbers[tapes.starts[1] : tapes.starts[2]]
    )


def test_constants_stay_in_their_range():
    """log(c + x) + y/d comes ever closer to x + y as c and d grow."""
    comparison = comparison_with("x + y")
    tapes = compile_tapes([cf.parse("log(3 + x) + y/2", names=NAMES).tree])
    numbers, found, _ = fit_constants(comparison, tapes, np.array([200]))
    assert found[0] < 0.1 * comparison.misalignments(tapes)[0][0]
    assert 10 < np.abs(numbers).max() <= LARGEST_FITTED
