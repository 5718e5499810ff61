import math
import subprocess
import sys
from pathlib import Path

import mpmath
import numpy as np
import pytest

from closedform.expressions.evaluate import NUMPY, evaluate, gradient
from closedform.expressions.expression import Expression
from closedform.expressions.operators import OPERATORS
from closedform.expressions.sympy_bridge import to_sympy
from closedform.expressions.tree import apply, constant, variable

REQUIRED = ["add", "sub", "mul", "div", "pow", "neg", "square", "cube", "sqrt", "abs", "inv"]
REQUIRED += ["sin", "cos", "tan", "exp", "log", "tanh", "atan"]
REQUIRED += ["sinh", "cosh", "asin", "acos", "erf", "atan2", "min", "max"]
X, Y = variable(0), variable(1)


def operator_expression(name):
    operands = (X,) if OPERATORS[name].arity == 1 else (X, Y)
    return Expression(apply(name, *operands), ("x", "y")[: len(operands)])


def domain_of(name, points):
    """Where the table says that an operator is defined."""
    words = {word: NUMPY.function(word) for word in ("cos", "floor")}
    return eval(OPERATORS[name].domain, words, dict(zip("ab", points.T, strict=False)))


def test_the_table_is_complete():
    assert set(REQUIRED) <= set(OPERATORS)
    for operator in OPERATORS.values():
        assert len(operator.slope_forms) == len(operator.bend_forms) == operator.arity


@pytest.mark.parametrize("name", OPERATORS)
def test_value_and_derivatives_agree_with_sympy_inside_the_domain(name):
    e = operator_expression(name)
    form, symbols = to_sympy(e), sorted(to_sympy(e).free_symbols, key=str)
    rng = np.random.default_rng(3)
    points = rng.uniform(-3, 3, (40, len(e.names)))
    inside = np.broadcast_to(domain_of(name, points), 40)
    assert inside.sum() >= 10
    for point, value, slopes in zip(
        points[inside], e(points[inside]), e.gradient(points[inside]), strict=True
    ):
        place = dict(zip(symbols, point, strict=True))
        assert value == pytest.approx(float(form.evalf(30, subs=place)), rel=1e-12, abs=1e-300)
        for symbol, slope in zip(symbols, slopes, strict=True):
            assert slope == pytest.approx(
                float(form.diff(symbol).evalf(30, subs=place)), rel=1e-12, abs=1e-300
            )


@pytest.mark.parametrize(
    ("name", "point", "value", "slope"),
    [
        ("sqrt", 0.0, 0.0, math.inf),
        ("log", 0.0, -math.inf, None),
        ("inv", 0.0, math.inf, None),
        ("abs", 0.0, 0.0, 0.0),
        ("square", 0.0, 0.0, 0.0),
        ("cube", 0.0, 0.0, 0.0),
        ("tanh", 30.0, 1.0, 4 * math.exp(-60)),
        ("atan", 1e9, math.pi / 2, 1e-18),
        ("exp", -800.0, 0.0, 0.0),
        ("exp", 800.0, math.inf, None),
        ("tan", 0.0, 0.0, 1.0),
        ("sqrt", -1.0, math.nan, None),
        ("log", -1.0, math.nan, None),
    ],
)
def test_edges_of_the_domain(name, point, value, slope):
    """A gradient of None: the value is not finite, so the gradient is nan, never a plausible
    number.
    """
    tree = apply(name, X)
    points = np.array([[point]])
    assert evaluate(tree, points)[0] == pytest.approx(value, nan_ok=True)
    found = gradient(tree, points)[0, 0]
    if slope is None:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(slope, rel=1e-9)


@pytest.mark.parametrize(
    ("base", "exponent", "value", "slope"),
    [
        (0.0, 0, 1.0, 0.0),
        (0.0, 1, 0.0, 1.0),
        (0.0, 2, 0.0, 0.0),
        (-2.0, 3, -8.0, 12.0),
        (-2.0, -1, -0.5, -0.25),
        (0.0, 0.5, 0.0, math.inf),
        (-1.0, 0.5, math.nan, None),
        (0.0, -1, math.inf, None),
    ],
)
def test_powers_at_the_edges(base, exponent, value, slope):
    tree = apply("pow", X, constant(exponent))
    assert evaluate(tree, np.array([[base]]))[0] == pytest.approx(value, nan_ok=True)
    found = gradient(tree, np.array([[base]]))[0, 0]
    assert np.isnan(found) if slope is None else found == pytest.approx(slope)


def test_division_by_zero_is_visible():
    assert np.isnan(gradient(apply("div", X, Y), np.array([[1.0, 0.0]]))).all()


def test_pyoperon_map_is_one_to_one():
    pyoperon = pytest.importorskip("pyoperon")
    nodes = {o.name: o.operon for o in OPERATORS.values() if o.operon}
    assert len(set(nodes.values())) == len(nodes)
    types = [int(getattr(pyoperon.NodeType, node)) for node in nodes.values()]
    assert len(set(types)) == len(types)


def test_pyoperon_nodes_compute_what_the_table_says():
    """Catches a renamed or re-defined node in another version of pyoperon."""
    operon = pytest.importorskip("pyoperon")
    points = np.random.default_rng(0).uniform(0.2, 1.4, (50, 3)).astype(np.float32)
    data = np.asfortranarray(points)
    dataset = operon.Dataset(data)
    for name, node_name in ((o.name, o.operon) for o in OPERATORS.values() if o.operon):
        kind = getattr(operon.NodeType, node_name)
        leaves = []
        for variable_ in list(dataset.Variables)[: OPERATORS[name].arity]:
            leaf = operon.Node(operon.NodeType.Variable, variable_.Hash)
            leaf.Value = 1.0
            leaves.append(leaf)
        node = operon.Node(kind)
        # The first operand is the node just before its parent.
        tree = operon.Tree([*reversed(leaves), node]).UpdateNodes()
        found = operon.Evaluate(tree, dataset, operon.Range(0, 50))
        columns = [v.Index for v in list(dataset.Variables)[: OPERATORS[name].arity]]
        expected = operator_expression(name)(points[:, columns].astype(float))
        np.testing.assert_allclose(found, expected, rtol=2e-3, err_msg=name)


def test_named_constants_have_enough_digits():
    from closedform.expressions.operators import NAMED_CONSTANTS

    with mpmath.workdps(62):
        assert abs(mpmath.mpf(NAMED_CONSTANTS["pi"]) - mpmath.pi) < mpmath.mpf(10) ** -60


def test_the_documentation_lists_the_table():
    docs = Path(__file__).parents[2] / "docs"
    command = [sys.executable, str(docs / "operator_table.py")]
    table = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert table in (docs / "operators.md").read_text(encoding="utf-8")
