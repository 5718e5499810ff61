"""Units through the whole package: never silently ignored."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import closedform as cf
from closedform.cli.app import app
from closedform.errors import UnitsError

UNITS = {"m": "kg", "v": "m/s", "h": "m"}


def field(units=None) -> cf.GradientField:
    points = np.random.default_rng(0).uniform(1, 2, (400, 3))
    m, v, h = points.T
    slopes = np.stack([v**2 / h, 2 * m * v / h, -m * v**2 / h**2], axis=1)
    return cf.GradientField.from_arrays(
        points, slopes, latents=m * v**2 / h, names=["m", "v", "h"], units=units
    )


def test_a_field_keeps_its_units_in_subsets_and_files(tmp_path) -> None:
    units = cf.Units(UNITS, constants={"g": "9.81 m/s**2"}, pure_numbers=True)
    one = field(units)
    one.save(tmp_path / "field.npz")
    assert cf.load_field(tmp_path / "field.npz").units == units
    assert one.subset([0, 1, 2]).units == units


def test_a_wrong_unit_is_told_before_the_network_is_looked_at() -> None:
    def network(points):
        raise AssertionError("The network was looked at.")

    with pytest.raises(UnitsError, match="did you mean 'm'"):
        cf.interpret(network, np.ones((9, 2)), 0, names=["m", "v"], units={"mm": "kg"})


def test_an_impossible_guess_is_told_before_the_search() -> None:
    space = cf.SearchSpace(guesses=["m + v"])
    with pytest.raises(UnitsError, match="make the formula 'm \\+ v' impossible"):
        cf.search(field(UNITS), space=space, budget=cf.Budget(evaluations=10))


def test_an_impossible_hypothesis_is_told_before_the_search(monkeypatch) -> None:
    def search(*arguments, **keywords):
        raise AssertionError("The search began.")

    monkeypatch.setattr("closedform.reading.one_field.search", search)
    with pytest.raises(UnitsError, match="make the hypothesis 'm \\+ v' impossible"):
        cf.interpret_field(field(UNITS), hypothesis="m + v")
    # A fitted constant may carry the unit that is missing, and then the search does begin.
    for possible in ("m + 0.37*v", "m*v**2/h"):
        with pytest.raises(AssertionError, match="The search began"):
            cf.interpret_field(field(UNITS), hypothesis=possible)


def test_the_answer_tells_units_and_keeps_them(tmp_path) -> None:
    found = cf.interpret_field(
        field(), units=UNITS, engine="terms", budget=cf.Budget(evaluations=2000), rng=0
    )
    assert found.unit_notes
    assert "unit" in str(found)
    found.save(tmp_path / "answer.json")
    assert cf.load_interpretation(tmp_path / "answer.json").units == found.units


@pytest.mark.parametrize("engine", ["terms", "structure"])
def test_a_strict_search_returns_nothing_impossible(engine) -> None:
    units = cf.Units(UNITS, pure_numbers=True)
    result = cf.search(field(units), engine=engine, budget=cf.Budget(evaluations=1500), rng=0)
    names = ["m", "v", "h"]
    from closedform.expressions.legality import Legality

    legality = Legality(units, may_carry=False)
    assert len(result.front)
    assert all(legality.allows(one.expression.tree, names) for one in result.front)
    free = cf.search(field(), engine=engine, budget=cf.Budget(evaluations=1500), rng=0)
    # Without units the same search does return some, so the filter is at work.
    assert engine == "structure" or not all(
        legality.allows(one.expression.tree, names) for one in free.front
    )


def test_a_law_of_pure_numbers_is_not_verified_with_other_units() -> None:
    units = cf.Units({"m": "kg", "v": "m/s", "h": "m"}, pure_numbers=True)
    found = cf.verify("m + v", field(units), rivals=None, rng=0)
    check = next(check for check in found.verdict.checks if check.name == "units")
    assert check.passed is False


def test_the_command_line_takes_units(tmp_path) -> None:
    field().save(tmp_path / "field.npz")
    call = ["interpret", str(tmp_path / "field.npz"), "--engine", "terms", "--budget", "1"]
    wrong = CliRunner().invoke(app, [*call, "--units", "mass=kg"])
    assert wrong.exit_code != 0
    right = CliRunner().invoke(app, [*call, "--units", "m=kg,v=m/s,h=m", "--json"])
    assert json.loads(right.stdout)["units"] == "m=kg, v=m/s, h=m"


def test_the_estimator_takes_units() -> None:
    one = field()
    gradients = np.einsum("ndk->nd", one.directions)
    budget = cf.Budget(evaluations=300)
    wrong = cf.ConceptSearch(engine="terms", budget=budget, units={"mass": "kg"})
    with pytest.raises(UnitsError, match="mass"):
        wrong.fit(one.points, gradients)
    units = {"x0": "kg", "x1": "m/s", "x2": "m"}
    right = cf.ConceptSearch(engine="terms", budget=budget, random_state=0, units=units)
    assert right.fit(one.points, gradients).interpretation_.unit_notes
