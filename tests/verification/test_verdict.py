import json
from dataclasses import replace

import numpy as np
import pytest

import closedform as cf
from closedform.verification.alignment import Alignment
from closedform.verification.gain import Simpler
from closedform.verification.phi import Phi
from closedform.verification.rivals import Rival
from closedform.verification.stability import Stability
from closedform.verification.verdict import Evidence, count_points, judge, nothing_found, undecidable

CONCEPT = cf.parse("x**2 + v**2")
PHI = Phi(-0.999, 0.99, 0.99, (0.0, 1.0), (1.0, 0.0))
GOOD = Evidence(
    concept=CONCEPT,
    complexity=7,
    alignment=Alignment(1e-3, 8e-4, 1.2e-3, 9e-4, 1e-3, 0.5, 2e-3, (1.0, 3.0, 5.0), 500),
    phi=PHI,
    stability=Stability((CONCEPT, CONCEPT), (True, True), (0.0, 0.0)),
    simpler=(0.3,),
)
MEDIOCRE = Alignment(4e-3, 3e-3, 5e-3, 3e-3, 4e-3, 0.5, 2e-3, (1.0, 3.0, 5.0), 500)


def failed(verdict):
    return [check.name for check in verdict.checks if check.passed is False]


def test_all_is_well():
    verdict = judge(GOOD)
    assert verdict.status == "verified"
    assert failed(verdict) == []
    assert len(verdict.reasons) == 6


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("alignment", {"alignment": replace(GOOD.alignment, high=0.02, trimmed_high=0.011)}),
        ("latents", {"whole": replace(GOOD.alignment, trimmed_high=0.011)}),
        ("phi", {"phi": replace(PHI, rank_correlation=0.97)}),
        ("halves", {"stability": Stability((CONCEPT, cf.parse("x + v")), (True, False), (0.0, 0.2))}),
        ("advantage", {"simpler": (0.004,)}),
        ("gain", {"alignment": MEDIOCRE, "next_simpler": Simpler(cf.parse("x + v"), 0.019)}),
        ("rivals", {"rivals": (Rival(cf.parse("x*v"), 3, 1e-3, -1e-4, (), 40.0, 5.0),)}),
    ],
)
def test_each_failed_check_alone_makes_it_approximate(name, change):
    verdict = judge(replace(GOOD, **change))
    assert verdict.status == "approximate"
    assert failed(verdict) == [name]
    assert verdict.reasons[0] == next(check.text for check in verdict.checks if check.name == name)


def test_an_excellent_fit_may_have_a_near_simpler_formula():
    near = Simpler(cf.parse("x + v"), 2e-3)
    excellent = replace(GOOD.alignment, trimmed_high=9e-4)
    assert judge(replace(GOOD, next_simpler=near, alignment=excellent)).status == "verified"
    assert judge(replace(GOOD, next_simpler=near)).status == "verified"
    assert judge(replace(GOOD, next_simpler=near, alignment=MEDIOCRE)).status == "approximate"
    assert judge(replace(GOOD, next_simpler=replace(near, misalignment=9e-3), alignment=MEDIOCRE)).status == "approximate"
    assert (
        judge(replace(GOOD, next_simpler=replace(near, misalignment=9e-3), alignment=MEDIOCRE, noise=4e-3)).status == "verified"
    )
    assert judge(replace(GOOD, next_simpler=replace(near, misalignment=0.021), alignment=MEDIOCRE)).status == "verified"


def test_a_poor_fit_is_none():
    poor = replace(GOOD.alignment, misalignment=0.05, high=0.06, trimmed_high=0.05)
    assert judge(replace(GOOD, alignment=poor)).status == "none"


def test_what_cannot_be_tested_does_not_count():
    verdict = judge(replace(GOOD, phi=None, stability=None))
    assert verdict.status == "verified"
    assert [check.passed for check in verdict.checks].count(None) == 2


def test_a_more_complex_rival_is_no_obstacle():
    rival = Rival(cf.parse("x**2 + v**2 + x*v"), 15, 9e-4, -1e-4, (), 40.0, 5.0)
    assert judge(replace(GOOD, rivals=(rival,))).status == "verified"


def test_without_simpler_candidates_chance_is_the_measure():
    assert judge(replace(GOOD, simpler=())).status == "verified"


def test_special_verdicts():
    assert undecidable(1, 1).status == "none"
    assert "every function fits" in undecidable(2, 2).reasons[0]
    assert nothing_found("Nothing.").sentence == "Nothing."


def test_nothing_is_verified_from_fewer_than_100_points():
    verdict = judge(replace(GOOD, n_points=99))
    assert verdict.status == "approximate"
    assert failed(verdict) == ["points"]
    assert "fewer than 100 points verify nothing" in verdict.sentence
    assert verdict.reasons[0].startswith("99 different points count, those that the search has seen included, and 500")
    assert verdict.n_points == 99
    enough = judge(replace(GOOD, n_points=100))
    assert (enough.status, enough.n_points) == ("verified", 100)
    assert enough.reasons[0].startswith("On 500 held-out points")
    assert enough.reasons[0].endswith("In all 100 different points count.")


def test_where_only_held_out_points_are_known_they_count():
    assert judge(replace(GOOD, alignment=replace(GOOD.alignment, n_points=99))).status == "approximate"


def test_random_directions_at_three_points_are_not_verified():
    """`verified` was said from one held-out point."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        field = cf.GradientField.from_arrays(rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), tangent="none")
        found = cf.interpret_field(field, engine="terms", budget=cf.Budget(evaluations=300), rng=seed)
        assert found.verdict.status != "verified"
        assert found.verdict.n_points == 3


def test_copies_of_points_and_points_without_weight_do_not_count():
    points = np.random.default_rng(0).uniform(1, 2, (30, 2))
    many = np.tile(points, (10, 1))
    repeated = cf.GradientField.from_arrays(many, many, names=["x", "v"])
    weightless = cf.GradientField.from_arrays(many, many, names=["x", "v"], weights=np.arange(300) < 20)
    assert (count_points(repeated), count_points(weightless)) == (30, 20)
    found = cf.interpret_field(repeated, engine="terms", budget=cf.Budget(evaluations=300), rng=0)
    assert str(found.concept) == "v**2 + x**2"
    assert found.verdict.status == "approximate"


def test_the_number_of_points_is_kept_in_the_file(tmp_path):
    points = np.random.default_rng(0).uniform(1, 2, (200, 2))
    field = cf.GradientField.from_arrays(points, points, names=["x", "v"])
    found = cf.interpret_field(field, engine="terms", budget=cf.Budget(evaluations=300), rng=0)
    found.save(tmp_path / "answer.json")
    assert found.verdict.n_points == 200
    assert cf.load_interpretation(tmp_path / "answer.json").verdict == found.verdict
    # Files of earlier versions do not have it.
    content = json.loads((tmp_path / "answer.json").read_text())
    del content["verdict"]["n_points"]
    (tmp_path / "older.json").write_text(json.dumps(content))
    assert cf.load_interpretation(tmp_path / "older.json").verdict.n_points is None
