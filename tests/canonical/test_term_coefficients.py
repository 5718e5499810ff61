import numpy as np
import pytest

import closedform as cf
from closedform.canonical.constants import free_constants, with_coefficients


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("x**2 + v**2 + x**4/2", 2),
        ("x*v - 3*x", 1),
        ("2*x**2 - 4*v", 1),
        ("sin(x)", 0),
        ("-(x + v) + 3", 1),
        ("x*2 - v/4", 1),
    ],
)
def test_all_terms_but_one_have_a_number(text, count):
    plain = cf.parse(text, names=["x", "v"])
    free = with_coefficients(plain)
    assert len(free_constants(free)) == count
    points = np.random.default_rng(0).uniform(0.5, 2, (20, 2))
    one, two = plain.gradient(points), free.gradient(points)
    np.testing.assert_allclose(one[:, 0] * two[:, 1], one[:, 1] * two[:, 0], atol=1e-12)
