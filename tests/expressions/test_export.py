import sys

import numpy as np
import pytest

import closedform as cf
from closedform.errors import MissingDependencyError
from closedform.expressions.operators import OPERATORS

TEXTS = [
    "v**2/2 + sin(x)",
    "x**1.5*log(v) - pi",
    "tanh(x)/atan(v) + abs(x - v)",
    "cube(x) + inv(v) + tan(x)*cos(v)",
    "3",
    "sin(2)*x",
]
POINTS = np.random.default_rng(0).uniform(0.2, 1.2, (7, 2))


@pytest.mark.parametrize("text", TEXTS)
def test_numpy_function(text):
    e = cf.parse(text, names=["x", "v"])
    np.testing.assert_allclose(e.numpy()(*POINTS.T), e(POINTS))
    np.testing.assert_allclose(e.numpy()(POINTS), e(POINTS))  # what the expression takes
    assert e.numpy()(POINTS[:, :1], POINTS[None, :, 1]).shape == (7, 7)
    with pytest.raises(TypeError, match="takes 2 arrays"):
        e.numpy()(1.0)


@pytest.mark.parametrize("text", TEXTS)
def test_torch_module_with_its_gradient(text):
    torch = pytest.importorskip("torch")
    e = cf.parse(text, names=["x", "v"])
    points = torch.tensor(POINTS, requires_grad=True)
    values = e.torch()(points)
    np.testing.assert_allclose(values.detach().numpy(), e(POINTS))
    assert e.torch()(points.reshape(7, 1, 2)).shape == (7, 1)
    if values.requires_grad:
        values.sum().backward()
        assert points.grad is not None
        np.testing.assert_allclose(points.grad.numpy(), e.gradient(POINTS), rtol=1e-10, atol=1e-12)
    assert str(e) in repr(e.torch())


@pytest.mark.parametrize("text", TEXTS)
def test_jax_function_with_its_gradient(text):
    jax = pytest.importorskip("jax")
    e = cf.parse(text, names=["x", "v"])
    np.testing.assert_allclose(e.jax()(POINTS), e(POINTS), rtol=1e-5)
    gradient = jax.jit(jax.vmap(jax.grad(e.jax())))(POINTS)
    np.testing.assert_allclose(gradient, e.gradient(POINTS), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_exists_in_torch_and_jax(name):
    torch = pytest.importorskip("torch")
    pytest.importorskip("jax")
    operator = OPERATORS[name]
    if operator.symbol is None:
        text = f"{name}(x)" if operator.arity == 1 else f"{name}(x, v)"
    else:
        text = f"x {operator.symbol} v" if operator.arity == 2 else f"{operator.symbol}x"
    e = cf.parse(text, names=["x", "v"])
    np.testing.assert_allclose(e.torch()(torch.tensor(POINTS)).numpy(), e(POINTS))
    np.testing.assert_allclose(e.jax()(POINTS), e(POINTS), rtol=1e-5)


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("v**2/2 + sin(x_1)", r"\frac{v^{2}}{2} + \sin{\left(x_{1} \right)}"),
        ("0.173/(v**2 + x**2)", r"\frac{0.173}{v^{2} + x^{2}}"),
        ("2.123456789*x", r"2.12346 x"),
        ("`a_b%`*2", r"2 \text{a\_b\%}"),
        ("exp(x + 1)", r"e^{x + 1}"),
    ],
)
def test_latex(text, source):
    assert cf.parse(text).latex() == source


def test_notebooks_show_the_formula():
    assert cf.parse("x**2")._repr_latex_() == r"$\displaystyle x^{2}$"


def test_a_missing_package_is_named_with_its_pip_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'closedform\[torch\]'"):
        cf.parse("x").torch()
