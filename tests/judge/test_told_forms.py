"""What an answer lists beside its formula: each form once, and as people write it."""

import numpy as np
import pytest

import closedform as cf
from closedform.judge.confidence import Judged
from closedform.judge.rules import Contender
from closedform.judge.told_forms import _factored, is_same_form, told_forms

NAMES = ["x", "y", "z"]
POINTS = np.random.default_rng(0).uniform(0.5, 2, (400, 3))


def field_of(text: str) -> cf.GradientField:
    gradients = cf.parse(text, names=NAMES).gradient(POINTS)
    return cf.GradientField.from_arrays(POINTS, gradients, names=NAMES)


FIELD = field_of("x*y/z")


def contenders(*texts: str, engine: str = "terms") -> list[Contender]:
    formulas = [cf.parse(text, names=NAMES) for text in texts]
    return [
        Contender(one, one.complexity(), 0.0, 1.0, 1e-3, errors=(0.01,), engine=engine)
        for one in formulas
    ]


def judged(*weights: float) -> Judged:
    count = len(weights)
    shares = np.array(weights) / sum(weights)
    return Judged(shares, tuple(range(count)), 0.1, np.zeros((count, 2)), np.zeros((2, 2)))


def told(*texts: str, engine: str = "terms", field: cf.GradientField = FIELD) -> list[str]:
    """The answer, and what is listed beside it."""
    weights = [2.0**-place for place in range(len(texts))]
    written, forms = told_forms(contenders(*texts, engine=engine), judged(*weights), field)
    return [str(written[0].expression), *(str(written[one.place].expression) for one in forms)]


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("3306*x/y + z", "3303.6*(x/y) + z", True),
        ("z/exp(0.31*(x/y))", "z*exp(-0.3*x/y)", True),
        ("x**2/y", "x/y**0.5025", True),
        ("x**2*(y + 1)", "x**2*y + x**2", True),
        ("x**2*(y + 1.007)", "x**2*y + x**2", True),
        ("x*z**3", "x**0.337*z", True),
        ("x**2/y", "x/y**0.6", False),
        ("x*y", "x*y + z", False),
        ("x**3 + y", "x + x**3 + y", False),
        ("x*y/(z + 0.3)", "x*y/z", False),
    ],
)
def test_a_form_is_one_however_it_is_spelled(first, second, same):
    one, two = (cf.parse(text, names=NAMES) for text in (first, second))
    assert is_same_form(one, two, FIELD) == same
    assert is_same_form(two, one, FIELD) == same


def test_nothing_is_listed_twice():
    assert told("x*y/z", "x*y**1.002/z", "x + y", "x + 1.01*y", "z") == ["x*y/z", "x + y", "z"]


def test_spellings_share_their_weight():
    written, forms = told_forms(
        contenders("x*y/z", "x + y", "z*x", "1.01*x + y"), judged(0.4, 0.3, 0.2, 0.1), FIELD
    )
    assert [str(written[one.place].expression) for one in forms] == ["x + y", "x*z"]
    assert [one.weight for one in forms] == pytest.approx([0.9 * 0.4, 0.9 * 0.2])


def test_what_is_listed_is_simplified_and_has_no_function_of_something_tiny():
    listed = told("x", "(z + x*z)*(x*z) + z", "y + 50*sin(0.01*z)", "x*z + 9*tanh(y/500)")
    assert listed == ["x", "z + x*z**2*(x + 1)", "2*y + z", "x*z + 0.018*y"]


def _written(text: str) -> str:
    return str(cf.Expression(_factored(cf.parse(text, names=NAMES).tree), tuple(NAMES)))


def test_factors_of_brackets_are_taken_out_with_their_numbers():
    texts = ("x*y*(2*x + 0.7*x*z)", "(x*y - x*z)/(y*(x + x*z))", "x*z*(y + 1)")
    for text in texts:
        tree = cf.parse(text, names=NAMES).tree
        before, after = (
            cf.Expression(one, tuple(NAMES))(POINTS) for one in (tree, _factored(tree))
        )
        np.testing.assert_allclose(before, after, rtol=1e-12)
    assert [_written(text) for text in texts] == [
        "x**2*y*(2 + 0.7*z)",
        "(y - z)/(y*(1 + z))",
        "x*z*(y + 1)",
    ]


def test_the_answer_is_the_right_way_up_and_its_numbers_keep_their_errors():
    written, _ = told_forms(contenders("z/(y*x**1.03)"), judged(1.0), FIELD)
    assert str(written[0].expression) == "x**1.03*y/z"
    assert written[0].errors == (0.01,)


@pytest.mark.parametrize("engine", ["stated", "given", "hypothesis"])
def test_words_of_the_user_stay(engine):
    assert told("z/(x*y)", "-x**2 - y**2", engine=engine) == ["z/(x*y)", "-x**2 - y**2"]


def test_units_stay_possible():
    """The logarithm of a product of units is impossible, its canonical form or not."""
    field = FIELD.with_units({"x": "m", "y": "m", "z": "s"})
    assert told("x*y/z", "x/z", field=field) == ["x*y/z", "x/z"]
