import numpy as np
import pytest

import closedform as cf
from closedform.field.alignment.comparison import field_misalignment
from closedform.field.gradient_field import GradientField
from closedform.searching.input_structure import find_structure
from closedform.testing import KnownField

NAMES = ("x", "y", "z", "w")


def field_of(truth, noise=0.0, seed=0, n_points=800):
    return KnownField(truth, NAMES).field(
        np.random.default_rng(seed), n_points=n_points, noise=noise
    )


@pytest.mark.parametrize(
    ("truth", "groups"),
    [
        ("x*y + z*w", [[0], [1], [2], [3]]),
        ("x*y", [[0], [1]]),
        ("x*(y + 2*z)", [[0], [1, 2]]),
        ("sin(x - 3*y) + z**2", [[0, 1], [2]]),
        ("x**2 + 1e-2*y", [[0], [1]]),
    ],
)
def test_inputs_are_left_out_and_taken_together(truth, groups):
    structure = find_structure(field_of(truth))
    assert [[column for column, _ in group] for group in structure.groups] == groups
    assert bool(structure.sentences) != structure.is_trivial


def test_a_reduced_field_is_the_same_concept_in_fewer_inputs():
    field = field_of("sin(x - 3*y) + z**2")
    structure = find_structure(field)
    assert structure.groups[0] == ((0, 1.0), (1, -3.0))
    reduced = structure.reduce(field)
    assert reduced.names == ("x", "z")
    answer = cf.parse("sin(x) + z**2", names=reduced.names)
    assert field_misalignment(answer, reduced).max() < 1e-9
    expanded = structure.expand(answer)
    assert str(expanded) == "sin(x - 3*y) + z**2"
    assert field_misalignment(expanded, field).max() < 1e-9


def test_units_do_not_matter():
    known = KnownField("x*(y + 2*z)", NAMES)
    points = np.random.default_rng(0).uniform(-2, 2, (500, 4))
    units = np.array([1.0, 1000.0, 0.01, 1.0])
    gradients = known.concepts[0].gradient(points) / units
    structure = find_structure(
        GradientField.from_arrays(points * units, gradients, names=NAMES, tangent="none")
    )
    ((_, first), (_, second)) = structure.groups[1]
    assert second / first == pytest.approx(2 * 1000 / 0.01, rel=1e-6)


def test_noise_does_not_hide_a_weak_input():
    structure = find_structure(field_of("x**2 + 0.5*y + z*w", noise=0.02))
    assert len(structure.groups) == 4


def test_several_latents_and_tangent_spaces_are_left_alone():
    two = find_structure(field_of("x*y;z + w"))
    assert len(two.groups) == 4
    points = np.random.default_rng(0).normal(size=(300, 3))
    points[:, 2] = 1 - points[:, 0]
    field = GradientField.from_arrays(points, np.tile([1.0, 2.0, 0.0], (300, 1)), tangent="linear")
    assert find_structure(field).is_trivial
