"""The mathematics of the speed page, its parts in their short form, and the page from stored
results.
"""

import json
from collections import Counter

import numpy as np
import pytest

from closedform.expressions.parse import parse
from closedform.expressions.tape import compile_tapes
from closedform_bench.speed import growth_part, others_part, page
from closedform_bench.speed.growth_fit import fit_growth
from closedform_bench.speed.icicle import boxes
from closedform_bench.speed.kernel_part import KINDS
from closedform_bench.speed.linear_algebra import count_problems, recorded, repeat
from closedform_bench.speed.lone_tree import compile_alone
from closedform_bench.speed.other_tools import is_right
from closedform_bench.speed.part import Effort, Part, Record, read_record, run_parts, write_record
from closedform_bench.speed.rates import FUNCTIONS, Rates
from closedform_bench.speed.stacks import StackSampler, innermost, tree_of
from closedform_bench.speed.tape_work import tape_work

SURROUNDINGS = {"date": "2030-01-02", "processor": "Some Processor", "closedform": "0.1"}


def test_the_exponent_of_a_power_law_is_found_and_its_interval_covers_it():
    rng = np.random.default_rng(0)
    sizes = np.array([10.0, 30, 100, 300, 1000])
    covered = []
    for _ in range(400):
        growth = fit_growth(sizes.tolist(), (sizes**1.5 * np.exp(rng.normal(0, 0.2, 5))).tolist())
        covered.append(growth.low <= 1.5 <= growth.high)
    assert 0.92 < np.mean(covered) < 0.98


@pytest.mark.parametrize(("sizes", "seconds"), [([1, 2], [1, 2]), ([1, 2, 3], [1, 0, 1])])
def test_too_little_for_a_power_law_is_refused(sizes, seconds):
    with pytest.raises(ValueError, match="three positive"):
        fit_growth(sizes, seconds)


def test_a_tree_compiled_alone_is_judged_as_the_kernel_judges_it():
    from closedform.field.alignment.comparison import prepare

    rng = np.random.default_rng(0)
    points, directions = rng.uniform(1, 2, (2, 300, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    tape = compile_tapes([parse("sqrt(x)*sin(y)/z + 0.3*exp(x - z)*x**2").tree])
    found = compile_alone(tape, 3)(
        points.T.copy(), directions.T.copy(), np.full(300, 1 / 300), np.empty(300)
    )
    expected = prepare(points, directions[:, :, None]).misalignments(tape)[0][0]
    assert found == pytest.approx(expected, rel=1e-12)


def test_every_function_of_the_random_trees_has_a_rate():
    rates = Rates(1e10, 1e11, 1e10, dict.fromkeys(FUNCTIONS, 1e-9))
    tree = parse("sqrt(x)*sin(y)/x + exp(y) - x**2").tree
    used = {token for token in tree.tokens if isinstance(token, str)}
    assert used <= {*KINDS["all kinds"], "pow"}
    work = tape_work(compile_tapes([tree]), 2)
    limits = work.limits(rates)
    assert work.functions["sin"] == work.functions["cos"] == work.functions["exp"] == 1
    assert limits["operations"] == pytest.approx(
        work.operations / 1e10 + 1e-9 * sum(work.functions.values())
    )
    assert limits["memory"] == pytest.approx(5 * 8 / 1e10)


def test_calls_of_lapack_are_recorded_and_can_be_repeated():
    with recorded() as calls:
        np.linalg.eigh(np.tile(np.eye(3), (7, 1, 1)))
        np.linalg.qr(np.ones((5, 2)))
    assert count_problems(calls) == (8, 5)
    repeat(calls)
    assert len(calls) == 2


def test_the_sampler_sees_our_functions_and_what_they_call():
    with StackSampler() as sampler:
        for _ in range(60):
            parse("sin(x)*exp(y) + " * 30 + "x")
    tree = tree_of(sampler.stacks, 0.0)
    assert {child["name"] for child in tree["children"]} >= {"expressions/parse: parse"}
    assert sum(share for _, share in innermost(sampler.stacks)) == pytest.approx(1)


def test_boxes_of_the_picture_lie_inside_those_above_them():
    stacks = Counter({("a", "b", "c"): 2.0, ("a", "b"): 1.0, ("a", "d"): 1.0, ("e",): 4.0})
    found = {name: (left, depth, width) for left, depth, width, name in boxes(tree_of(stacks, 0))}
    assert found["a"] == (0.0, 0, 0.5) or found["a"] == (0.5, 0, 0.5)
    assert found["b"][0] == found["a"][0]
    assert found["d"] == (found["b"][0] + found["b"][2], 1, 0.125)
    assert found["c"] == (found["b"][0], 2, 0.25)


def test_a_function_of_the_truth_is_right_and_another_is_not():
    fresh = np.random.default_rng(0).uniform(1, 2, (50, 2))
    gradients = fresh[:, ::-1]
    assert is_right(lambda x: np.exp(x[:, 0] * x[:, 1]), fresh, gradients)
    assert not is_right(lambda x: x[:, 0] * x[:, 1] + 0.1 * x[:, 0], fresh, gradients)


def counting(calls):
    def measure(effort):
        calls.append(effort.is_short)
        return {"calls": len(calls)}

    return Part("one", "One", measure, lambda numbers, folder: f"{numbers['calls']} calls\n")


def test_what_is_done_is_not_run_again_and_a_short_run_is_not_taken_for_a_full_one(tmp_path):
    calls: list[bool] = []
    part, told = counting(calls), []
    for is_short in (True, True, False, False, True):
        run_parts([part], Effort(is_short=is_short), tmp_path, told.append)
    assert calls == [True, False]
    assert told.count("one: done before") == 3
    record = read_record(tmp_path, "one")
    assert record is not None
    assert (record.is_short, record.numbers) == (False, {"calls": 2})
    text = page.write_page(tmp_path, tmp_path, [part])
    assert "## One\n\n2 calls\n" in text
    assert "short run" not in text


NUMBERS = {
    "kernel": {
        "rates": {
            "memory": 1e10, "cache": 6e10, "operations": 4e10, "functions": {"sin": 2e-8},
        },
        "rows": {
            "polynomials": {
                "kernel": 100.0, "limits": {"operations": 10.0, "cache": 80.0, "memory": 20.0},
                "share": 0.8, "against_alone": 6.0, "compiling": 0.5, "judged_meanwhile": 5000.0,
                "difference": 0.0,
            }
        },
    },
    "evolution": {
        "rows": [{"field": "determinant", "fitted": 0.05, "rate": 1000.0, "kernel": 2130.0}]
    },
    "terms": {
        "rows": [
            {
                "field": "pendulum", "search": 0.1, "lapack": 0.004, "problems": 334,
                "largest": 29, "evaluations": 66,
            }
        ],
        "innermost": [["alignment/eigen: _smallest", 0.22]],
    },
    "reading": {
        "rows": [
            {
                "name": "pendulum", "whole": 1.0, "field": 0.1, "search": 0.4, "select": 0.1,
                "verify": 0.4,
            }
        ],
        "tree": {"name": "all", "seconds": 1.0, "children": []},
        "innermost": [["expressions/parse: parse (re)", 0.5]],
    },
    "others": {
        "rows": {
            "determinant": {
                "closedform": {"search": 0.2, "seconds": 0.7, "right": True},
                "pyoperon, plain": {"seconds": 3.0, "right": False},
            }
        },
        "tools": {}, "given_up": 20.0,
    },
    "growth": {
        "rows": [
            {"kind": "points", "size": size, "field": 1e-3 * size, "reading": 1.0, "memory": 200.0}
            for size in (10, 100, 1000)
        ]
    },
}  # fmt: skip


def test_the_page_is_written_from_what_is_stored(tmp_path):
    for name, numbers in NUMBERS.items():
        write_record(tmp_path / "runs", name, Record(False, 1.0, SURROUNDINGS, numbers))
    outer = page.write_page(tmp_path / "runs", tmp_path)
    inner = page.write_page(tmp_path / "runs", tmp_path, page.INNER, page.INNER_HEAD)
    text = outer + inner
    assert [part.name for part in page.PARTS] == list(NUMBERS)
    assert all(f"\n## {part.title}\n" in outer for part in page.OUTER)
    assert all(f"\n## {part.title}\n" in inner for part in page.INNER)
    assert {part.name for part in (*page.OUTER, *page.INNER)} == set(NUMBERS)
    assert "| points (4 inputs) | 1,000 | 1.00 | 1.00 |  |  | 200 |" in inner
    assert "Measured on 2030-01-02 on one core of Some Processor, with closedform 0.1.\n" in text
    assert "| polynomials | 100 | 10 | 80 | 20 | 0.80 | 6.00 | 5,000 |" in text
    assert "| determinant | 5% | 1,000 | 2,130 | 2.13 |" in text
    assert "| pendulum | 66 | 100 | 334 | 29 | 4 | 25.0 |" in text
    assert "| pendulum | 1.00 | 0.10 | 0.40 | 0.10 | 0.40 | 1.00 |" in text
    assert "| `a*d - b*c` | 0.20 | 0.70 | no (3.00) |" in text
    assert "left out" in text
    row = "| points (4 inputs) | field | 10 to 1,000 | 0.01 to 1.00 | 1.00 (1.00 to 1.00) | 1.00 |"
    assert row in text
    assert (tmp_path / "images" / "speed_icicle.svg").stat().st_size > 0


def test_parts_of_other_dates_are_told_apart(tmp_path):
    for name, date in (("terms", "2030-01-02"), ("growth", "2030-01-03")):
        facts = {**SURROUNDINGS, "date": date}
        write_record(tmp_path, name, Record(True, 1.0, facts, NUMBERS[name]))
    text = page.write_page(tmp_path, tmp_path, page.PARTS)
    assert "- terms: 2030-01-02" in text
    assert "- growth: 2030-01-03" in text
    assert text.count("A short run") == 2


@pytest.mark.parametrize("name", ["evolution", "terms", "reading"])
def test_a_part_measures_something_in_its_short_form(name, tmp_path):
    if name == "evolution":
        pytest.importorskip("pyoperon")
    (part,) = (part for part in page.PARTS if part.name == name)
    numbers = json.loads(json.dumps(part.measure(Effort(is_short=True))))
    assert "| --- |" in part.show(numbers, tmp_path)


def test_sizes_of_the_growth_are_those_that_were_asked_for():
    spans = {kind: (sizes[0], sizes[-1]) for kind, sizes in growth_part.SIZES.items()}
    assert spans == {
        "points": (100, 10**6), "inputs": (2, 64), "library": (10, 10**4), "latents": (1, 8)
    }  # fmt: skip


def test_the_distorted_latent_is_an_invertible_function_of_the_plain_one():
    values = np.sort(np.random.default_rng(0).normal(size=100))
    assert (np.diff(others_part.distorted(values)) > 0).all()
