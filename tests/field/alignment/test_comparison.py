import numpy as np
import pytest

import closedform as cf
from closedform.errors import ShapeError
from closedform.expressions.evaluate import gradient
from closedform.expressions.tape import compile_tapes
from closedform.field.alignment.comparison import prepare
from closedform.testing import random_tree
from plain_misalignment import misalignment

N, D = 600, 5
RNG = np.random.default_rng(2)
POINTS = RNG.uniform(0.2, 2.0, (N, D))
SCALE = np.array([1.0, 1000.0, 0.01, 3.0, 1.0])
TREES = [random_tree(np.random.default_rng(seed), 12, D) for seed in range(200)]


def random_frames(rows, k):
    return np.linalg.qr(RNG.normal(size=(N, rows, k)))[0]


def tangents(kind):
    if kind == "none":
        return None
    shape = (D, 3) if kind == "global" else (N, D, 3)
    return np.linalg.qr(RNG.normal(size=shape))[0]


@pytest.mark.parametrize("kind", ["none", "global", "local"])
@pytest.mark.parametrize("k", [1, 2])
def test_the_compiled_judge_agrees_with_the_definition(kind, k):
    tangent = tangents(kind)
    frames = random_frames(D if tangent is None else 3, k)
    weights = RNG.integers(0, 3, N).astype(float)
    comparison = prepare(POINTS, frames, scale=SCALE, tangent=tangent, weights=weights)
    found, bad = comparison.misalignments(compile_tapes(TREES))
    for tree, value, share in zip(TREES, found, bad, strict=True):
        with np.errstate(over="ignore"):
            gradients = gradient(tree, POINTS) * SCALE
            usable = not np.isfinite(gradients).all() or np.abs(gradients).max() < 1e100
        if usable:
            assert value == pytest.approx(
                misalignment(gradients, frames, tangent, weights), abs=1e-9
            )
        assert 0 <= share <= 1 + 1e-12
        assert value >= share - 1e-12


def test_bad_points_count_one_each():
    frames = np.tile([[[1.0], [0.0]]], (10, 1, 1))
    points = np.column_stack([np.linspace(-4.5, 4.5, 10), np.zeros(10)])
    tapes = compile_tapes(
        [cf.parse(text, names=["x", "y"]).tree for text in ("log(x)", "x + 1/0", "3 + 0*x", "x")]
    )
    found, bad = prepare(points, frames).misalignments(tapes)
    np.testing.assert_allclose(found, [0.5, 1.0, 1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(bad, [0.5, 1.0, 1.0, 0.0], atol=1e-12)


def test_an_additive_nan_constant_does_not_pass():
    tapes = compile_tapes([cf.parse("x + 7", names=["x", "y"]).tree])
    poisoned = tapes.with_numbers(np.where(tapes.numbers == 7, np.nan, tapes.numbers))
    comparison = prepare(np.ones((3, 2)), np.tile([[[1.0], [0.0]]], (3, 1, 1)))
    assert comparison.misalignments(tapes)[0][0] == 0.0
    assert comparison.misalignments(poisoned)[0][0] == pytest.approx(1.0)


def test_giving_up_changes_only_trees_that_are_undefined():
    comparison = prepare(POINTS, random_frames(D, 1))
    tapes = compile_tapes(TREES)
    exact, bad = comparison.misalignments(tapes)
    quick, _ = comparison.misalignments(tapes, give_up=0.5)
    np.testing.assert_array_equal(quick[bad <= 0.5], exact[bad <= 0.5])
    given_up = quick != exact
    assert (quick[given_up] == 1.0).all()
    assert (bad[given_up] > 0.5).all()


def test_a_field_without_points_is_refused():
    with pytest.raises(ShapeError, match="nothing to compare"):
        prepare(POINTS, random_frames(D, 1), weights=np.zeros(N))


def test_units_do_not_matter_when_the_scale_goes_along():
    g = cf.parse("a*b + c", names=list("abcde"))
    frames = g.gradient(POINTS)
    frames = (frames / np.linalg.norm(frames, axis=1, keepdims=True))[:, :, None]
    rescaled = POINTS * SCALE
    other = cf.parse("a*b/1000 + c/0.01 + d/3", names=list("abcde"))
    plain = cf.parse("a*b + c + d", names=list("abcde"))
    here = prepare(POINTS, frames).misalignments(compile_tapes([plain.tree]))[0][0]
    there = prepare(rescaled, frames, scale=SCALE).misalignments(compile_tapes([other.tree]))[0][0]
    assert there == pytest.approx(here, rel=1e-9)
