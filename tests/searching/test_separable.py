import numpy as np
import pytest

import closedform as cf
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.gradient_field import GradientField
from closedform.searching.separable import find_separation, parts_of
from closedform.testing import KnownField

NAMES = ("x", "y", "z")


def field_of(truth, names=NAMES, low=-2.0, high=2.0, noise=0.0, n_points=600):
    return KnownField(truth, names, low, high).field(
        np.random.default_rng(0), n_points=n_points, noise=noise
    )


@pytest.mark.parametrize(
    ("truth", "blocks"),
    [
        ("sin(2.3*x + 0.4) + y**2 + exp(z)", ((0,), (1,), (2,))),
        ("exp(x**2 + sin(y))*exp(z)", ((0,), (1,), (2,))),
        ("x*sin(y) + z**2", ((0, 1), (2,))),
        ("(x - y)**2*z + z**3", None),
        ("x*y + y*z + z*x", None),
    ],
)
def test_parts_are_found(truth, blocks):
    found = find_separation(field_of(truth))
    assert (found and found.blocks) == blocks


def test_products_of_positive_parts_are_separable_too():
    found = find_separation(field_of("(x + 1/y)*z**2", low=0.5, high=2.0))
    assert found is not None
    assert found.blocks == ((0, 1), (2,))
    assert "a(x, y) + b(z)" in found.sentence


def test_units_do_not_matter():
    known = KnownField("x*sin(y) + z**2", NAMES)
    points = np.random.default_rng(0).uniform(-2, 2, (600, 3))
    units = np.array([1000.0, 0.001, 1.0])
    gradients = known.concepts[0].gradient(points / 1) / units
    found = find_separation(
        GradientField.from_arrays(points * units, gradients, names=NAMES, tangent="none")
    )
    assert found is not None
    assert found.blocks == ((0, 1), (2,))


@pytest.mark.parametrize("noise", [1e-2, 2e-2, 0.3])
def test_nothing_is_said_where_noise_could_hide_the_opposite(noise):
    assert find_separation(field_of("x*sin(y) + z**2", noise=noise)) is None
    assert find_separation(field_of("x**2 + y**2 + z**2 + 0.01*x*y*z", noise=noise)) is None


def test_a_weak_mixed_term_is_not_overlooked():
    assert find_separation(field_of("x**2 + y**2 + z**2 + 0.1*x*y*z")) is None


def test_several_latents_tangent_spaces_and_few_points_are_left_alone():
    assert find_separation(field_of("x + y;z + x*y")) is None
    assert find_separation(field_of("x + y**2 + z", n_points=50)) is None
    points = np.random.default_rng(0).normal(size=(300, 3))
    points[:, 2] = 1 - points[:, 0]
    assert (
        find_separation(
            GradientField.from_arrays(points, np.tile([1.0, 2.0, 0.0], (300, 1)), tangent="linear")
        )
        is None
    )


def test_a_part_by_itself_is_the_part_and_the_others():
    field = field_of("3*sin(2*x) + y**2 + others", names=("x", "y", "others"))
    found = find_separation(field)
    assert found is not None
    part = found.part(field, 0, np.random.default_rng(1))
    assert part.names == ("x", "others_")
    slope = found.slopes[:, 0] / np.cos(2 * field.points[:, 0])
    size = part.directions[:, 1, 0] / part.directions[:, 0, 0] * found.slopes[:, 0]
    np.testing.assert_allclose(slope, slope[0], rtol=1e-5)
    np.testing.assert_allclose(size, size[0], rtol=1e-9)
    answer = cf.parse(f"{slope[0] / 2}*sin(2*x) + {size[0]}*others_", names=part.names)
    assert field_misalignment(answer, part).max() < 1e-9


def test_summands_without_the_other_input():
    trees = [
        cf.parse(text, ("x", "w")).tree
        for text in ("exp(x) - 2*w + 3*x", "x*w + x**7", "x**2 + sin(w)")
    ]
    assert parts_of(trees, 1) == [cf.parse("exp(x)").tree, cf.parse("x").tree]
