import json
import subprocess
import sys

import numpy as np
import pytest

import closedform as cf


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "closedform.cli", *map(str, arguments)], capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def fields(tmp_path_factory):
    """A field with a concept, and one without."""
    folder = tmp_path_factory.mktemp("fields")
    rng = np.random.default_rng(0)
    points = rng.uniform(-1.5, 1.5, (800, 2))
    truth = cf.parse("v**2/2 + sin(x)", names=["x", "v"])
    good = cf.GradientField.from_arrays(points, truth.gradient(points), latents=truth(points), names=["x", "v"])
    good.save(folder / "good.npz")
    cf.GradientField.from_arrays(points, rng.normal(size=(800, 2)), names=["x", "v"]).save(folder / "noise.npz")
    return folder


def test_a_field_is_interpreted(fields):
    result = run("interpret", fields / "good.npz", "--json", "--seed", 4, "--out", fields / "r.json", "--budget", 20)
    answer = json.loads(result.stdout)
    assert result.returncode == 0, result.stderr
    assert bool(cf.same_concept(answer["concept"], "v**2/2 + sin(x)", ["x", "v"]))
    assert answer["verdict"] == "verified"
    assert answer["seed"] == 4
    assert answer["names"] == ["x", "v"]
    assert answer["engine"] == "auto"
    assert set(answer) >= {"misalignment", "floor", "complexity", "seconds", "front"}
    assert str(cf.load_interpretation(fields / "r.json").concept) == answer["concept"]


def test_nothing_verified_exits_with_1(fields):
    result = run("interpret", fields / "noise.npz", "--json", "--budget", 2)
    assert result.returncode == 1
    assert json.loads(result.stdout)["verdict"] == "none"


def test_text_shows_the_front(fields):
    result = run("interpret", fields / "good.npz", "--engine", "terms", "--budget", 20)
    assert "verified" in result.stdout
    assert "complexity  misalignment  formula" in result.stdout


@pytest.mark.parametrize("arguments", [("--engine", "term"), ("--rule", "nicest"), ("--budget", 0)])
def test_usage_errors_exit_with_2(fields, arguments):
    result = run("interpret", fields / "good.npz", *arguments)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr


def test_a_missing_field_is_told():
    result = run("interpret", "nowhere.npz")
    assert result.returncode == 2
    assert "nowhere.npz" in result.stderr


def test_a_saved_answer_becomes_a_page(fields):
    run("interpret", fields / "good.npz", "--engine", "terms", "--budget", 5, "--out", fields / "saved.json")
    result = run("report", fields / "saved.json", "--out", fields / "page.html")
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == str(fields / "page.html")
    assert "closedform interpret" in (fields / "page.html").read_text()
    assert run("report", fields / "good.npz", "--out", fields / "other.html").returncode == 2


def test_doctor_finds_the_self_tests_concept():
    result = run("doctor")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "engines: auto, terms, evolution" in result.stdout
    assert "self-test: found" in result.stdout
