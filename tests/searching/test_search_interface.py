import time
import tomllib
from pathlib import Path

import pytest

import closedform as cf
from closedform.basics.keywords import KeywordError
from closedform.errors import BudgetError, EngineError, SpaceError
from closedform.expressions.complexity import Costs
from closedform.searching.budget import Budget, as_budget
from closedform.searching.engine import _OWN, ENTRY_POINT, Engine, engine_names, get_engine
from closedform.searching.front import Candidate, Front
from closedform.searching.space import SearchSpace


def candidate(text, misalignment, size):
    return Candidate(cf.parse(text, names=["x", "y"]), misalignment, size, "terms")


def test_a_front_keeps_what_nothing_simpler_matches():
    front = Front.of(
        [
            candidate("x", 0.5, 1),
            candidate("y", 0.4, 1),
            candidate("x + y", 0.4, 3),
            candidate("x*y", 0.1, 3),
        ]
    )
    assert [str(c.expression) for c in front] == ["y", "x*y"]
    assert front.best is not None
    assert front.best.misalignment == 0.1
    merged = front.merge(Front.of([candidate("x - y", 0.05, 3)]))
    assert [str(c.expression) for c in merged] == ["y", "x - y"]
    assert Front().best is None


def test_rounding_does_not_decide():
    front = Front.of(
        [candidate("0.49999999999999994*x + y", 2e-17, 5), candidate("0.5*x + y", 9e-17, 5)]
    )
    assert [str(c.expression) for c in front] == ["0.5*x + y"]
    assert front.merge(Front.of([candidate("x + y + 3e-17*x*y", 1e-17, 9)])) == front


def test_a_budget_needs_a_limit():
    with pytest.raises(BudgetError, match="needs a limit"):
        Budget()
    with pytest.raises(BudgetError, match="must be positive"):
        Budget(seconds=-1)


@pytest.mark.parametrize(
    "wrong", [10**400, pytest.param(10**5000, id="huge"), float("nan"), "3", 0]
)
def test_a_budget_that_cannot_be_counted_is_refused(wrong):
    for given in ({"seconds": wrong}, {"evaluations": wrong}):
        with pytest.raises(BudgetError, match="must be positive"):
            Budget(**given)
    with pytest.raises(BudgetError):
        as_budget(wrong)


def test_a_clock_says_why_to_stop():
    clock = Budget(evaluations=10, target=0.01).start()
    assert clock.stop_reason(0.5) is None
    assert clock.stop_reason(0.01) == "target"
    clock.evaluations = 10
    assert clock.stop_reason(0.5) == "evaluations"
    assert clock.used == 1.0
    clock = Budget(seconds=0.01).start()
    time.sleep(0.02)
    assert clock.stop_reason() == "time"
    assert clock.remaining().seconds == pytest.approx(1e-3)


def test_budgets_are_shared():
    assert Budget(seconds=10, evaluations=100).share(0.25) == Budget(seconds=2.5, evaluations=25)


def test_engines_by_name():
    assert engine_names()[:3] == ["auto", "terms", "evolution"]
    for name in ("auto", "terms", "evolution"):
        engine = get_engine(name)
        assert engine.name == name
        assert isinstance(engine, Engine)
        assert get_engine(engine) is engine
    with pytest.raises(EngineError, match=r"did you mean 'terms'\? Known: "):
        get_engine("term")
    with pytest.raises(EngineError, match=r"named 'zzz'\. Known: "):
        get_engine("zzz")
    with pytest.raises(EngineError, match="does not take"):
        get_engine("terms", widht=3)


def test_our_entry_points_are_our_engines():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert project["project"]["entry-points"][ENTRY_POINT] == _OWN


def test_misspelt_options_and_operators_get_a_suggestion():
    with pytest.raises(KeywordError, match="did you mean 'operators'"):
        SearchSpace(operatrs=["add"])  # type: ignore[call-arg]
    with pytest.raises(SpaceError, match=r"did you mean 'sin'\?$"):
        SearchSpace(operators=["add", "sinn"])
    with pytest.raises(SpaceError, match=r"named 'zzz'\.$"):
        SearchSpace(operators=["add", "zzz"])


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("x + y*x", True),
        ("sin(x)", True),
        ("sin(cos(x))", False),
        ("sin(y)", False),
        ("exp(x)", False),
        ("x**2 - y", True),
        ("x**7", False),
    ],
)
def test_a_space_says_what_it_holds(text, allowed):
    space = SearchSpace(
        operators=["add", "mul", "sin", "cos", "pow"], inside={"sin": ["x"]}, costs=Costs()
    )
    e = cf.parse(text, names=["x", "y"])
    assert space.allows(e.tree, e.names) is allowed


def test_inputs_in_exponents_are_for_those_who_ask():
    powers = [cf.parse(text, names=["x", "y"]).tree for text in ("2**x", "x**y", "x**(y - y + 2)")]
    assert not any(SearchSpace().allows(tree, ["x", "y"]) for tree in powers)
    assert all(SearchSpace(variable_exponents=True).allows(tree, ["x", "y"]) for tree in powers)
    assert SearchSpace().allows(cf.parse("x**2.5", names=["x", "y"]).tree, ["x", "y"])
