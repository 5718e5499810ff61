import json

import pytest
from typer.testing import CliRunner

from closedform.cli.app import app

ROW = {"name", "dim", "expected", "found", "recovered", "of", "false", "seconds"}


def run(*words: str):
    return CliRunner().invoke(app, ["bench", *words])


def test_json_is_as_designed_and_a_small_system_is_recovered() -> None:
    result = run(
        "--suite",
        "invariants",
        "--track",
        "field",
        "--systems",
        "sir",
        "quadratic-form",
        "--budget",
        "5",
        "--processor",
        "--json",
    )
    answer = json.loads(result.stdout)

    assert set(answer) == {"suite", "systems", "recovered", "of", "false_laws"}
    assert [row["name"] for row in answer["systems"]] == ["sir", "quadratic-form"]
    assert all(set(row) >= ROW for row in answer["systems"])
    assert (answer["suite"], answer["recovered"], answer["of"], answer["false_laws"]) == (
        "invariants",
        2,
        2,
        0,
    )
    assert (answer["systems"][0]["dim"], answer["systems"][0]["expected"]) == (
        2,
        ["i + s - log(s)/2"],
    )
    assert result.exit_code == 0


@pytest.mark.slow
def test_several_invariants_are_read_at_one_degree() -> None:
    answer = json.loads(
        run(
            "--systems", "magnetic", "--noise", "1", "--budget", "4", "--processor", "--json"
        ).stdout
    )

    (row,) = answer["systems"]
    assert (row["recovered"], row["of"], row["false"]) == (2, 2, 0)


def test_controls_claim_nothing() -> None:
    words = [
        "--suite",
        "controls",
        "--track",
        "field",
        "--systems",
        "smooth-2,two-noise-5",
        "--seeds",
        "0",
        "--budget",
        "3",
    ]
    result = run(*words)

    assert result.exit_code == 0
    assert "0 false laws" in result.stdout
    assert result.stdout.count("\n") == 4


def test_speed_reports_the_kernel() -> None:
    answer = json.loads(run("--suite", "speed", "--systems", "kernel", "--json").stdout)

    assert 1e-4 < answer["systems"][0]["seconds"] < 1


@pytest.mark.parametrize(
    "words",
    [
        ["--systems", "siir"],
        ["--seeds", "zero"],
        ["sir"],
        ["--suite", "fast"],
        ["--suite", "speed", "--page", "speed.md"],
        ["--suite", "paper", "--store", "runs", "--page", "speed.md"],
    ],
)
def test_wrong_words_are_usage_errors(words: list[str]) -> None:
    result = run(*words)

    assert result.exit_code != 0
    assert result.stdout == ""
