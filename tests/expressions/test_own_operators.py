"""An operator that is defined at run time goes the whole way: text, values, search, canonical form,
export, report.
"""

import pickle
import subprocess
import sys
import time

import numpy as np
import pytest

import closedform as cf
from closedform.canonical.form import canonical_form
from closedform.errors import ExpressionError, SpaceError, StorageError
from closedform.expressions.kernel import FINE, values_and_gradients
from closedform.expressions.operator_entry import FIRST_CODE, MOST_CODES, forget
from closedform.expressions.operators import CODES, OPERATORS
from closedform.expressions.tape import compile_tapes
from closedform.report.mathml import mathml_terms
from closedform.searching.budget import processor_seconds
from closedform.searching.evolution.operon import is_available, usable_operators

POINTS = np.random.default_rng(0).uniform(-2, 2, (400, 2))


@pytest.fixture(autouse=True)
def clean_register():
    known = set(OPERATORS)
    yield
    for name in set(OPERATORS) - known:
        forget(name)


@pytest.fixture
def softplus():
    return cf.Operator("softplus", "log(1 + exp(a))")


@pytest.fixture
def blend():
    """A function of two arrays that NumPy alone knows."""
    slopes = (lambda a, b: 1 / (1 + np.exp(b - a)), lambda a, b: 1 / (1 + np.exp(a - b)))
    return cf.Operator("blend", np.logaddexp, slopes, arity=2, is_symmetric=True)


def field_of(text):
    return cf.GradientField.from_arrays(
        POINTS, cf.parse(text, ["x", "y"]).gradient(POINTS), names=["x", "y"]
    )


@pytest.mark.usefixtures("softplus", "blend")
@pytest.mark.parametrize(
    "text", ["x**2 + softplus(y)", "blend(x, 2*y)*softplus(-x) + 1", "softplus(blend(x, y))"]
)
def test_text_is_read_back_and_every_evaluation_agrees(text):
    e = cf.parse(text, ["x", "y"])
    assert cf.parse(str(e), ["x", "y"]) == e
    values, gradients, status = values_and_gradients(compile_tapes([e.tree]), POINTS)
    np.testing.assert_allclose(values[0], e(POINTS))
    np.testing.assert_allclose(gradients[0], e.gradient(POINTS))
    assert (status == FINE).all()
    for column in range(2):
        step = np.eye(2)[column] * 1e-6
        differences = (e(POINTS + step) - e(POINTS - step)) / 2e-6
        np.testing.assert_allclose(gradients[0][:, column], differences, atol=1e-7)


@pytest.mark.usefixtures("softplus", "blend")
@pytest.mark.parametrize("text", ["softplus(0.7*x + 0.3*y) + x", "blend(0.7*x, 0.4 + y)"])
def test_fits_of_constants_have_their_derivatives(text, constant_tangents):
    """Bends were not given: they are finite differences of the slopes."""
    tapes = compile_tapes([cf.parse(text, ["x", "y"]).tree])
    nodes, tangents = constant_tangents(tapes, POINTS)
    assert len(nodes) == 2
    for node, tangent in zip(nodes, tangents, strict=True):
        step = np.zeros_like(tapes.numbers)
        step[node] = 1e-6
        above = values_and_gradients(tapes.with_numbers(tapes.numbers + step), POINTS)[1][0]
        below = values_and_gradients(tapes.with_numbers(tapes.numbers - step), POINTS)[1][0]
        np.testing.assert_allclose(tangent, (above - below) / 2e-6, atol=1e-6)


def test_an_operator_is_found_in_a_field_within_five_seconds_of_its_definition():
    cf.interpret_field(
        field_of("x**2 + y"), budget=5, rng=0, progress=False
    )  # compiles what every search needs
    start = time.process_time()
    operator = cf.Operator("softplus", "log(1 + exp(a))")
    space = cf.SearchSpace(operators=["add", "mul", operator])
    with processor_seconds():
        answer = cf.interpret_field(
            field_of("x**2 + softplus(y)"), space=space, budget=5, rng=0, progress=False
        )
    assert str(answer.concept) == "x**2 + softplus(y)"
    assert answer.verdict.status == "verified"
    assert time.process_time() - start < 15


def test_terms_find_functions_of_two_inputs(blend):
    space = cf.SearchSpace(operators=["add", "mul", blend])
    result = cf.search(
        field_of("x**2 + blend(x, y)"),
        space=space,
        engine="terms",
        budget=10,
        rng=0,
        progress=False,
    )
    assert "x**2 + blend(x, y)" in [str(candidate.expression) for candidate in result.front]


@pytest.mark.skipif(not is_available(), reason="needs pyoperon")
def test_evolution_does_not_breed_an_operator_but_judges_it_as_a_guess(softplus):
    space = cf.SearchSpace(operators=["add", "mul", softplus], guesses=["x**2 + 1.1*softplus(y)"])
    assert usable_operators(space) == ("add", "sub", "mul")
    budget = cf.Budget(evaluations=3000)
    result = cf.search(
        field_of("x**2 + softplus(y)"),
        space=space,
        engine="evolution",
        budget=budget,
        rng=0,
        progress=False,
    )
    best = min(result.front, key=lambda candidate: candidate.misalignment)
    assert "softplus(y)" in str(best.expression)
    assert best.misalignment < 1e-12


@pytest.mark.usefixtures("softplus", "blend")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3*softplus(x) + 3*y - 1", "y + softplus(x)"),
        ("exp(softplus(x + y))", "x + y"),
        ("blend(y, x)", "blend(x, y)"),
    ],
)
def test_canonical_form(text, expected):
    found = canonical_form(cf.parse(text, ["x", "y"]), POINTS)
    assert str(getattr(found, "expression", found)) == expected


def test_a_formula_serves_every_library(softplus):
    torch, sympy = pytest.importorskip("torch"), pytest.importorskip("sympy")
    pytest.importorskip("jax")
    e = cf.parse("softplus(x)*y", ["x", "y"])
    np.testing.assert_allclose(e.torch()(torch.tensor(POINTS)).numpy(), e(POINTS))
    np.testing.assert_allclose(e.jax()(POINTS), e(POINTS), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(e.numpy()(*POINTS.T), e(POINTS))
    x, y = sympy.symbols("x y", real=True)
    assert sympy.simplify(e.sympy() - y * sympy.log(1 + sympy.exp(x))) == 0
    assert e.latex() == r"y \operatorname{softplus}{\left(x \right)}"
    assert "<mi>softplus</mi>" in "".join(mathml_terms(e))
    assert cf.same_concept("softplus(x) + y", "log(1 + exp(x)) + y").status == "proved"
    assert cf.same_concept("softplus(x) + y", "2*log(1 + exp(x)) + y").status == "different"


def test_what_a_function_of_arrays_cannot_do_is_said(blend):
    e = cf.parse("blend(x, y)")
    assert e.latex() == r"\operatorname{blend}{\left(x, y \right)}"
    assert str(e.sympy()) == "blend(x, y)"
    assert "<mi>blend</mi>" in "".join(mathml_terms(e))
    torch = pytest.importorskip("torch")
    with pytest.raises(ExpressionError, match=r"'blend' has no form for torch.*pass torch="):
        e.torch()(torch.tensor(POINTS))
    with pytest.raises(ExpressionError, match=r"'blend' has no form for mpmath"):
        cf.same_concept("blend(x, y)", "x + y")


def test_a_function_of_arrays_with_its_other_forms():
    mpmath = pytest.importorskip("mpmath")
    cf.Operator(
        "gauss",
        lambda a: np.exp(-a * a),
        lambda a: -2 * a * np.exp(-a * a),
        mpmath=lambda a: mpmath.exp(-a * a),
    )
    assert cf.same_concept("gauss(x) + y", "exp(-x**2) + y").status == "numerical"
    assert cf.same_concept("gauss(x) + y", "exp(-2*x**2) + y").status == "different"


def test_answers_are_saved_and_reported(softplus, tmp_path):
    space = cf.SearchSpace(operators=["add", "mul", softplus])
    answer = cf.interpret_field(
        field_of("x**2 + softplus(y)"), space=space, engine="terms", budget=5, rng=0, progress=False
    )
    answer.save(tmp_path / "answer.json")
    answer.report(tmp_path / "answer.html")
    assert "softplus" in (tmp_path / "answer.html").read_text(encoding="utf-8")
    assert cf.load_interpretation(tmp_path / "answer.json").concept == answer.concept
    forget("softplus")
    with pytest.raises(
        StorageError, match=r"holds the operator 'softplus', which is not defined here; define it"
    ):
        cf.load_interpretation(tmp_path / "answer.json")


def test_a_space_takes_its_operators_to_other_processes(tmp_path):
    cf.Operator("softplus", "log(1 + exp(a))")
    space = cf.SearchSpace(operators=["add", "softplus"])
    (tmp_path / "space.pickle").write_bytes(pickle.dumps(space))
    code = (
        "import pickle, sys, closedform as cf\n"
        "space = pickle.load(open(sys.argv[1], 'rb'))\n"
        "print(space.operator_names, cf.parse('softplus(x)')([[0.0]]))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "space.pickle"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == "('add', 'softplus') [0.69314718]"
    assert pickle.loads(pickle.dumps(space)).operators[1] is OPERATORS["softplus"]


def test_a_second_definition_replaces_the_first(softplus):
    e = cf.parse("softplus(x)")
    code = CODES["softplus"]
    cf.Operator("softplus", "log(1 + exp(2*a))/2")
    assert CODES["softplus"] == code
    assert e([[1.0]])[0] == pytest.approx(np.log1p(np.exp(2.0)) / 2)
    values = values_and_gradients(compile_tapes([e.tree]), np.ones((3, 1)))[0]
    np.testing.assert_allclose(values[0], e([[1.0]])[0])


def test_a_function_that_fails_on_some_points_is_undefined_there(caplog):
    def picky(a):
        if (a > 5).any():
            raise ValueError("too large")
        return a * a

    cf.Operator("picky", picky, lambda a: 2 * a)
    tapes = compile_tapes([cf.parse("picky(x)").tree])
    assert values_and_gradients(tapes, np.array([[2.0]]))[0][0, 0] == 4.0
    values, _, status = values_and_gradients(tapes, np.array([[9.0]]))
    assert np.isnan(values).all()
    assert (status != FINE).all()
    assert "'picky' failed" in caplog.text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sin", "cos(a)"), "'sin' has a meaning already"),
        (("ln", "cos(a)"), "'ln' has a meaning already"),
        (("pi", "a"), "'pi' has a meaning already"),
        (("my op", "a"), "cannot be named 'my op'"),
        (("f", "sin(q)"), "unknown word 'q'"),
        (("f", "__import__('os')"), "is not part of a formula"),
        (("f", "a.real"), "is not part of a formula"),
        (("f", "a[0]"), "is not part of a formula"),
        (("f", np.sin), "without derivatives: pass slopes"),
        (("f", np.sin, np.sin), "but its value changes by"),
        (("f", "sin(a)", "sin(a)"), "but its value changes by"),
        (("f", lambda a: a.nothing, np.cos), "cannot be evaluated on NumPy arrays"),
        (("f", np.sin, (np.cos, np.cos)), r"has 1 operand\(s\) and 2 slopes"),
    ],
)
def test_a_faulty_definition_is_refused_and_leaves_nothing(arguments, message):
    with pytest.raises(ExpressionError, match=message):
        cf.Operator(*arguments)
    assert "f" not in OPERATORS


def test_there_is_room_for_some_operators_and_no_more():
    for number in range(FIRST_CODE + len(OPERATORS), MOST_CODES):
        cf.Operator(f"f{number}", "a + 1", "1.0")
    with pytest.raises(ExpressionError, match="one operator too many"):
        cf.Operator("f", "a + 1", "1.0")


def test_a_name_that_is_not_defined_is_refused():
    with pytest.raises(SpaceError, match="no operator named 'softplus'"):
        cf.SearchSpace(operators=["add", "softplus"])
    with pytest.raises(
        ExpressionError, match=r"no function 'softplus'.*closedform\.Operator has defined it"
    ):
        cf.parse("softplus(x)")


def test_a_kink_at_few_points_is_allowed_and_a_wrong_slope_is_not():
    def slope(a, above):
        return np.where(np.abs(a) > above, 0.0, 2 * a)

    cf.Operator("mostly", lambda a: a * a, lambda a: slope(a, 1.9))  # wrong at one in twenty
    with pytest.raises(ExpressionError, match="but its value changes by"):
        cf.Operator("partly", lambda a: a * a, lambda a: slope(a, 1.5))


def test_functions_are_tried_around_zero_and_only_then_elsewhere():
    asked = []

    def value(a):
        asked.append((a.min(), a.max()))
        return np.sqrt(a - 2)

    with pytest.raises(ExpressionError, match="but its value changes by"):
        cf.Operator("far", value, lambda a: 3 / np.sqrt(a - 2))
    (least, most), (second_least, second_most) = asked[:2]
    assert -2 <= least < -1.5 < 1.5 < most <= 2
    assert second_least >= 0.5
    assert second_most > 2
