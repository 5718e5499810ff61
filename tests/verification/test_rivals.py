import numpy as np

import closedform as cf
from closedform.selection.regions import divide
from closedform.verification.inputs import leave_one_out
from closedform.verification.rivals import find_rivals
from closedform.verification.stability import compare_halves

NAMES = ["t", "v"]


def parse(text):
    return cf.parse(text, names=NAMES)


def narrow_field():
    """t varies so little that cos(t) and 1 - t**2/2 cannot be told apart under the noise."""
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, (800, 2)) * [0.25, 1.0]
    gradients = parse("t**2 + v**2").gradient(points) + 0.05 * rng.normal(size=(800, 2))
    return cf.GradientField.from_arrays(points, gradients, names=NAMES)


def test_a_rival_is_found_with_the_place_that_would_decide():
    field, rng = narrow_field(), np.random.default_rng(0)
    candidates = [
        (parse("v**2 - 2*cos(t)"), 12),
        (parse("t + v"), 3),
        (parse("2*t**2 + 2*v**2"), 8),
    ]
    rivals = find_rivals(parse("t**2 + v**2"), candidates, field, divide(field, rng), rng)
    assert [str(rival.expression) for rival in rivals] == ["v**2 - 2*cos(t)"]
    (rival,) = rivals
    assert rival.degrees > rival.degrees_on_data
    assert abs(dict(rival.where)["t"]) > 0.25


def test_halves_are_compared_by_form():
    field = narrow_field()
    found = compare_halves(
        parse("t**2 + v**2"), [parse("t**2 + v"), parse("2*t**2 + 2*v**2")], field
    )
    assert found.same_form == (False, True)
    assert found.distances[0] > 0 > found.distances[1] - 1e-12
    assert not found.is_stable
    near = compare_halves(parse("1.01*t**2 + v**2"), [parse("0.98*t**2 + v**2")] * 2, field)
    assert near.is_stable
    assert not compare_halves(parse("t**2 + v**2"), [parse("t**2 + v**2")], field).is_stable


def test_inputs_that_a_concept_needs():
    points = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    field = cf.GradientField.from_arrays(points, points, names=NAMES)
    needs = leave_one_out(parse("t**2 + v**2"), field)
    assert [need.name for need in needs] == NAMES
    assert all(need.is_used and need.without > 0.1 for need in needs)
    unused = leave_one_out(parse("v**2"), field)[0]
    assert not unused.is_used
    assert unused.network_share > 0.1
