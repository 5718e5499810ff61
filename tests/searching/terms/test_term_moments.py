import numpy as np
import pytest

import closedform as cf
from closedform.field.gradient_field import GradientField
from closedform.searching.terms.moments import compute_moments, differentiate
from closedform.searching.terms.next_terms import prepare_lines
from plain_misalignment import misalignment

NAMES = ["x", "y", "z"]
TEXTS = ["x", "y", "x*y", "sin(z)", "z**2*x", "exp(y)"]
TREES = [cf.parse(text, names=NAMES).tree for text in TEXTS]
POINTS = np.random.default_rng(0).uniform(-1, 1, (300, 3))


def field_on(points, tangent, truth="x*y + z", second=None):
    gradients = cf.parse(truth, names=NAMES).gradient(points)
    if second is not None:
        gradients = np.stack([gradients, cf.parse(second, names=NAMES).gradient(points)], axis=1)
    weights = np.random.default_rng(1).uniform(0.5, 2, len(points))
    return GradientField.from_arrays(
        points, gradients, names=NAMES, tangent=tangent, weights=weights
    )


def fields():
    plane = POINTS.copy()
    plane[:, 2] = plane[:, 0] - 0.5 * plane[:, 1]
    line = np.column_stack([POINTS[:, 0], 2 * POINTS[:, 0], POINTS[:, 0] ** 2 + POINTS[:, 1]])
    sphere = POINTS / np.linalg.norm(POINTS, axis=1, keepdims=True)
    return {
        "none": field_on(POINTS, "none"),
        "units": field_on(POINTS * [1000, 1, 0.01], "none"),
        "two latents": field_on(POINTS, "none", second="x - z"),
        "plane": field_on(plane, "linear"),
        "other plane": field_on(line, "linear"),
        "sphere": GradientField.from_arrays(
            sphere,
            cf.parse("x*y + z", names=NAMES).gradient(sphere),
            names=NAMES,
            constraints=["x**2 + y**2 + z**2"],
        ),
    }


FIELDS = fields()


def dense(tree, field):
    return field.project(cf.Expression(tree, tuple(NAMES)).gradient(field.points))


@pytest.mark.parametrize("name", FIELDS)
def test_moments_are_those_of_dense_gradients(name):
    field = FIELDS[name]
    trees = TREES
    jacobian, finite = differentiate(trees, field.points, field.scale)
    assert len(finite) == len(trees)
    moments, kept = compute_moments(jacobian, field)
    gradients = np.stack([dense(trees[i], field) for i in kept], axis=2)
    for place, term in enumerate(kept):
        single = misalignment(gradients[:, :, place], field.frames, weights=field.weights)
        assert moments.single[place] == pytest.approx(single, abs=1e-9), TEXTS[term]
    lost = gradients - field.frames @ (np.swapaxes(field.frames, 1, 2) @ gradients)
    np.testing.assert_allclose(np.diagonal(moments.whole), 1)
    # How much each point counts is the library's own choice; a weighted mean lies between the
    # extremes whatever it is.
    ratio = np.diagonal(moments.lost)
    shares = (lost**2).sum(axis=1) / np.maximum((gradients**2).sum(axis=1), 1e-300)
    assert (ratio >= shares.min(axis=0) - 1e-9).all()
    assert (ratio <= shares.max(axis=0) + 1e-9).all()
    assert np.linalg.eigvalsh(moments.lost)[0] > -1e-9
    assert np.linalg.eigvalsh(moments.whole - moments.lost)[0] > -1e-9


def test_the_truth_has_a_vanishing_eigenvalue():
    field = FIELDS["none"]
    trees = [cf.parse(text, names=NAMES).tree for text in ("x*y", "z", "x")]
    jacobian, _ = differentiate(trees, field.points, field.scale)
    moments, _ = compute_moments(jacobian, field)
    values = np.linalg.eigvals(np.linalg.solve(moments.whole[:2, :2], moments.lost[:2, :2]))
    assert min(abs(values)) < 1e-12


def test_terms_that_depend_on_each_other_on_the_data_count_once():
    names = ["A12", "A21", "A11"]
    points = POINTS.copy()
    points[:, 1] = -points[:, 0]
    field = GradientField.from_arrays(
        points, np.stack([points[:, 2], 0 * points[:, 0], points[:, 0]], 1), names=names
    )
    assert field.tangent.rank == 2
    texts = ["A12", "A21", "A12 + A21", "A12*A21", "A12**2", "A11"]
    trees = [cf.parse(text, names=names).tree for text in texts]
    jacobian, _ = differentiate(trees, field.points, field.scale)
    _, kept = compute_moments(jacobian, field)
    assert [texts[i] for i in kept] == ["A12", "A12*A21", "A11"]


def test_gradients_are_kept_sparse_and_bad_terms_dropped():
    trees = [
        cf.parse(text, names=NAMES).tree
        for text in ("x*y", "log(x)", "3", "sin(z)", "0*x", "1/(x - 0.5)")
    ]
    points = POINTS.copy()
    points[0, 0] = 0.5
    jacobian, kept = differentiate(trees, points, np.array([2.0, 1.0, 3.0]))
    assert kept.tolist() == [0, 3]
    assert len(jacobian.slopes) == 3
    used, gradients = jacobian.dense([1, 0])
    assert used.tolist() == [0, 1, 2]
    np.testing.assert_allclose(
        gradients[:, :, 1], np.stack([2 * points[:, 1], points[:, 0], 0 * points[:, 0]], 1)
    )
    np.testing.assert_allclose(gradients[:, 2, 0], 3 * np.cos(points[:, 2]))
    only = jacobian.select(np.array([1]))
    assert only.n_terms == 1
    np.testing.assert_allclose(only.dense([0])[1][:, 0, 0], 3 * np.cos(points[:, 2]))
    assert only.dense([0])[0].tolist() == [2]


@pytest.mark.parametrize("name", FIELDS)
def test_lines_find_the_least_misalignment_between_two_terms(name):
    field = FIELDS[name]
    jacobian, _ = differentiate(TREES, field.points, field.scale)
    lines = prepare_lines(jacobian, field, 10_000)
    found = lines.least(
        np.array([[2]]), np.array([[1.0]]), np.ones((1, len(TREES)), dtype=np.bool_)
    )[0]
    assert np.isinf(found[:3]).all()
    first = dense(TREES[2], field)
    for term in (3, 4, 5):
        second = dense(TREES[term], field)
        angles = np.linspace(0, np.pi, 2001)
        size = np.median(np.linalg.norm(first, axis=1)) / np.median(np.linalg.norm(second, axis=1))
        values = [
            misalignment(
                np.cos(t) * first + size * np.sin(t) * second, field.frames, weights=field.weights
            )
            for t in angles
        ]
        # A few reweightings come near the least, and are never below it.
        assert min(values) - 1e-6 <= found[term] <= min(values) + 0.05
    longer = lines.least(
        np.array([[2]]), np.array([[7.0]]), np.ones((1, len(TREES)), dtype=np.bool_)
    )[0]
    np.testing.assert_allclose(longer[3:], found[3:], rtol=1e-9, atol=1e-12)
