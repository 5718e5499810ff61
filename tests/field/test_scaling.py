import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from closedform.errors import ShapeError
from closedform.field.tangent_space import robust_spread


def test_it_is_the_standard_deviation_of_normal_data():
    points = np.random.default_rng(0).normal(size=(20_000, 2)) * [3.0, 0.01]
    np.testing.assert_allclose(robust_spread(points), [3.0, 0.01], rtol=0.03)


def test_outliers_do_not_move_it():
    points = np.random.default_rng(0).normal(size=(1000, 1))
    before = robust_spread(points)
    points[:20] = 1e9
    np.testing.assert_allclose(robust_spread(points), before, rtol=0.1)


def test_an_input_that_is_mostly_zero_falls_back_to_its_standard_deviation():
    points = np.zeros((100, 1))
    points[:10] = 1.0
    np.testing.assert_allclose(robust_spread(points), [0.3])


@pytest.mark.parametrize("value", [0.0, 0.1, -7e8, 1e-300])
def test_a_constant_input_has_spread_one(value):
    np.testing.assert_array_equal(robust_spread(np.full((7, 1), value)), [1.0])


@pytest.mark.parametrize("unit", [1e-200, 1e-3, 1e3, 1e200])
def test_it_scales_with_the_units(unit):
    points = np.random.default_rng(0).uniform(-1, 1, (100, 3))
    np.testing.assert_allclose(
        robust_spread(points * unit), robust_spread(points) * unit, rtol=1e-12
    )


@given(
    hnp.arrays(
        np.float64, hnp.array_shapes(min_dims=2, max_dims=2), elements=st.floats(-1e300, 1e300)
    )
)
def test_it_is_finite_and_positive_whatever_comes(points):
    spread = robust_spread(points)
    assert np.isfinite(spread).all()
    assert (spread > 0).all()


@pytest.mark.parametrize("shape", [(3,), (0, 2), (2, 0), (2, 2, 2)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(ShapeError, match="n_points, n_inputs"):
        robust_spread(np.zeros(shape))
