from pathlib import Path

import numpy as np
import pytest

from closedform.sweeping.execution.store import ResultStore
from closedform_bench.invariants.baselines import mixed_latents, read_implicitly
from closedform_bench.invariants.bench_task import BenchTask, run_tasks
from closedform_bench.invariants.leaderboard import every_system, leaderboard
from closedform_bench.invariants.system_catalogue import SYSTEMS


def rows_of(name: str, recovered: int, false: int = 0, **more):
    return {
        "name": name,
        "recovered": recovered,
        "of": 2,
        "false": false,
        "seconds": 2.0,
        "unclaimed": [],
        "seed": 0,
        **more,
    }


def record(system: str, row: dict, **content):
    task = {
        "suite": "invariants",
        "track": "field",
        "tool": "closedform",
        "system": system,
        "seed": 0,
        "noise": 0.0,
        "budget": 60.0,
    }
    return {**task, **content, "row": row}


def test_what_is_in_the_store_is_not_done_again(tmp_path: Path) -> None:
    store, calls = ResultStore(tmp_path), []

    def make(seed: int) -> BenchTask:
        content = {
            "suite": "invariants",
            "track": "field",
            "system": "sir",
            "seed": seed,
            "noise": 0.0,
            "budget": 1.0,
        }
        return BenchTask(content, lambda: (calls.append(seed), rows_of("sir", seed))[1])  # type: ignore[arg-type,return-value]

    first = list(run_tasks([make(0), make(1)], store))
    again = list(run_tasks([make(0), make(1), make(2)], store))
    assert calls == [0, 1, 2]
    assert again[:2] == first


def test_the_tables_have_totals_systems_controls_and_causes() -> None:
    records = [
        record("sir", rows_of("sir", 1)),
        record("kepler", rows_of("kepler", 0, 1)),
        record("kepler", rows_of("kepler", 1, cause="field too noisy"), track="network"),
        record("sir", rows_of("sir", 0, cause="field too noisy"), track="network"),
        record("kepler", rows_of("kepler", 2), tool="implicit regression", track="pairs"),
        record(
            "lorenz",
            rows_of("lorenz", 0, unclaimed=[{"why": "verified, but no law"}]),
            suite="controls",
            track="network",
        ),
    ]
    tables = leaderboard(records)
    assert "| closedform | field, 0 degrees | 1 of 2 (50%) | 1 of 4 (25%) | 1 | 2 |" in tables
    assert "| network | 1 | 0 | 1 |" in tables
    assert "| field too noisy | 2 | kepler, **sir** |" in tables
    long = every_system(records)
    assert "| kepler | 4 | 3 | 0 (1 false) | 1 | 2 |" in long
    assert "| lorenz | network | 1 | 0 | 1 |" in long


def test_implicit_regression_finds_polynomials_and_claims_nothing_false(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from closedform_bench.invariants import baselines

    monkeypatch.setattr(baselines, "N_PAIRS", 500)
    row = read_implicitly(SYSTEMS["isotropic"], 0)
    assert (row["recovered"], row["of"], row["false"]) == (3, 3, 0)
    assert read_implicitly(SYSTEMS["elliptic"], 0)["false"] == 0


def test_latents_of_the_baseline_determine_the_invariants() -> None:
    system = SYSTEMS["rock-paper-scissors"]
    rng = np.random.default_rng(0)
    points = system.points(500, rng)
    latents = mixed_latents(system, points, rng)
    assert latents.shape == (500, 2)
    order = np.argsort(system.truths()[0](points))
    assert abs(np.corrcoef(latents[order, 0], np.arange(500))[0, 1]) < 0.999
