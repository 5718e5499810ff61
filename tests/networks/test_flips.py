"""Two-valued inputs, and networks that are not quite symmetric."""

import numpy as np
import pytest

import closedform as cf
from closedform.expressions.sites import Group
from closedform.networks.flips import rearranged, two_values

SIDE = 4


def spins(count=60, seed=0):
    return np.random.default_rng(seed).choice([-1.0, 1.0], (count, SIDE**2))


def test_spins_are_flipped():
    def cube(x):
        return (x.sum(axis=1) / 4) ** 3

    here = spins()
    field = cf.extract_field(cube, here, 0, groups={"s": range(SIDE**2)}, rng=0)
    flipped = field.points.copy()
    flipped[:, 3] *= -1
    changes = (cube(flipped) - cube(field.points)) / (flipped[:, 3] - field.points[:, 3])
    others = field.points.copy()
    others[:, 7] *= -1
    second = (cube(others) - cube(field.points)) / (others[:, 7] - field.points[:, 7])
    usable = field.weights > 0
    found = field.directions[usable, 3, 0] * second[usable]
    assert found == pytest.approx(field.directions[usable, 7, 0] * changes[usable], abs=1e-9)
    assert field.quality.finding("two-valued-inputs") is not None
    assert field.names[3] == "s[3]"


def test_derivatives_stay_where_inputs_are_real():
    here = np.random.default_rng(0).normal(size=(200, 5))
    field = cf.extract_field(lambda x: (x**2).sum(axis=1), here, 0, groups={"s": range(5)}, rng=0)
    assert field.quality.finding("two-valued-inputs") is None
    assert field.quality.finding("averaged-over-groups") is None
    along = (field.directions[:, :, 0] * field.points).sum(axis=1)
    assert along == pytest.approx(np.linalg.norm(field.points, axis=1))


def test_broken_part_is_told_and_averaged():
    factors = 1 + 0.2 * np.resize([1.0, -1.0], 20)
    here = np.random.default_rng(0).normal(size=(200, 20))
    field = cf.extract_field(lambda x: x @ factors, here, 0, groups={"s": range(20)}, rng=0)
    told = field.quality.finding("averaged-over-groups")
    assert told is not None
    assert told.data["broken_degrees"] == pytest.approx(np.degrees(np.arctan(0.2)), abs=1.5)
    scatter = field.directions[:, :, 0].std(axis=1) / field.directions[:, :, 0].mean(axis=1)
    assert scatter.mean() < 0.12


def values_of(field):
    assert field.latents is not None
    return field.latents[:, 0]


@pytest.mark.parametrize(("odd", "is_averaged"), [(0.004, True), (0.1, False)])
def test_what_is_nearly_even_is_read_as_even(odd, is_averaged):
    factors = 1 + 0.1 * np.random.default_rng(1).normal(size=SIDE**2)
    here = spins(400)

    def network(s):
        return (s @ factors / SIDE**2) ** 2 + odd * s.mean(axis=1)

    lattice = Group(range(SIDE**2), shape=(SIDE, SIDE))
    there, back = (
        cf.extract_field(network, points, 0, groups={"s": lattice}, rng=0)
        for points in (here, -here)
    )
    m = here.mean(axis=1)
    own = network(here) - m**2
    left, other = (values_of(field) - m**2 for field in (there, back))
    # What the exchange turns round is gone, or all there.
    assert (np.std(left - other) < 0.3 * odd * m.std()) == is_averaged
    assert np.std(left) < 0.8 * np.std(own) or not is_averaged
    told = there.quality.finding("averaged-over-groups")
    assert told is not None
    assert told.data["of_values"] > 0


def test_what_is_symmetric_by_itself_keeps_a_small_odd_part():
    here = spins(400)
    group = {"s": range(SIDE**2)}

    def network(s):
        return s.mean(axis=1) ** 2 + 0.01 * s.mean(axis=1)

    field = cf.extract_field(network, here, 0, groups=group, rng=0)
    assert values_of(field) == pytest.approx(network(here))


@pytest.mark.parametrize(
    "group",
    [
        Group(range(12), shape=(3, 4)),
        Group(range(12), shape=(3, 4), periodic=False),
        Group(range(3), neighbours=[(0, 1), (1, 2)]),
    ],
)
def test_rearranging_keeps_neighbours(group):
    rng = np.random.default_rng(0)
    own = {frozenset(pair) for pair in group.pairs.tolist()}
    for _ in range(10):
        order = rearranged(group, rng)
        assert {frozenset(order[pair].tolist()) for pair in group.pairs} == own


def test_two_values():
    assert two_values(np.array([[0.0, 1.0]])) == (0.0, 1.0)
    assert two_values(np.array([[0.0, 0.0]])) is None
    assert two_values(np.array([[0.0, 0.5, 1.0]])) is None
