import numpy as np
import pytest

import closedform as cf
from closedform.expressions.parse import parse
from closedform.field.alignment.comparison import field_misalignment
from closedform.searching.space import SearchSpace
from closedform.searching.values.curve_sums import Part, QuantitySet, curve_sums, sets_of
from closedform.searching.values.curves import _collected, splines, values_left

NAMES = ["x", "y", "z"]


def field_of(text: str, degrees: float = 10.0) -> cf.GradientField:
    """Values of a concept to 0.1% of their spread, saturating, and directions that are far off."""
    rng = np.random.default_rng(3)
    truth = parse(text, names=NAMES)
    points = rng.uniform(0.8, 2.5, (700, 3))
    values = truth(points)
    latent = np.tanh((values - values.mean()) / values.std())
    gradients = truth.gradient(points)
    gradients /= np.linalg.norm(gradients, axis=1, keepdims=True)
    gradients += np.radians(degrees) * rng.normal(size=gradients.shape)
    gradients *= (1 - latent**2)[:, None]
    latent += 1e-3 * rng.normal(size=len(latent))
    return cf.GradientField.from_arrays(
        points, gradients, latents=latent, names=NAMES, tangent="none"
    )


def best_of(text: str) -> cf.Expression:
    """The formula that describes the values best."""
    field = field_of(text)
    trees = [tree for some in curve_sums(field, 12, SearchSpace()) for tree in some]
    left = values_left(trees, field)
    shortest = min(range(len(trees)), key=lambda k: 10 * np.log(left[k]) + 0.7 * trees[k].size)
    return cf.Expression(trees[shortest], tuple(NAMES))


@pytest.mark.parametrize(
    "text",
    [
        "sqrt(x)*(1 - exp(-0.7*z))",
        "x*z*(1 - exp(-y**2/x))",
        "x*tanh(0.5*(y**2 + z))",
        "sqrt(y)*log(x**2/z)",
    ],
    ids=["constant inside", "product of two", "sum of two", "sign that changes"],
)
def test_curves_are_read_where_directions_say_little(text: str) -> None:
    assert field_misalignment(best_of(text), field_of(text, degrees=0.0)).mean() < 1e-3


def test_what_does_not_matter_has_no_curve() -> None:
    sets = sets_of(Part.of(field_of("x**3 + z"), 12, SearchSpace()))
    best = min(sets, key=QuantitySet.length)
    assert {str(cf.Expression(tree, tuple(NAMES))) for tree in best.trees} == {"x", "z"}


def test_values_tell_a_formula_whatever_phi_is() -> None:
    field = field_of("x**3 + z")
    texts = ("x**3 + z", "exp(0.2*(x**3 + z))", "x**2.7 + z", "x + y")
    true, also, near, far = values_left([parse(text, names=NAMES).tree for text in texts], field)
    assert true == pytest.approx(also, rel=0.3)
    assert true < 1e-4 < 0.3 < far
    assert near > 2 * true


def test_knots_that_rounding_could_join_are_one() -> None:
    values = np.sort(np.r_[np.full(300, 1e-310), np.linspace(1e-310, 3e-310, 300), [1.0, 2.0]])
    columns = splines(values, 10, np.full(len(values), 1 / len(values)))
    assert np.isfinite(columns).all()


def test_a_product_of_quantities_has_each_input_once() -> None:
    tree = parse("(x*y**2)**0.5*(x/y)**2*exp(x/y)", names=NAMES).tree
    assert str(cf.Expression(_collected(tree), tuple(NAMES))) == "x**2.5*exp(x/y)/y"
