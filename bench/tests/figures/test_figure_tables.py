"""What tables say of small results."""

from closedform_bench.figures.part import Measurement
from closedform_bench.figures.script_tables import (
    tabulate_experiments,
    tabulate_new_user,
    tabulate_retrained,
    tabulate_retrainings,
    tabulate_targets,
    tabulate_units,
)
from closedform_bench.figures.suite_tables import (
    tabulate_formulas,
    tabulate_inputs,
    tabulate_invariants,
    tabulate_kinds,
    tabulate_systems,
    tabulate_verdicts,
)


def measured(result, seed=0, command="closedform bench"):
    return Measurement("part", command, seed, "abc", "2026-11-16", result)


def problem(right, status, *, inputs=2, seconds=1.0, **more):
    return {"right": right, "status": status, "inputs": inputs, "seconds": seconds, **more}


def formulas(*problems, track="exact", noise=0.0):
    return {"suite": "random", "track": track, "noise": noise, "problems": list(problems)}


FRESH = [
    measured(formulas(problem(True, "verified"), problem(False, "none", inputs=3)), 5),
    measured(formulas(problem(True, "verified"), problem(False, "verified", seconds=4.0)), 9),
    measured(formulas(problem(True, "approximate", seconds=8.0), noise=1.0), 5),
    measured(
        formulas(
            problem(True, "verified", learned=True),
            problem(False, "verified", inputs=4, learned=False),
            track="network",
        ),
        5,
    ),
]


def test_formulas_are_counted_over_seeds_and_networks_that_learned_alone():
    assert tabulate_formulas(FRESH).splitlines()[2:] == [
        "| exact | 5, 9 | 2 of 4 (1 of 2, 1 of 2) | 50% | 3 | 2 | 9.43 to 99.16% | 1.0 s |",
        "| 1 degree of noise | 5 | 1 of 1 | 100% | 0 | 0 | 0 to 100% | 8.0 s |",
        "| networks that carry the truth | 5 | 1 of 1 | 100% | 1 | 1 | 2.5 to 100% | 1.0 s |",
        "| all networks | 5 | 1 of 2 | 50% | 2 | 1 | 1.26 to 98.74% | 1.0 s |",
    ]


def test_formulas_by_kind():
    rows = (problem(True, "verified", kind="root"), problem(False, "none", kind="nested"))
    assert tabulate_kinds([measured(formulas(*rows))]).splitlines() == [
        "| kind | nested | root |",
        "|---|---|---|",
        "| exact | 0 of 1 | 1 of 1 |",
    ]


def test_formulas_by_inputs():
    assert tabulate_inputs(FRESH).splitlines()[:3] == [
        "| inputs | 2 | 3 | 4 |",
        "|---|---|---|---|",
        "| exact | 2 of 3 | 0 of 1 |  |",
    ]


def test_verdicts_of_all_parts_are_counted_together():
    def case(part, status, right):
        more = {
            "part": part, "in_set": right, "carried": 1e-4, "in_vocabulary": True, "found": "x/2",
            "left": None, "confidence": 0.97, "has_values": part == "networks",
        }  # fmt: skip
        return problem(right, status, **more)

    fields = [case("fields", "verified", True), case("fields", "ambiguous", True)]
    networks = [case("networks", "verified", False), case("networks", "verified", True)]
    table = tabulate_verdicts([measured({"problems": fields}), measured({"problems": networks})])
    assert "| right among verified | 2 of 3 | 9.43 to 99.16% |" in table
    assert "| right among verified, networks alone | 1 of 2 |" in table
    assert "| of these without fitted numbers | 1 of 2 |" in table
    assert "controls" not in table


def test_systems_are_told_by_what_the_command_says():
    row = {
        "name": "sir", "seed": 0, "recovered": 1, "of": 1, "false": 0, "seconds": 3.0,
        "unclaimed": [],
    }  # fmt: skip
    systems = {"suite": "invariants", "systems": [row]}
    measurements = [
        measured(systems, command="closedform bench --track field --noise 3"),
        measured(systems, command="closedform bench --tool 'direct regression' --budget 20"),
        *(
            measured(
                {"suite": "controls", "systems": [{**row, "name": name}]},
                command="closedform bench --suite controls --track network",
            )
            for name in ("lorenz", "van-der-pol")
        ),
    ]
    table = tabulate_invariants(measurements)
    assert "| closedform | field, 3 degrees | 1 of 1 (100%) |" in table
    assert "| direct regression (20 s) | field, 0 degrees | 1 of 1 (100%) |" in table
    assert "| network | 2 | 0 | 0 |" in table
    long = tabulate_systems(measurements)
    assert "| sir | 2 | 1 | 1 | 1 |" in long
    assert "| lorenz | network | 1 | 0 | 0 |" in long


EXPERIMENT = {
    "number": 7, "expected": "v**2/2 + x**2/2", "found": "v**2 + x**2", "equivalence": "proved",
    "verdict": "verified", "misalignment": 4.2e-4, "search_seconds": 4.14, "train_seconds": 30.0,
    "direct": {"found": "x", "equivalence": "different"},
}  # fmt: skip


def test_experiments_stand_beside_what_the_paper_reports():
    result = {"experiments": [EXPERIMENT], "recovered": 1, "of": 1, "direct_recovered": 0}
    table = tabulate_experiments([measured(result)])
    assert (
        "| 7 | `v**2/2 + x**2/2` | `0.173/(v**2 + x**2)` | `v**2 + x**2` | proved | verified | "
        "4.2e-04 | 4.1 | yes | different |\n\nRecovered: 1 of 1; direct regression 0."
    ) in table
    both = [measured(result), measured(result, 1)]
    cell = "`v**2 + x**2`, proved, verified"
    table = tabulate_retrained(both)
    assert f"|  | seed 0 | seed 1 |\n|---|---|---|\n| 7 | {cell} | {cell} |" in table
    assert "| 1 | 1 of 1 | 1 | 1 | 4 | 30 |" in tabulate_retrainings(both)


def test_new_user_units_and_targets():
    read = {"name": "thin", "truth": "x*y", "train": 2.0, "seconds": 4.0}
    rows = [
        {**read, "right": False, "status": "verified"},
        {**read, "right": True, "status": "verified"},
        {"name": "noise", "truth": None, "train": 1.0, "right": True, "status": "refused"},
    ]
    table = tabulate_new_user([measured(rows)])
    assert "| thin | 1 of 2 | verified, verified | 2.0 | 4.0 |" in table
    assert table.endswith("form 1 of 2 are right; wrong and verified: 1.")

    rows = [problem(True, "verified", units=True), problem(False, "verified", units=False)]
    assert tabulate_units([measured(rows)]).splitlines()[2:] == [
        "| without | 0 of 1 | 1 | 1 | 1.0 | 1 |",
        "| with | 1 of 1 | 1 | 0 | 1.0 | 1 |",
    ]

    rows = [{"truth": "x*y", "inputs": 2, "found": 0, "of": 3, "seconds": None}]
    assert tabulate_targets([measured(rows)]).splitlines()[2:] == [
        "| `x*y` | 2 | 0 of 3 |  |",
        "| **all** |  | **0 of 3** |  |",
    ]
