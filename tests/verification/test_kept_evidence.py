"""All that selection and verification say about small fields, kept: a number that moves has to be
looked at.

After a change that is meant, write the file anew and read its difference:

    python tests/verification/test_kept_evidence.py
"""

import json
import re
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

import closedform as cf
from closedform.alignment.scores import field_misalignment
from closedform.expressions.complexity import complexity
from closedform.searching.front import Candidate, Front
from closedform.searching.search_stage import choose_points
from closedform.verification.tolerances_in_force import tolerances_in_force

KEPT = Path(__file__).with_name("kept_evidence.json")
NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?")
LEFT_OUT = {"seconds", "versions", "command", "closedform", "digest", "tolerances"}
"""What differs between runs or releases, or is kept once for all."""

MANY = 12
"""Longer lists of numbers are kept as their length, mean and spread."""


def exact(text, *, names=("x", "v"), low=-1.5, high=1.5, count=500, seed=0):
    points = np.random.default_rng(seed).uniform(low, high, (count, len(names)))
    expression = cf.parse(text, names=names)
    return points, expression.gradient(points), expression(points)


def turned(gradients, degrees, seed=1):
    """Directions with noise."""
    unit = gradients / np.linalg.norm(gradients, axis=1, keepdims=True)
    return unit + np.radians(degrees) * np.random.default_rng(seed).normal(size=unit.shape)


def a_pendulum():
    points, gradients, _ = exact("v**2/2 - cos(x)")
    field = cf.GradientField.from_arrays(points, gradients, names=["x", "v"])
    return field, ["v**2 + x**2", "v**2 - 2*cos(x)", "v**2 + x**2 - 0.07*x**4"]


def noise_of_two_degrees():
    points, gradients, _ = exact("x**2*v + v", low=0.4, high=2.0)
    field = cf.GradientField.from_arrays(points, turned(gradients, 2.0), names=["x", "v"])
    return field, ["x*v", "x**2*v + v", "x**2*v + 1.02*v + 0.011*x", "x**1.3*v", "x"]


def a_network_with_bias():
    points, gradients, values = exact("v**2 + x**2 + x**4/2")
    bias = 0.03 * np.column_stack([np.cos(3 * points[:, 1]), np.sin(2 * points[:, 0])])
    slope = 1 - np.tanh(values / 3) ** 2
    field = cf.GradientField.from_arrays(
        points, (gradients + bias) * slope[:, None], names=["x", "v"], latents=np.tanh(values / 3)
    )
    return field, ["v**2 + x**2", "v**2 + x**2 + x**4/2", "v**2 + 1.8*x**2 + 0.2*x**6", "v + x"]


def a_formula_that_is_too_simple():
    points, gradients, _ = exact("exp(x) + v**2", low=-1.0, high=1.0)
    field = cf.GradientField.from_arrays(points, turned(gradients, 1.0), names=["x", "v"])
    return field, ["x + v**2", "x"]


def two_that_cannot_be_told_apart():
    points, gradients, _ = exact("v**2 + sin(x)", low=-0.4, high=0.4)
    field = cf.GradientField.from_arrays(points, turned(gradients, 1.5), names=["x", "v"])
    return field, ["v**2 + x", "v**2 + sin(x)", "v**2 + tanh(x)"]


def a_sign_that_turns():
    points, gradients, _ = exact("x**2 + v**2", low=0.2)
    gradients = np.where(points[:, :1] > 0.9, -gradients, gradients)
    field = cf.GradientField.from_arrays(points, gradients, names=["x", "v"])
    return field, ["x**2 + v**2", "x + v"]


def an_input_that_hardly_matters():
    names = ["x", "y", "z"]
    points, gradients, values = exact("x*y + 0.02*z", names=names, low=0.5, high=1.5)
    field = cf.GradientField.from_arrays(points, gradients, names=names, latents=values)
    return field, ["x*y", "x*y + 0.02*z", "x + y"]


def directions_without_a_concept():
    rng = np.random.default_rng(3)
    field = cf.GradientField.from_arrays(
        rng.uniform(-1, 1, (400, 2)), rng.normal(size=(400, 2)), names=["x", "v"]
    )
    return field, ["x", "x**2 - v", "sin(2.3*x) + v**3"]


def a_linear_network():
    points, gradients, values = exact("2*x + v + 0.05*x**2")
    field = cf.GradientField.from_arrays(points, gradients, names=["x", "v"], latents=values)
    return field, ["2*x + v", "x", "2*x + v + 0.05*x**2"]


def quantities_with_units():
    points, gradients, _ = exact("m*v**2/2", names=["m", "v"], low=0.5, high=2.0)
    field = cf.GradientField.from_arrays(
        points, turned(gradients, 1.0), names=["m", "v"], units={"m": "kg", "v": "m/s"}
    )
    return field, ["m*v", "m*v**2", "m + v"]


CASES = [
    a_pendulum, noise_of_two_degrees, a_network_with_bias, a_formula_that_is_too_simple,
    two_that_cannot_be_told_apart, a_sign_that_turns, an_input_that_hardly_matters,
    directions_without_a_concept, a_linear_network, quantities_with_units,
]  # fmt: skip


def evidence(case):
    """The selection and the answer as they are saved."""
    field, texts = case()
    seen = choose_points(field, np.random.default_rng(7))
    formulas = [cf.parse(text, names=field.names) for text in texts]
    front = Front.of(
        Candidate(
            one, float(np.mean(field_misalignment(one, field))), complexity(one.tree), "given"
        )
        for one in formulas
    )
    result = cf.SearchResult(front, "finished", digest=field.digest(), seen=tuple(seen.tolist()))
    selection = cf.select(result, field, rng=1)
    answer = cf.verify(selection, field, budget=cf.Budget(evaluations=60), engine="terms", rng=2)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "kept.json"
        found = {}
        for name, part in (("selection", selection), ("answer", answer)):
            part.save(path)
            found[name] = short(json.loads(path.read_text(encoding="utf-8")))
    return found


def short(content):
    """Without what differs between runs, and long lists of numbers as three."""
    if isinstance(content, dict):
        return {name: short(part) for name, part in content.items() if name not in LEFT_OUT}
    if isinstance(content, float):
        return float(f"{content:.5g}")
    if not isinstance(content, list):
        return content
    numbers = np.ravel(content) if len(content) > MANY else np.empty(0)
    if numbers.dtype.kind in "fi" and numbers.size:
        return short([len(content), float(numbers.mean()), float(numbers.std())])
    return [short(part) for part in content]


def assert_alike(found, kept, where):
    """The same words, and numbers within half a percent."""
    if isinstance(kept, dict):
        assert found.keys() == kept.keys(), where
        for name in kept:
            assert_alike(found[name], kept[name], f"{where}.{name}")
    elif isinstance(kept, list):
        assert len(found) == len(kept), where
        for index, (one, other) in enumerate(zip(found, kept, strict=True)):
            assert_alike(one, other, f"{where}[{index}]")
    elif isinstance(kept, str):
        assert NUMBER.sub("#", found) == NUMBER.sub("#", kept), where
        numbers = [
            [float(n.replace(",", "")) for n in NUMBER.findall(text)] for text in (found, kept)
        ]
        assert numbers[0] == pytest.approx(numbers[1], rel=0.005, abs=1e-9), (where, found, kept)
    elif isinstance(kept, float) and not isinstance(found, bool | None):
        assert found == pytest.approx(kept, rel=0.005, abs=1e-9, nan_ok=True), where
    else:
        assert found == kept, where


def kept():
    return json.loads(KEPT.read_text(encoding="utf-8"))


def tolerances():
    """All numbers that decide, those that a user may move included."""
    return {**tolerances_in_force(), **json.loads(json.dumps(asdict(cf.Thresholds())))}


def test_tolerances_are_as_they_were():
    assert tolerances() == kept()["tolerances"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_evidence_is_as_it_was(case):
    assert_alike(evidence(case), kept()[case.__name__], case.__name__)


if __name__ == "__main__":
    content = {case.__name__: evidence(case) for case in CASES}
    content["tolerances"] = tolerances()
    KEPT.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")
