import json
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import closedform as cf
from closedform.cli.app import app
from closedform.errors import ModelFileError
from closedform.networks.siamese_training import SiameseOptions, build_siamese
from closedform_bench.commands.reproduce import network_cache, read_numbers
from closedform_bench.paper import network_reading, reproduction
from closedform_bench.paper.experiment_catalogue import EXPERIMENTS
from closedform_bench.paper.reproduction import ReproductionSettings, reproduce, summary

KEYS = {
    "number", "name", "expected", "found", "equivalence", "verdict", "misalignment",
    "search_seconds", "train_seconds",
    "direct",
}  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory):
    out = tmp_path_factory.mktemp("results")
    words = ["reproduce", "11", "--budget", "4", "--baseline", "--json", "--out", str(out)]
    # test_direct_regression.py runs the regressor; scoring a whole front of it
    # takes long.
    front = [
        cf.parse(text, EXPERIMENTS[11].inputs)
        for text in ("3*x1 - 0.2*v1", "7 - 31*(x1*v2 - 1.01*x2*v1)")
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reproduction, "regress_latent", lambda *_, **__: front)
        return CliRunner().invoke(app, words), out


def test_json_is_as_designed(run) -> None:
    result, _ = run
    answer = json.loads(result.stdout)

    assert set(answer) == {"experiments", "recovered", "of", "direct_recovered"}
    (row,) = answer["experiments"]
    assert set(row) == KEYS
    assert set(row["direct"]) == {"found", "equivalence"}
    assert (row["number"], row["expected"]) == (11, "x1*v2 - x2*v1")
    assert row["equivalence"] == "proved"
    assert answer["recovered"] == answer["of"] == 1
    assert row["direct"]["equivalence"] == "approximate"
    assert answer["direct_recovered"] == 1
    assert 0 < row["search_seconds"] < 15
    assert row["train_seconds"] > 60
    assert result.exit_code == 0


def test_tables_figures_and_reports_are_written(run) -> None:
    _, out = run

    assert {file.name for file in out.iterdir()} == {
        "results.json",
        "results.csv",
        "results.md",
        "figures",
        "reports",
    }
    assert {file.name for file in (out / "figures").iterdir()} >= {
        "correlation.png", "pareto.png", "direct.png", "experiment_11_correlation.png",
        "experiment_11_pareto.png",
    }  # fmt: skip
    table = pd.read_csv(out / "results.csv")
    assert set(table.columns) == KEYS - {"direct"} | {"direct_found", "direct_equivalence"}
    assert bool(
        cf.same_concept(str(table["found"][0]), str(table["expected"][0]), ["x1", "x2", "v1", "v2"])
    )
    assert "| 11 | `x1*v2 - x2*v1` |" in (out / "results.md").read_text()
    assert "Experiment 11" in (out / "reports" / "experiment_11.html").read_text()


def test_a_missing_network_is_told_and_not_recovered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(number: int) -> None:
        raise ModelFileError(f"There is no file of experiment {number}.")

    monkeypatch.setattr(network_reading, "load_checkpoint", missing)
    outcome = reproduce(3, ReproductionSettings("checkpoint", tmp_path))
    row = outcome.row()

    assert set(row) == KEYS
    assert (row["found"], row["equivalence"], row["verdict"]) == (None, "different", "none")
    assert summary([outcome])["recovered"] == 0
    result = CliRunner().invoke(app, ["reproduce", "3"])
    assert result.exit_code == 1
    assert "no file of experiment 3" in result.stderr
    assert "recovered 0 of 1" in result.stdout


def test_numbers() -> None:
    assert read_numbers(["all"]) == list(range(1, 13))
    assert read_numbers(["3", "1", "3"]) == [3, 1]
    for words in (["13"], ["zero"], ["all", "1"]):
        result = CliRunner().invoke(app, ["reproduce", *words])
        assert result.exit_code == 2
        assert "from 1 to 12" in result.stderr


def test_networks_are_kept_by_profile_and_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")

    assert network_cache("quick", 2) == Path("cache") / "closedform" / "networks" / "quick-seed2"


def test_only_rectified_networks_are_smoothed() -> None:
    assert network_reading.is_rectified(build_siamese(SiameseOptions(hidden=(4,)), 2))
    assert not network_reading.is_rectified(
        build_siamese(SiameseOptions(hidden=(4,), activation="elu"), 2)
    )
