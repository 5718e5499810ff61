import numpy as np
import pytest

import closedform as cf
from closedform.expressions.complexity import complexity
from closedform.expressions.evaluate import gradient
from closedform.expressions.printing import to_text
from closedform.field.alignment.misalignment import point_misalignment
from closedform.searching.evolution.spelling import tidy
from closedform.testing import random_tree

NAMES = ["x", "y"]
POINTS = np.random.default_rng(0).uniform(0.3, 2.0, (40, 2))


def test_tidying_keeps_the_direction_and_seldom_costs():
    rng = np.random.default_rng(1)
    factors = np.array([1000.0, 1.0])
    dearer = []
    for _ in range(400):
        tree = random_tree(rng, 14, 2)
        for scale in (np.ones(2), factors):
            found = tidy(tree, scale)
            if found is None:
                continue
            if scale is not factors:
                # x + x costs less than 2*x.
                dearer.append(complexity(found) > complexity(tree))
            # What depends on x at z = factor * x; the chain rule gives its gradient.
            expected = gradient(tree, POINTS * scale / factors) * scale
            got = gradient(found, POINTS / factors)
            with np.errstate(all="ignore"):
                sizes = np.linalg.norm(expected, axis=1), np.linalg.norm(got, axis=1)
                units = [
                    vectors / size[:, None]
                    for vectors, size in zip((expected, got), sizes, strict=True)
                ]
            fine = np.all([np.isfinite(s) & (s > 1e-6) & (s < 1e6) for s in sizes], axis=0)
            if fine.sum() > 5:
                lost = point_misalignment(units[1][fine], units[0][fine][:, :, None])
                assert np.median(lost) < 1e-8, to_text(tree, NAMES)
    assert len(dearer) > 300
    assert np.mean(dearer) < 0.02


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4*x + 4*y", "x + y"),
        ("3*x - 6*y", "x - 2.0*y"),
        ("(2*x)**2*(3*y)", "(x**2.0)*y"),
        ("x/2 - y/2 + 7", "x - y"),
        ("sin(2*x + 3)", "x"),
        ("sqrt(4*x*y)", "x*y"),
        ("x + x", "x"),
    ],
)
def test_constants_move_outward(text, expected):
    found = tidy(cf.parse(text, names=NAMES).tree, np.ones(2))
    assert found == cf.parse(expected, names=NAMES).tree


def test_constants_have_no_essence():
    assert tidy(cf.parse("2 + 3", names=NAMES).tree, np.ones(2)) is None
    assert tidy(cf.parse("x + 1/0", names=NAMES).tree, np.ones(2)) is None
