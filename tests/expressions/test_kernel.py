import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import closedform as cf
from closedform.expressions.expression import Expression
from closedform.expressions.kernel import (
    BAD_GRADIENT,
    BAD_VALUE,
    BLOCK,
    FINE,
    ZERO_GRADIENT,
    to_blocks,
    values_and_gradients,
)
from closedform.expressions.tape import CODES, compile_tapes
from closedform.testing import random_tree


def trees(count, size=20, n_inputs=4, seed=0):
    rng = np.random.default_rng(seed)
    return [random_tree(rng, int(rng.integers(1, size)), n_inputs) for _ in range(count)]


@pytest.mark.parametrize("n_points", [1, BLOCK - 1, BLOCK, 2 * BLOCK + 3])
def test_a_batch_agrees_with_the_plain_evaluation_tree_by_tree(n_points):
    batch = trees(300)
    points = np.random.default_rng(1).uniform(-2, 2, (n_points, 4))
    values, gradients, status = values_and_gradients(compile_tapes(batch), points)
    compared = 0
    for tree, value, gradient, state in zip(batch, values, gradients, status, strict=True):
        compared += assert_agrees(
            Expression(tree, ("a", "b", "c", "d")), points, value, gradient, state
        )
    assert compared > 0.3 * values.size


def assert_agrees(e, points, value, gradient, state):
    """Equal wherever the plain evaluation is clearly finite and does not depend on the last digits
    of the inputs.
    """
    with np.errstate(all="ignore"):
        plain_value, plain = e(points), e.gradient(points)
        norm = np.linalg.norm(plain, axis=1)
        usable = np.isfinite(plain_value) & np.isfinite(norm) & (norm < 1e100)
        shaken_value, shaken = e(points * (1 + 1e-14)), e.gradient(points * (1 + 1e-14))
        steady = usable & (np.abs(shaken_value - plain_value) < 1e-10 * (1 + np.abs(plain_value)))
        steady &= np.linalg.norm(shaken - plain, axis=1) < 1e-10 * norm
        assert ((state == FINE) | (state == ZERO_GRADIENT))[usable].all()
        assert (np.abs(value - plain_value) <= 1e-8 * (1 + np.abs(plain_value)))[steady].all(), str(
            e
        )
        assert (np.linalg.norm(gradient - plain, axis=1) <= 1e-8 * norm)[steady].all(), str(e)
    return steady.sum()


def status_of(text, point):
    e = cf.parse(text, names=["x", "y"])
    return values_and_gradients(compile_tapes([e.tree]), np.array([point], dtype=float))[2][0, 0]


@pytest.mark.parametrize(
    ("text", "point", "expected"),
    [
        ("x*y", (1, 2), FINE),
        ("x + 1/0", (1, 2), BAD_VALUE),
        ("x + 0*log(-1)", (1, 2), BAD_VALUE),
        ("log(x)", (-1, 0), BAD_VALUE),
        ("sqrt(x)", (0, 0), BAD_GRADIENT),
        ("x**2", (0, 1), ZERO_GRADIENT),
        ("x - x", (1, 1), ZERO_GRADIENT),
        ("3 + 0*y", (1, 1), ZERO_GRADIENT),
        ("exp(-1/x**2)", (0, 1), BAD_GRADIENT),
        ("atan(1/x)", (0, 1), BAD_GRADIENT),
    ],
)
def test_every_point_is_classified(text, point, expected):
    assert status_of(text, point) == expected


def test_a_constant_that_is_not_a_number_is_seen():
    tapes = compile_tapes([cf.parse("x + 7").tree])
    poisoned = tapes.with_numbers(np.where(tapes.numbers == 7, np.nan, tapes.numbers))
    assert values_and_gradients(poisoned, np.ones((3, 1)))[2].tolist() == [[BAD_VALUE] * 3]


@pytest.mark.parametrize("name", [name for name in CODES if name not in ("add", "sub")])
def test_tangents_of_every_operator_agree_with_finite_differences(name, constant_tangents):
    """Derivative of the input gradient by each constant, with constants on both sides of binary
    operators.
    """
    from closedform.expressions.operators import OPERATORS

    inner = "(0.1 + 0.7*x*y)" if name in ("asin", "acos") else "(1.3 + 0.7*x*y)"
    other = "(0.4 + 0.9*y)"
    operator = OPERATORS[name]
    if operator.symbol is None:
        text = f"{name}({inner})" if operator.arity == 1 else f"{name}({inner}, {other})"
    else:
        text = (
            f"{operator.symbol}{inner}*x"
            if operator.arity == 1
            else f"{inner}{operator.symbol}{other}"
        )
    tapes = compile_tapes([cf.parse(text).tree])
    points = np.random.default_rng(5).uniform(0.1, 0.8, (40, 2))
    nodes, tangents = constant_tangents(tapes, points)
    assert len(nodes) >= 2
    for node, tangent in zip(nodes, tangents, strict=True):
        step = np.zeros_like(tapes.numbers)
        step[node] = 1e-6
        above = values_and_gradients(tapes.with_numbers(tapes.numbers + step), points)[1][0]
        below = values_and_gradients(tapes.with_numbers(tapes.numbers - step), points)[1][0]
        np.testing.assert_allclose(tangent, (above - below) / 2e-6, rtol=1e-5, atol=1e-6)


def test_tangents_of_many_trees_in_one_call(constant_tangents):
    texts = ["x", "2.5*x", "sin(x) + y", "x**1.7*y/3.1 + 0.2*x"]
    tapes = compile_tapes([cf.parse(text, names=["x", "y"]).tree for text in texts])
    points = np.random.default_rng(5).uniform(0.1, 0.8, (BLOCK + 5, 2))
    nodes, tangents = constant_tangents(tapes, points)
    assert tapes.numbers[nodes].tolist() == [2.5, 1.7, 3.1, 0.2]
    np.testing.assert_allclose(tangents[0], np.tile([1.0, 0.0], (len(points), 1)))
    x, _y = points.T
    np.testing.assert_allclose(tangents[2][:, 1], -(x**1.7) / 3.1**2, rtol=1e-10)
    np.testing.assert_allclose(tangents[1][:, 1], x**1.7 * np.log(x) / 3.1, rtol=1e-10)


def test_negative_base_with_a_whole_exponent_has_tangents(constant_tangents):
    tapes = compile_tapes([cf.parse("(2.5*x)**5").tree])
    nodes, tangents = constant_tangents(tapes, np.array([[-1.5]]))
    value = tangents[list(tapes.numbers[nodes]).index(2.5)]
    assert value[0, 0] == pytest.approx(25 * (2.5 * -1.5) ** 4)


def test_weighted_inputs_are_read():
    tapes = compile_tapes([cf.parse("x*y").tree])
    doubled = replace(tapes, numbers=np.where(tapes.codes == 1, 2.0, 0.0))
    assert values_and_gradients(doubled, np.array([[3.0, 5.0]]))[0][0, 0] == 60.0


def test_blocks_hold_all_points():
    points = np.arange(2.0 * (BLOCK + 10)).reshape(-1, 2)
    blocks = to_blocks(points)
    assert blocks.shape == (2, 2, BLOCK)
    np.testing.assert_array_equal(blocks.swapaxes(1, 2).reshape(-1, 2)[: len(points)], points)


def test_tapes_pickle():
    tapes = compile_tapes(trees(5))
    again = pickle.loads(pickle.dumps(tapes))
    np.testing.assert_array_equal(again.numbers, tapes.numbers)


def test_machine_code_is_kept_on_disk():
    """A second process must load, not compile."""
    code = (
        "import numpy as np, closedform as cf\n"
        "from closedform.expressions import sweeps\n"
        "from closedform.expressions.kernel import values_and_gradients\n"
        "from closedform.expressions.tape import compile_tapes\n"
        "values_and_gradients(compile_tapes([cf.parse('x*2').tree]), np.ones((3, 1)))\n"
        "from closedform.expressions import kernel\n"
        "hits = sum(kernel._fill.stats.cache_hits.values())\n"
        "assert hits == 1, kernel._fill.stats\n"
    )
    values_and_gradients(compile_tapes(trees(1)), np.ones((3, 4)))
    subprocess.run([sys.executable, "-c", code], check=True)
