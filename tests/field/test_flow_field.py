import numpy as np
import pytest

import closedform as cf
from closedform.errors import FieldError, ShapeError
from closedform.field.complements import CLOSE

RNG = np.random.default_rng(0)
POINTS = RNG.uniform(-1, 1, (300, 3))


def turning(points):
    return np.column_stack([points[:, 1], -points[:, 0], 0 * points[:, 2]])


def test_gradients_of_laws_lie_in_the_field_and_others_do_not():
    field = cf.GradientField.from_flow(POINTS, turning, names=["x", "y", "z"])
    assert field.rank == 2
    verdicts = [
        cf.verify(text, field, rivals=None, rng=0).verdict.status for text in ("x**2 + y**2", "x")
    ]
    assert verdicts == ["verified", "none"]


def test_units_do_not_matter():
    units = np.array([1e3, 1.0, 1e-3])
    field = cf.GradientField.from_flow(POINTS * units, turning(POINTS) * units)
    law = cf.parse("x0**2/1e6 + x1**2", ["x0", "x1", "x2"])
    along = field.project(law.gradient(field.points))
    inside = np.einsum("nrk,nr->nk", field.frames, along)
    assert np.allclose(np.linalg.norm(inside, axis=1), np.linalg.norm(along, axis=1))


def test_points_at_rest_do_not_count():
    points = POINTS.copy()
    points[:5, :2] = 0
    field = cf.GradientField.from_flow(points, turning)
    assert (field.weights[:5] == 0).all()
    assert (field.weights[5:] > 0).all()


def test_uncertain_velocities_count_less_and_it_is_said():
    errors = np.where(np.arange(300) < 30, 1.0, 0.01)[:, None]
    field = cf.GradientField.from_flow(POINTS, turning, errors=errors)
    assert field.weights[:30].max() < 0.2 * np.median(field.weights[30:])
    assert "degrees" in field.notes[0]


def test_a_constraint_takes_the_velocity_into_its_tangent_space():
    sphere = POINTS / np.linalg.norm(POINTS, axis=1, keepdims=True)
    for outwards, status, allowed in ((0.0, "verified", 1e-12), (0.1, "approximate", 1e-5)):
        field = cf.GradientField.from_flow(
            sphere,
            turning(sphere) + outwards * sphere,
            names=["x", "y", "z"],
            constraints=["x**2 + y**2 + z**2 = 1"],
        )
        assert (field.rank, field.tangent.rank) == (1, 2)
        answer = cf.verify("z", field, rivals=None, rng=0)
        assert answer.verdict.status == status
        # What leads outwards is taken off in units of the inputs' spread, which differ a little.
        assert answer.alignment is not None
        assert answer.alignment.misalignment < allowed


def test_close_pairs_give_secants_and_distant_ones_are_left_out():
    angle, radius = RNG.uniform(0, 6, 200), RNG.uniform(1, 2, 200)
    step = np.where(np.arange(200) < 50, 2.0, 0.01)

    def at(angles):
        return np.column_stack([radius * np.cos(angles), radius * np.sin(angles)])

    field = cf.GradientField.from_pairs(at(angle), at(angle + step), names=["x", "y"])
    assert field.n_points == 150
    assert "50 of 200" in field.notes[0]
    assert cf.verify("x**2 + y**2", field, rivals=None, rng=0).verdict.status == "verified"


def test_distant_pairs_are_refused_with_the_way_out():
    with pytest.raises(FieldError, match=r"conserved\(pairs=") as told:
        cf.GradientField.from_pairs(POINTS, POINTS + 20 * CLOSE)
    assert "spreads apart" in str(told.value)


def test_shapes_are_checked():
    with pytest.raises(ShapeError, match="one velocity"):
        cf.GradientField.from_flow(POINTS, POINTS[:10])
    with pytest.raises(FieldError, match="one input"):
        cf.GradientField.from_flow(POINTS[:, :1], POINTS[:, :1])
