from dataclasses import replace

import numpy as np
import pytest

from closedform.expressions.parse import parse
from closedform.report.figure_numbers import (
    coefficients,
    fitted_coefficients,
    network_spreads,
    network_terms,
)


def test_fitted_constants_have_intervals(example):
    (row,) = coefficients(example)
    assert row.term == "0.5*v**2"
    assert row.value == 0.5001
    assert (row.low, row.high) == pytest.approx((0.5001 - 1.96 * 0.004, 0.5001 + 1.96 * 0.004))
    assert fitted_coefficients(parse("x + v/2"), ()) == ()


def test_a_constant_is_named_by_its_term_of_the_sum():
    rows = fitted_coefficients(parse("x**2 - sin(0.37*v) + 1.23456*x"), (0.1, 0.2))
    assert [row.term for row in rows] == ["sin(0.37*v)", "1.23*x"]


def test_over_networks_the_spread_is_the_interval(networks):
    (row,) = coefficients(networks)
    assert row.term == "v**2"
    half = 1.96 * np.std([0.50, 0.51, 0.52, 0.53], ddof=1) / 2
    assert (row.low, row.value, row.high) == pytest.approx((0.515 - half, 0.515, 0.515 + half))


def test_terms_of_several_concepts_are_numbered_and_in_the_order_of_the_constants(networks):
    concepts = (parse("x**2 + 2*v"), parse("x + 3*v**2 + 4*(x*v)"))
    readings = [
        replace(reading, concepts=concepts, constants=((2.0 + place,), (3.0 + place, 4.0 + place)))
        for place, reading in enumerate(networks.networks)
    ]
    found = replace(networks, concepts=concepts, networks=tuple(readings))
    assert network_terms(found) == ["1: v", "2: v**2", "2: x*v"]
    assert [spread.mean for spread in network_spreads(found)] == [3.5, 4.5, 5.5]


def test_one_network_has_terms_but_no_spread(networks):
    """Its constants stood in columns without a name."""
    found = replace(networks, networks=networks.networks[:1])
    assert network_terms(found) == ["v**2"]
    assert network_spreads(found) == []
    assert coefficients(found)[0].value == 0.5001


def test_without_a_formula_there_are_none(nothing, several):
    assert coefficients(nothing) == ()
    assert coefficients(several) == ()
