import numpy as np
import pytest

from closedform_bench.formulas.drawn_forms import draw_forms, is_of_its_class
from closedform_bench.formulas.fairness import has_needless_part, is_fair, is_separable
from closedform_bench.formulas.form_classes import CLASSES
from closedform_bench.formulas.problem import Problem


@pytest.fixture(scope="module")
def forms() -> list[Problem]:
    """Two dozen of them."""
    return draw_forms(24, 3)


def test_forms_depend_on_the_seed_and_their_number_alone(forms: list[Problem]):
    assert draw_forms(24, 3) == forms
    assert draw_forms(10, 3) == forms[:10]
    assert not {form.truth for form in forms} & {form.truth for form in draw_forms(24, 4)}


def test_classes_take_turns_and_formulas_differ(forms: list[Problem]):
    assert [form.kind for form in forms] == [*CLASSES] * 4
    assert len({form.truth for form in forms}) == len(forms)
    assert {len(form.ranges) for form in forms} == {2, 3, 4, 5}


def test_forms_are_finite_everywhere_and_every_input_matters(forms: list[Problem]):
    for form in forms:
        points = form.points(1000, np.random.default_rng(1))
        slopes = form.formula().gradient(points) * points.std(axis=0)
        assert np.isfinite(form.formula()(points)).all(), form
        assert ((slopes**2).mean(axis=0) / (slopes**2).mean()).min() > 5e-4, form
        assert is_of_its_class(form)


@pytest.mark.parametrize(
    ("truth", "separable"),
    [
        ("exp(x*y + sqrt(z))", True),
        ("(x*y + x*z)*(y + z)", True),
        ("x*y + y*z + z", False),
        ("max(x, y) + z", True),
        ("x*max(x - y, z)", False),
        ("x + sqrt(x**2 + y*z)", False),
    ],
)
def test_separable_is_what_a_function_makes_of_a_sum(truth, separable):
    ranges = {"x": (0.5, 2.0), "y": (1.0, 2.0), "z": (0.5, 3.0)}
    assert is_separable(Problem("", truth, ranges)) == separable


@pytest.mark.parametrize(
    ("truth", "needless"),
    [
        ("exp(x*y + x)", True),  # a function of the whole
        ("max(x + 5, y) + y**2", True),  # a branch that is never taken
        ("x + sin(0.1*y)", True),  # as good as its argument
        ("x + sin(y)", False),
        ("max(x, y) + y**2", False),
    ],
)
def test_a_part_is_needless_if_the_directions_hardly_change(truth, needless):
    assert has_needless_part(Problem("", truth, {"x": (0.5, 2.0), "y": (0.5, 2.0)})) == needless


@pytest.mark.parametrize("truth", ["1/(x - y)", "log(x - 1) + y", "x + 0.001*y", "1e7*x + y"])
def test_poles_gaps_and_inputs_that_do_not_matter_are_unfair(truth):
    assert not is_fair(Problem("", truth, {"x": (0.5, 2.0), "y": (0.5, 2.0)}))
