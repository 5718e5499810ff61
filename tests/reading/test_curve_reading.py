import numpy as np
import pytest

from closedform.expressions.parse import parse
from closedform.reading.curve_form import Curve, CurveForm, fit_curve
from closedform.reading.curve_reading import read_curve

K = np.linspace(0.6, 6.0, 40)


def read(values, error=2e-4, seed=0):
    noise = error * np.random.default_rng(seed).normal(size=len(K))
    found = read_curve(K, values + noise, np.full(len(K), error))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ((1 + 0.57 * K) / (K**2 + 0.57 * K), "(1 + {0}*k)/(k**2 + {0}*k)"),
        (2.1 * np.exp(-0.8 * K) + 0.3, "{}*exp({}*k) + {}"),
        (1.3 * K**1.7, "{}*k**{}"),
    ],
)
def test_a_noisy_curve_is_read_with_its_numbers(values, told):
    found = read(values)
    shown = [f"{number:.6g}" for number in found.numbers]
    assert str(found.concept) == told.format(*shown)
    assert found.verdict.status in ("verified", "ambiguous", "approximate")
    assert found.r2 > 0.999
    if "{0}" in told:  # a number that stands twice is fitted once
        assert abs(found.numbers[0] - 0.57) < 4 * found.errors[0] < 0.02


def test_an_exact_curve_is_verified():
    found = read_curve(K, 3.2 * K / (K + 1.4), np.zeros(40))
    assert found is not None
    assert found.verdict.status == "verified"
    assert found.confidence > 0.95
    assert sorted(found.numbers) == pytest.approx([1.4, 3.2])


def test_what_has_no_short_formula_is_not_verified():
    bumps = sum(np.sin(n * K + n**2) / n for n in (1, 2, 3, 4, 5))
    found = read(2 + bumps)
    assert found.verdict.status in ("approximate", "none")
    assert found.confidence < 0.5


def test_a_curve_that_does_not_vary_is_a_constant():
    found = read(np.full(40, 2.0), error=0.01)
    assert float(str(found.concept)) == pytest.approx(2, abs=0.01)


def test_few_points_are_no_curve():
    assert read_curve(np.arange(5.0), np.arange(5.0), np.zeros(5)) is None


def test_points_without_values_and_errors_that_are_not_known_are_left_out():
    values, errors = np.log(K / 0.05), np.full(40, np.nan)
    values[3] = np.nan
    found = read_curve(K, values, errors)
    assert found is not None
    assert str(found.concept) == "log(k/0.05)"
    assert found.concept(np.array([[1.0]])) == pytest.approx([np.log(20)])


def test_stretches_left_out_are_as_if_refitted():
    curve = Curve.of(K, 1.3 * K + 0.2 + 0.05 * np.sin(5 * K), np.full(40, 0.01))
    line = CurveForm.of(parse("1.5*k + 0.5", names=["k"]).tree, (0, 3))
    fitted = fit_curve(line, curve)
    assert fitted is not None
    rows = curve.stretches[0]
    rest = np.setdiff1d(np.arange(40), rows)
    part = Curve(K[rest], curve.values[rest], curve.turns[rest], curve.errors[rest])
    again = fit_curve(CurveForm(line.tree, fitted.form.numbers), part)
    assert again is not None
    left = (again.form.at(K[rows])[0] - curve.values[rows]) * curve.turns[rows]
    assert fitted.left[rows] == pytest.approx(left, rel=0.1)
