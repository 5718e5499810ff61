"""Numbers that a fit found up to rounding."""

import numpy as np
import pytest

import closedform as cf
from closedform.canonical.constants import recognise_constants


@pytest.mark.parametrize(
    ("rounded", "meant"),
    [
        ("x + 0.47619047619047616*y", "x + 10/21*y"),
        ("x + 2.0408163265306123*y", "x + 100/49*y"),
        ("x*(log(y) + 1.3862943611198908)", "x*(log(y) + log(4))"),
        ("x**0.33333333333333337*y", "x**(1/3)*y"),
        ("x + 0.123456*y", "x + 0.123456*y"),
        ("x*(log(y) - 2.407945608651794)", "x*log(0.3*sqrt(y))"),
        ("z + x*(0.842780963028151 - 0.7*log(y))", "z - 0.7*x*log(0.3*y)"),
        ("x**2*((y*z)**4 + 8.499859752313315)", "x*sqrt(1 + (0.343*y**2*z**2)**2)"),
        ("x + 0.11764900000000002*y", "x + 0.117649*y"),
        ("x + 0.8414709848078965*y", "x + 0.8414709848078965*y"),
    ],
)
def test_numbers_are_what_they_are_up_to_rounding(rounded, meant):
    assert cf.same_concept(recognise_constants(cf.parse(rounded)), cf.parse(meant), domain=(1, 2))


def test_a_reading_of_an_exact_field_ends_with_fractions():
    """A field of x1**2*x2**3/(1 + 0.7*(x3 - 0.3*x4)) was read with 1.4285714285714282 for 10/7,
    which is another concept by a hair.
    """
    points = np.random.default_rng(0).uniform(1, 2, (500, 4))
    truth = cf.parse("x1**2*x2**3/(1 + 0.7*(x3 - 0.3*x4))")
    field = cf.GradientField.from_arrays(points, truth.gradient(points), names=truth.names)
    result = cf.search(field, budget=10, rng=0, progress=False)
    chosen = cf.select(result, field, rng=0).chosen
    assert chosen is not None
    assert cf.same_concept(chosen.expression, truth, points=points)
