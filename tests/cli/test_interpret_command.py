import json
from pathlib import Path

import numpy as np
import pytest

import closedform as cf
from closedform.cli.answer_commands import in_a_shell
from closedform.interpretation.answer_text import OUT_OF_TIME


@pytest.fixture(scope="module")
def fields(tmp_path_factory):
    """A field with a concept, and one without."""
    folder = tmp_path_factory.mktemp("fields")
    rng = np.random.default_rng(0)
    points = rng.uniform(-1.5, 1.5, (800, 2))
    truth = cf.parse("v**2/2 + sin(x)", names=["x", "v"])
    good = cf.GradientField.from_arrays(
        points, truth.gradient(points), latents=truth(points), names=["x", "v"]
    )
    good.save(folder / "good.npz")
    cf.GradientField.from_arrays(points, rng.normal(size=(800, 2)), names=["x", "v"]).save(
        folder / "noise.npz"
    )
    return folder


def test_a_field_is_interpreted(command, fields):
    result = command(
        "interpret",
        fields / "good.npz",
        "--json",
        "--seed",
        4,
        "--out",
        fields / "r.json",
        "--budget",
        20,
    )
    answer = json.loads(result.out)
    assert result.code == 0, result.err
    assert bool(cf.same_concept(answer["concept"], "v**2/2 + sin(x)", ["x", "v"]))
    assert answer["verdict"] == "verified"
    assert answer["seed"] == 4
    assert answer["names"] == ["x", "v"]
    assert answer["engine"] == "auto"
    assert set(answer) >= {"misalignment", "floor", "complexity", "seconds", "front"}
    assert str(cf.load_interpretation(fields / "r.json").concept) == answer["concept"]


def test_nothing_verified_exits_with_1(command, fields):
    result = command("interpret", fields / "noise.npz", "--json", "--budget", 2)
    assert result.code == 1
    assert json.loads(result.out)["verdict"] == "none"


def test_the_opposite_of_an_option_is_an_option_too(command, fields):
    """It was taken for a misspelled one."""
    result = command("verify", fields / "good.npz", "v**2/2 + sin(x)", "--no-search", "--json")
    assert result.code == 0, result.err


def test_text_shows_the_front(command, fields):
    result = command("interpret", fields / "good.npz", "--engine", "terms", "--budget", 20)
    assert "verified" in result.out
    assert "complexity  misalignment  formula" in result.out


@pytest.mark.parametrize(("name", "step"), [("good", "--report page.html"), ("noise", "next:")])
def test_the_next_step_in_a_shell_needs_no_python(command, fields, name, step):
    result = command("interpret", fields / f"{name}.npz", "--budget", 3)
    told = result.out.splitlines()[-1]
    assert step in told
    assert "answer." not in told


def test_a_search_that_ran_out_of_time_asks_for_a_larger_budget():
    assert in_a_shell(f"next: {OUT_OF_TIME}") == "next: The search ran out of time; raise --budget."


@pytest.mark.parametrize("arguments", [("--engine", "term"), ("--rule", "nicest"), ("--budget", 0)])
def test_usage_errors_exit_with_2(command, fields, arguments):
    result = command("interpret", fields / "good.npz", *arguments)
    assert result.code == 2


def test_a_missing_field_is_told(command):
    result = command("interpret", "nowhere.npz")
    assert result.code == 2
    assert "nowhere.npz" in result.err


def test_a_saved_answer_becomes_a_page(command, fields):
    command(
        "interpret",
        fields / "good.npz",
        "--engine",
        "terms",
        "--budget",
        5,
        "--out",
        fields / "saved.json",
    )
    result = command("report", fields / "saved.json", "--out", fields / "page.html")
    assert result.code == 0, result.err
    assert result.out.strip() == str(fields / "page.html")
    assert "closedform interpret" in (fields / "page.html").read_text()
    assert command("report", fields / "good.npz", "--out", fields / "other.html").code == 2


def test_doctor_compiles_ahead_and_says_where(command):
    result = command("doctor", "--warm")
    assert result.code == 0, result.err
    assert result.out.startswith("ready in ")
    folder = result.out.strip().split("machine code in ")[1]
    assert any(Path(folder).rglob("*.nbi"))


def test_doctor_finds_the_self_tests_concept(command):
    result = command("doctor")
    assert result.code == 0, result.out + result.err
    assert "engines: auto, terms, evolution" in result.out
    assert "self-test: found" in result.out
