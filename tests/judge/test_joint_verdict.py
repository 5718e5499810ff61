import numpy as np
import pytest

import closedform as cf
from closedform.interpretation.verdict import Verdict
from closedform.judge.joint_verdict import judge_together, measure_together

NAMES = ["x", "y", "z", "t"]
POINTS = np.random.default_rng(0).uniform(0.3, 1.5, (600, 4))
FIRST, SECOND = cf.parse("x*y + z", names=NAMES), cf.parse("x**2 - t", names=NAMES)
FINE = Verdict("verified", "")


def halves(latents):
    jacobians = np.stack([FIRST.gradient(POINTS), SECOND.gradient(POINTS)], axis=1)
    field = cf.GradientField.from_arrays(
        POINTS, jacobians, latents=latents, names=NAMES, tangent="none"
    )
    return field.subset(np.arange(400)), field.subset(np.arange(400, 600))


LATENTS = np.stack(
    [np.tanh(FIRST(POINTS) + SECOND(POINTS)), FIRST(POINTS) * SECOND(POINTS)], axis=1
)


def test_concepts_that_span_and_determine_the_latents_are_verified():
    joint = measure_together([FIRST, SECOND], *halves(LATENTS))
    assert max(joint.outside, joint.missing) < 1e-12
    assert min(joint.r2) > 0.99
    verdict = judge_together(joint, [FINE, FINE])
    assert verdict.status == "verified"
    assert "rank 2, read 2" in verdict.sentence


def test_half_of_the_directions_is_missing_with_one_concept():
    joint = measure_together([FIRST], *halves(LATENTS))
    assert joint.outside < 1e-12
    assert joint.missing == pytest.approx(0.5)
    verdict = judge_together(joint, [FINE])
    assert verdict.status == "approximate"
    assert {check.name for check in verdict.checks if check.passed is False} == {
        "rank",
        "span",
        "regression",
    }


def test_a_wrong_concept_lies_outside():
    joint = measure_together([FIRST, cf.parse("x + t**2", names=NAMES)], *halves(LATENTS))
    assert joint.outside > 0.05
    assert judge_together(joint, [FINE, FINE]).status == "approximate"


def test_latents_that_know_more_than_the_concepts_are_seen():
    other = LATENTS + np.sin(9 * POINTS[:, 3:])
    joint = measure_together([FIRST, SECOND], *halves(other))
    assert joint.explained is not None
    assert joint.explained < 0.9
    assert judge_together(joint, [FINE, FINE]).status == "approximate"


def test_without_concepts_or_latents_there_is_less_to_say():
    seen, held = halves(None)
    assert measure_together([FIRST, SECOND], seen, held).explained is None
    nothing = measure_together([], seen, held)
    assert (nothing.read, nothing.missing) == (0, 1.0)
    assert judge_together(nothing, []).status == "none"
