import numpy as np
import pytest

from closedform.expressions.parse import parse
from closedform_bench.paper.answer_scoring import best_score, expected, score
from closedform_bench.paper.experiment_catalogue import EXPERIMENTS


@pytest.fixture(scope="module")
def points() -> dict[int, np.ndarray]:
    return {
        number: experiment.split("test", 1000, seed=0)[:, 0]
        for number, experiment in EXPERIMENTS.items()
    }


@pytest.mark.parametrize("number", EXPERIMENTS)
def test_the_answer_itself_is_proved(number: int, points: dict[int, np.ndarray]) -> None:
    assert score(number, expected(number), points[number]).status == "proved"


@pytest.mark.parametrize(
    ("number", "formula", "status"),
    [
        (1, "-0.677 - A11 - A22", "proved"),
        (1, "A11 + 0.98*A22", "approximate"),
        (1, "A11 + 0.85*A22", "different"),  # not within 10%
        (1, "A11 + A22 + 0.01*A12", "different"),  # a term that the truth does not have
        (2, "A11**2 + A12*A21 - 5*A11", "proved"),  # with the trace that all matrices have
        (4, "A12*A21 + A13*A31 + A23*A32", "proved"),  # antisymmetric matrices
        (7, "0.173/(v**2 + x**2)", "proved"),
        (7, "(v**2 + x**2 - 0.5)**2", "different"),  # parallel, but not invertible
        (8, "v**2 + exp(x**2)", "different"),  # what the paper reports
        (8, "v**2 + x**2 + x**4/2", "proved"),
        (9, "-v**2 + sin(x)/(-0.5)", "proved"),
        (9, "v**2 + 2*log(x)", "different"),  # not defined where x is negative
        (
            9,
            "30.8*log(0.984)*v**2 - sin(x) - log(0.984)*exp(0.448*x)",
            "different",
        ),  # log(0.984) is a term, 0.984 is not
        (10, "v**2 + x**2 + exp(x)/sin(0.184)", "approximate"),
        (10, "v**2 + x**2 + 11/2*exp(x)", "approximate"),  # rounded to a plain number
        (10, "v**2 + x**2 + 2*exp(x + 1)", "proved"),
        (11, "x2*v1 - x1*v2", "proved"),
        (12, "t**2 - x**2 - y**2", "different"),
    ],
)
def test_scores(number: int, formula: str, status: str, points: dict[int, np.ndarray]) -> None:
    found = score(number, parse(formula, EXPERIMENTS[number].inputs), points[number])

    assert found.status == status, found.reason
    assert found.is_recovered == (status != "different")


def test_another_invariant_is_different(points: dict[int, np.ndarray]) -> None:
    """What the data hold constant is no concept, and mixed with the truth on the surface it is the
    truth.
    """
    squares = "E1**2 + E2**2 + E3**2 - B1**2 - B2**2 - B3**2"
    product = "E1*B1 + E2*B2 + E3*B3"

    assert score(6, parse(squares, EXPERIMENTS[6].inputs), points[6]).status == "different"
    assert score(
        6, parse(f"{product} + 2*({squares})", EXPERIMENTS[6].inputs), points[6]
    ).is_recovered


def test_no_formula_is_different(points: dict[int, np.ndarray]) -> None:
    assert score(7, None, points[7]).status == "different"
    assert best_score(7, [], points[7])[0] is None


def test_the_best_of_several_counts(points: dict[int, np.ndarray]) -> None:
    formulas = [
        parse(text, ["x", "v"])
        for text in ("x", "x**2 + 0.99*v**2", "x**2 + v**2", "sqrt(x**2 + v**2)")
    ]
    place, found = best_score(7, formulas, points[7])

    assert (place, found.status) == (2, "proved")
