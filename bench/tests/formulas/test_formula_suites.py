import json

import numpy as np
import pytest
from typer.testing import CliRunner

import closedform as cf
from closedform.cli.app import app
from closedform.field.alignment.comparison import field_misalignment
from closedform_bench.formulas import trained
from closedform_bench.formulas.feynman import EQUATIONS
from closedform_bench.formulas.grammar import draw_problems
from closedform_bench.formulas.problem import Problem, exact_field
from closedform_bench.formulas.scoring import is_right
from closedform_bench.formulas.suite import FormulaPlan
from closedform_bench.formulas.trained import CARRIED, carried, network_field, varied_network_field

PRODUCT = Problem("product", "x*y", {"x": (1.0, 2.0), "y": (1.0, 2.0)})
KEYS = {"name", "truth", "found", "status", "right", "seconds"}


def test_the_table_has_99_equations_of_two_or_more_inputs_that_are_finite():
    assert len(EQUATIONS) == 99
    for name, (truth, ranges) in EQUATIONS.items():
        problem = Problem(name, truth, ranges)
        points = problem.points(200, np.random.default_rng(0))
        assert len(ranges) >= 2
        assert np.isfinite(problem.formula()(points)).mean() > 0.95, name


def test_random_problems_are_fair_and_depend_on_the_seed_alone():
    problems = draw_problems(40, 1)
    assert problems == draw_problems(40, 1)
    assert {problem.truth for problem in problems} != {
        problem.truth for problem in draw_problems(40, 2)
    }
    assert {len(problem.ranges) for problem in problems} >= {2, 3, 4, 5}
    for problem in problems:
        assert np.isfinite(
            problem.formula().gradient(problem.points(300, np.random.default_rng(1)))
        ).all()


@pytest.mark.parametrize("degrees", [0.0, 3.0])
def test_noise_is_the_root_mean_square_of_the_angle(degrees):
    problem = Problem("three", "x*y + z", {"x": (1.0, 2.0), "y": (1.0, 9.0), "z": (1.0, 2.0)})
    field = exact_field(problem, np.random.default_rng(0), degrees=degrees)
    angles = np.degrees(
        np.arcsin(np.sqrt(np.clip(field_misalignment(problem.formula(), field), 0, 1)))
    )
    assert np.sqrt((angles**2).mean()) == pytest.approx(degrees, rel=0.1, abs=1e-3)


def test_right_is_the_same_concept_or_nearly_where_noise_allows_it():
    assert is_right(PRODUCT, cf.parse("log(x) + log(y)"), approximately=False)
    assert not is_right(PRODUCT, cf.parse("x*y**1.03"), approximately=False)
    assert is_right(PRODUCT, cf.parse("x*y**1.000000001"), approximately=False)
    assert not is_right(PRODUCT, cf.parse("x*y**1.000001"), approximately=False)
    assert is_right(PRODUCT, cf.parse("x*y**1.01"), approximately=True)
    assert not is_right(PRODUCT, cf.parse("x + y"), approximately=True)
    assert not is_right(PRODUCT, None, approximately=True)


def test_a_network_learns_a_product_and_is_read():
    assert carried(PRODUCT, network_field(PRODUCT, np.random.default_rng(0))) < CARRIED
    field, _ = varied_network_field(PRODUCT, np.random.default_rng(1))
    assert carried(PRODUCT, field) < 10 * CARRIED


def test_networks_vary_by_the_seed_alone(monkeypatch):
    """In activation, and in what they learn of the formula."""
    monkeypatch.setattr(trained, "EPOCHS", 2)
    fields, drawn = zip(
        *(varied_network_field(PRODUCT, np.random.default_rng(seed)) for seed in (0, 0, 1)),
        strict=True,
    )
    np.testing.assert_array_equal(fields[0].directions, fields[1].directions)
    assert drawn[0] == drawn[1] != drawn[2]


def test_forms_are_counted_by_class():
    arguments = ["bench", "--suite", "forms", "--count", "2", "--budget", "0.5", "--json"]
    found = json.loads(CliRunner().invoke(app, arguments).stdout)
    assert [row["kind"] for row in found["problems"]] == ["shared", "outside"]
    assert {kind: counts["of"] for kind, counts in found["kinds"].items()} == {
        "shared": 1,
        "outside": 1,
    }


def test_the_command_prints_one_object():
    arguments = [
        "bench",
        "--suite",
        "feynman",
        "--systems",
        "I.12.1,I.25.13",
        "--budget",
        "2",
        "--processor",
        "--json",
    ]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert (found["suite"], found["track"], found["of"], found["right"]) == (
        "feynman",
        "exact",
        2,
        2,
    )
    assert found["verified"] >= found["verified_right"]
    assert all(row.keys() >= KEYS for row in found["problems"])


def test_unknown_problems_are_named():
    with pytest.raises(cf.ClosedformError, match=r"no problem 'I\.99'"):
        FormulaPlan("feynman", systems=("I.99",)).problems()
