import numpy as np
import pytest

import closedform as cf
from closedform_bench.commands.verdict_table import VerdictTable
from closedform_bench.verdicts.case import PARTS
from closedform_bench.verdicts.drawing import draw_case
from closedform_bench.verdicts.outside_functions import SPECIAL, OutsideFunction
from closedform_bench.verdicts.suite import VerdictPlan, verdict_summary


def row(part, status, *, right=None, in_set=None, carried=None, found="x"):
    return {
        "name": "one", "part": part, "kind": "exact", "right": right, "in_set": in_set,
        "carried": carried, "left": None, "in_vocabulary": True, "has_values": part == "networks",
        "confidence": 0.99 if status == "verified" else 0.5,
        "status": status, "seconds": 1.0, "found": found, "truth": None,
    }  # fmt: skip


@pytest.mark.parametrize("joint", [0, 1, 2])
@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions_have_their_gradients(name, joint):
    function = OutsideFunction(SPECIAL[name], joint, 0.37)
    points = function.points(50, np.random.default_rng(0))
    _, gradients = function.values_and_gradients(points)
    for column in range(2):
        step = np.zeros(2)
        step[column] = 1e-6
        ends = [function.values_and_gradients(points + sign * step)[0] for sign in (1, -1)]
        np.testing.assert_allclose((ends[0] - ends[1]) / 2e-6, gradients[:, column], atol=1e-6)


@pytest.mark.parametrize("number", range(5))
def test_fields_follow_from_seed_and_number_alone(number):
    first, second = (draw_case("fields", 3, number) for _ in range(2))
    assert first.problem == second.problem
    assert first.field.digest() == second.field.digest()
    assert draw_case("fields", 4, number).field.digest() != first.field.digest()


def test_there_are_at_least_ten_kinds_of_controls():
    pytest.importorskip("torch")
    from closedform_bench.verdicts.controls import KINDS

    assert len(KINDS) >= 10
    untrained = draw_case("controls", 1, list(KINDS).index("untrained"))
    sphere = draw_case("controls", 5, list(KINDS).index("sphere"))
    assert untrained.problem is None
    assert untrained.field.slopes is not None
    assert (untrained.field.slopes > 0).all()
    assert sphere.field.tangent.rank == 2


def test_the_summary_counts_what_was_promised():
    rows = [
        row("fields", "verified", right=True, in_set=True, carried=0.0),
        row("networks", "verified", right=False, in_set=False, carried=1e-3, found="x + 0.37*y"),
        row("networks", "verified", right=True, in_set=True, carried=0.1, found="x + y/2"),
        row("networks", "ambiguous", right=False, in_set=True, carried=1e-3),
        row("networks", "none", right=False, in_set=False, carried=0.1),
        row("controls", "approximate"),
    ]
    plan = VerdictPlan(seed=1, count=5)
    result = verdict_summary(plan, rows)
    counts = {
        key: (value["count"], value["of"])
        for key, value in result.items()
        if isinstance(value, dict) and "count" in value
    }
    assert counts == {
        "right_among_verified": (2, 3),
        "right_among_verified_networks": (1, 2),
        "right_among_verified_plain": (1, 1),
        "right_among_verified_fitted": (0, 1),
        "carried_verified_right": (0, 2),
        "carried_in_set": (1, 2),
        "ambiguous_in_set": (1, 1),
        "controls_verified": (0, 1),
        "sure_right": (2, 3),
    }
    assert result["calibration_with_values"]["error"] >= 0
    assert result["statuses"]["networks"]["ambiguous"] == 1
    assert "controls verified: 0 of 1" in VerdictTable(plan).last_line(result)


def test_parts_that_do_not_exist_are_refused():
    with pytest.raises(cf.ClosedformError, match="no part 'nets'"):
        VerdictPlan(parts=("nets",))  # type: ignore[arg-type]
    assert [task.content["system"] for task in VerdictPlan(seed=2, start=3, count=1).tasks()] == [
        f"{part}-2-3" for part in PARTS
    ]
