"""Each finding has a field that triggers it and a like one that does not."""

import re
from pathlib import Path

import numpy as np
import pytest

from closedform.errors import ClosedformWarning
from closedform.field import findings
from closedform.field.gradient_field import GradientField

N = 400


def uniform(n_points=N, n_inputs=3, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, (n_points, n_inputs))


def smooth(points):
    """Gradient of a concept on which every input has its say."""
    gradient = 2 * points + 0.5
    gradient[:, 0] += points[:, 1]
    gradient[:, 1] += points[:, 0]
    return gradient


def build(points, gradients, **options):
    return GradientField.from_arrays(points, gradients, **options)


def zeroed(share):
    points = uniform()
    gradients = smooth(points)
    gradients[: int(share * N)] = 0.0
    return build(points, gradients)


def dead(bad):
    return zeroed(0.99 if bad else 0.0)


def partly_zero(bad):
    return zeroed(0.3 if bad else 0.01)


def nonfinite(bad):
    points = uniform()
    gradients = smooth(points)
    if bad:
        gradients[3, 1], gradients[7] = np.nan, np.inf
    return build(points, gradients)


def saturated(bad):
    # A sigmoid of slope 40 has gradients down to exp(-40); one of slope 2 does not.
    points = uniform()
    latent = (40.0 if bad else 2.0) * points.sum(axis=1)
    slope = 1 / (4 * np.cosh(latent / 2) ** 2)
    return build(points, slope[:, None] * np.ones(3))


def latents(second):
    points = uniform()
    return build(points, np.stack([smooth(points), second(points)], axis=1))


def rank_below(bad):
    return latents(lambda points: 2 * smooth(points) if bad else np.cos(points) * [1, -1, 0.5])


def ambiguous(bad):
    return latents(
        lambda points: 2 * smooth(points) + (2.0 if bad else 1e-3) * np.roll(points, 1, axis=1)
    )


def low_rank_points(bad):
    def second(points):
        gradient = np.cos(points) * [1, -1, 0.5]
        gradient[: N // 5 if bad else N // 100] = 0.0
        return gradient

    return latents(second)


def every_function(bad):
    points = uniform(n_inputs=1 if bad else 2)
    return build(points, points + 2)


def tangent_rank(bad):
    points = uniform()
    if bad:
        points[:, 2] = 1 - points[:, 0]
    return build(points, smooth(points))


def curved(bad):
    points = np.random.default_rng(1).normal(size=(1000, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    if not bad:
        return build(points, smooth(points), tangent="local")
    with pytest.warns(ClosedformWarning, match="curved"):
        return build(points, smooth(points))


def undefined(bad):
    points = np.random.default_rng(2).normal(size=(N, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    if bad:
        points[:5] = 0.0
    return build(points, smooth(points), constraints=["sqrt(x0**2 + x1**2 + x2**2)"])


def irrelevant(bad):
    points = uniform()
    return build(points, smooth(points) * [1, 1, 0.005 if bad else 0.2])


def constant(bad):
    points = uniform()
    if bad:
        points[:, 2] = 4.0
    return build(points, smooth(points))


def redundant(bad):
    points = uniform(1000)
    if bad:
        points[:, 2] = points[:, 0] ** 2 + points[:, 1]
    return build(points, smooth(points), tangent="none")


def duplicated(bad):
    points = uniform()
    points[: N // 4 if bad else 2] = points[-1]
    return build(points, smooth(points))


def noisy(bad):
    points = uniform(1000)
    gradients = smooth(points)
    gradients /= np.linalg.norm(gradients, axis=1, keepdims=True)
    return build(
        points,
        gradients + (0.1 if bad else 0.01) * np.random.default_rng(3).normal(size=points.shape),
    )


def badly_scaled(bad):
    units = np.array([1.0, 2000.0 if bad else 500.0, 1.0])
    points = uniform()
    return build(points * units, smooth(points) / units)


def few(bad):
    points = uniform(60 if bad else N)
    return build(points, smooth(points))


def many(bad):
    points = uniform(N, 70 if bad else 60)
    return build(points, points * (np.arange(points.shape[1]) < 3))


CASES = {
    "dead-neuron": dead,
    "zero-gradients": partly_zero,
    "non-finite-gradients": nonfinite,
    "saturated": saturated,
    "rank-below-latents": rank_below,
    "ambiguous-rank": ambiguous,
    "lower-rank-points": low_rank_points,
    "every-function-fits": every_function,
    "tangent-rank": tangent_rank,
    "curved-data": curved,
    "undefined-tangent": undefined,
    "irrelevant-inputs": irrelevant,
    "constant-inputs": constant,
    "redundant-inputs": redundant,
    "duplicated-points": duplicated,
    "noisy-directions": noisy,
    "badly-scaled-inputs": badly_scaled,
    "too-few-points": few,
    "many-inputs": many,
}


@pytest.mark.parametrize("code", CASES)
def test_a_field_that_triggers_it_and_one_that_does_not(code):
    finding = CASES[code](True).quality.finding(code)
    assert finding is not None
    assert finding.message.count(".") >= 2 or ":" in finding.message
    assert finding.data
    assert CASES[code](False).quality.finding(code) is None


def test_every_finding_has_a_case():
    text = Path(findings.__file__).read_text(encoding="utf-8")
    assert set(re.findall(r'Finding\("([a-z-]+)"', text)) == set(CASES)


@pytest.mark.parametrize("n_inputs", [2, 3, 5])
def test_a_clean_field_has_no_findings(n_inputs):
    points = uniform(1000, n_inputs)
    quality = build(points, smooth(points)).quality
    assert quality.findings == ()
    assert quality.noise_degrees is not None
    assert quality.noise_degrees < 0.5
    assert sum(quality.input_shares) == pytest.approx(1.0)


def test_the_severest_comes_first_and_print_lists_them():
    quality = dead(True).quality
    severities = [finding.severity for finding in quality.findings]
    assert severities == sorted(severities, key=["error", "warning", "info"].index)
    text = str(quality)
    assert "The gradient is zero at 99% of the points" in text
    assert len(text.splitlines()) == 1 + len(quality.findings)


def test_numbers_are_those_of_the_field():
    quality = nonfinite(True).quality
    assert quality.nonfinite_share == pytest.approx(2 / N)
    assert (quality.n_points, quality.n_usable) == (N, N - 2)
    assert zeroed(0.3).quality.zero_share == pytest.approx(0.3)
    assert duplicated(True).quality.duplicate_share == pytest.approx(N / 4 / N)


def test_a_redundant_input_is_a_warning_only_while_nothing_accounts_for_it():
    points = uniform()
    points[:, 2] = 1 - points[:, 0]
    free, accounted = (
        build(points, smooth(points), tangent=kind).quality.finding("redundant-inputs")
        for kind in ("none", "auto")
    )
    assert free is not None
    assert accounted is not None
    assert (free.severity, accounted.severity) == ("warning", "info")
    points[:, 2] = points[:, 0] ** 2 + points[:, 1]
    curved = build(points, smooth(points), tangent="linear").quality.finding("redundant-inputs")
    assert curved is not None
    assert curved.severity == "warning"
    assert "x2 is an affine combination of x0" in free.message


def test_shares_of_energy_do_not_depend_on_units():
    points, units = uniform(), np.array([1e4, 1.0, 1e-3])
    here, there = (
        build(points, smooth(points)).quality,
        build(points * units, smooth(points) / units).quality,
    )
    np.testing.assert_allclose(here.input_shares, there.input_shares, rtol=1e-9)
    assert here.noise_degrees == pytest.approx(there.noise_degrees, abs=1e-6)


def test_a_constant_input_is_not_called_irrelevant_too():
    quality = constant(True).quality
    assert quality.finding("constant-inputs") is not None
    assert quality.finding("irrelevant-inputs") is None
    assert quality.finding("badly-scaled-inputs") is None


def test_a_gradient_across_the_data_only_is_zero():
    points = uniform()
    points[:, 2] = 1 - points[:, 0]
    quality = build(points, np.tile([1.0, 0.0, 1.0], (N, 1))).quality
    assert quality.finding("dead-neuron") is not None


def test_many_inputs_are_told_with_those_that_matter():
    points = uniform(50, 500)
    quality = build(points, points * (np.arange(500) < 3)).quality
    few_matter = quality.finding("many-inputs")
    assert few_matter is not None
    assert few_matter.data["main"] == ["x0", "x1", "x2"]
    assert "x0, x1, x2. Read these alone" in few_matter.message
    assert len(str(quality)) < 2000
    all_matter = build(points, points).quality.finding("many-inputs")
    assert all_matter is not None
    assert "transform" in all_matter.message
