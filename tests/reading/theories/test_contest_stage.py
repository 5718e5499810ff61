import numpy as np
import pytest

import closedform as cf
from closedform.errors import ExpressionError, FieldError
from closedform.reading.theories.theory import TheoryError

NAMES = ["x", "y", "q"]
POINTS = np.random.default_rng(0).uniform(1, 2, (500, 3))


def field_of(text, *, noise=0.0, latents=True):
    """The field of a formula, its values noisy and its directions turned a little."""
    formula, rng = cf.parse(text, names=NAMES), np.random.default_rng(1)
    gradients, values = formula.gradient(POINTS), formula(POINTS)
    gradients = gradients + noise * np.abs(gradients).mean() * rng.normal(size=gradients.shape)
    values = np.tanh((values - values.mean()) / values.std() / 2)
    values = values + noise * rng.normal(size=len(values))
    return cf.GradientField.from_arrays(
        POINTS, gradients, names=NAMES, latents=values if latents else None, tangent="none"
    )


@pytest.fixture(scope="module")
def found():
    """Three theories of which one is true, with a constant that occurs twice in it."""
    return cf.contest_field(
        field_of("x*y**1.3 + 0.7*q**1.3", noise=0.01),
        {"true": "x*y**a + b*q**a", "linear": "x*y + b*q", "quotient": "x*y**a/q"},
        free={"a": (1.0, 0.5, 3.0), "b": 1.0},
        rng=0,
        title="a test",
    )


def test_the_true_theory_wins_with_its_constants(found):
    assert found.winner == "true"
    assert found.theories[0].name == "true"
    a, b = found.constants["true"].values()
    assert a.low < 1.3 < a.high
    assert b.low < 0.7 < b.high
    assert a.high - a.low < 0.2
    assert found.theories[1].chance < 0.01


def test_the_table_has_a_row_for_each_theory_and_the_text_few_lines(found):
    assert list(found.table.index) == [one.name for one in found.theories]
    assert {"degrees", "left", "weight", "where"} <= set(found.table.columns)
    assert found.table["degrees"].is_monotonic_increasing
    assert 1 - found.none_of_them == pytest.approx(found.table["weight"].sum())
    assert len(str(found).splitlines()) <= 9
    assert "follows true" in str(found)


WRONG = {"sum": "x + a*y + b*q", "product": "x*y**a*q**b"}


def test_none_of_them_wins_where_all_are_wrong():
    """Without a search it depends on the points: seeds 1 to 7 name the sum."""
    field = field_of("x*exp(y) + q**2", noise=0.003)
    found = cf.contest_field(field, WRONG, free=["a", "b"], rng=0)
    assert found.winner is None
    assert found.none_of_them > 0.5
    assert found.sentence.startswith("None of them")


def test_a_search_shows_that_all_are_wrong():
    field = field_of("x*exp(y) + q**2", noise=0.003).subset(np.arange(250))
    effort = cf.Budget(evaluations=200)
    space = cf.SearchSpace(operators=["add", "sub", "mul", "exp"])
    found = cf.contest_field(field, WRONG, free=["a", "b"], rng=1, budget=effort, space=space)
    assert found.winner is None
    assert found.none_of_them > 0.9


def test_a_correction_is_named_and_pays():
    field = field_of("x*y + 0.4*q**2", noise=0.003)
    found = cf.contest_field(field, {"product": "x*y", "sum": "x + y"}, rng=0)
    assert found.winner is None
    assert found.correction is not None
    assert found.correction.of == "product"
    assert found.correction.text == "+ 0.4*q**2"
    assert found.correction.removed > 0.9
    assert found.correction.ahead > 0


def test_held_inputs_are_parameters():
    field = field_of("(q*x + y)*exp(3*q)")
    found = cf.contest_field(field, {"held": "q*x + y", "not": "x + y"}, given=["q"], rng=0)
    assert found.winner == "held"
    assert not found.has_values
    assert found.theories[0].median < 1e-5
    # Without holding q neither is right.
    assert cf.contest_field(field, {"held": "q*x + y", "not": "x + y"}, rng=0).winner is None


def test_a_function_is_a_theory_with_constants_of_its_own():
    def bessel_like(inputs, a):
        return np.log(inputs[:, 0]) * inputs[:, 1] ** a

    found = cf.contest_field(
        field_of("log(x)*y**1.5 + 0*q", noise=0.003),
        {"function": bessel_like, "power": "x**a*y"},
        free=["a"],
        rng=0,
    )
    assert found.winner == "function"
    assert found.constants["function"]["a"].value == pytest.approx(1.5, abs=0.02)
    assert found.theories[0].formula == "bessel_like(inputs, a)"


def test_a_torch_function_has_gradients_of_its_own():
    torch = pytest.importorskip("torch")
    found = cf.contest_field(
        field_of("x*y + q"), {"torch": lambda x: x[:, 0] * x[:, 1] + x[:, 2] * torch.ones(1)}, rng=0
    )
    assert found.theories[0].median < 1e-4


def test_bounds_hold_and_are_told():
    found = cf.contest_field(
        field_of("x*y**1.5 + 0*q"), {"one": "x*y**a"}, free={"a": (0.5, 0.0, 1.0)}, rng=0
    )
    (a,) = found.constants["one"].values()
    assert a.value == 1.0
    assert a.is_at_bound
    assert "at its bound" in str(found)


def test_the_same_seed_gives_the_same_outcome():
    field, theories = field_of("x*y**1.3 + q", noise=0.02), {"a": "x*y**c + q", "b": "x*y*q"}
    first, second = (cf.contest_field(field, theories, free=["c"], rng=3) for _ in range(2))
    assert first.summary() == second.summary()


def test_a_network_is_asked_directly():
    found = cf.contest(
        lambda x: np.exp(x[:, 0] * x[:, 1]), POINTS, 0, {"product": "x*y", "sum": "x + y"},
        names=NAMES, rng=0,
    )  # fmt: skip
    assert found.winner == "product"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"theories": {}}, "There is no theory"),
        ({"theories": {"one": "x + z"}}, "neither an input"),
        ({"theories": {"one": "x +"}}, "cannot be read"),
        ({"theories": {"one": 3}}, "is a int"),
        ({"theories": {"one": "x*y"}, "free": ["a"]}, "occurs in no theory"),
        ({"theories": {"one": "x*y"}, "free": ["x"]}, "is an input too"),
        ({"theories": {"one": "x*a"}, "free": {"a": (2, 0, 1)}}, "between its bounds"),
        ({"theories": {"one": "x*a"}, "free": {"a": (1, 2)}}, "start, low, high"),
    ],
)
def test_theories_that_cannot_be_used_are_refused(arguments, message):
    with pytest.raises(TheoryError, match=message):
        cf.contest_field(field_of("x*y*q"), **arguments)


def test_a_theory_without_values_is_refused():
    with pytest.raises(ExpressionError, match="not finite, or does not vary"):
        cf.contest_field(field_of("x*y*q"), {"one": "log(-x)"})


@pytest.mark.parametrize(
    ("given", "message"), [(["p"], "no such input"), (["x", "y"], "1 input is left")]
)
def test_inputs_that_cannot_be_held_are_refused(given, message):
    with pytest.raises(FieldError, match=message):
        cf.contest_field(field_of("x*y*q"), {"one": "x*y"}, given=given)


def test_pictures_and_page_show_what_was_found(found, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    assert found.plot().get_yticklabels()[0].get_text() == "true"
    assert found.plot_where("linear").get_title() == "linear"
    with pytest.raises(cf.ClosedformError, match="There is no theory 'other'"):
        found.plot_where("other")
    page = found.report(tmp_path / "contest.html").read_text()
    for one in found.theories:
        for each in one.constants:
            assert f"({each.low:.4g} to {each.high:.4g})" in page
    assert "a test" in page
    assert "x*y**a + b*q**a" in page
    assert page.count("<svg") == 3
    assert "<script" not in page
    matplotlib.pyplot.close("all")
