"""What a sweep shows of itself."""

import pytest
from typer.testing import CliRunner

from closedform.cli.app import app
from closedform.sweeping.execution.store import ResultStore
from closedform.sweeping.sweep_result import Sweep


@pytest.fixture
def nothing_verified() -> Sweep:
    store = ResultStore("memory://nothing-verified")
    for place in range(3):
        row = {"neuron": f"hidden:{place}", "status": "done", "verdict": "none", "complexity": 5}
        row |= {"misalignment": 0.4, "concept": f"0.1234567890123*x + {place + 1}*v"}
        store.put(f"n{place}", row)
    return Sweep(store, {"neurons": 3, "none": 3}, 1.0)


def test_a_sweep_without_a_formula_shows_its_table_in_a_notebook(nothing_verified) -> None:
    page = nothing_verified._repr_html_()
    assert all(f"hidden:{place}" in page for place in range(3))
    assert "3 none" in page


def test_a_sweep_without_a_formula_shows_its_table_in_a_terminal(
    nothing_verified, monkeypatch, tmp_path
) -> None:
    """It used to print 'No neuron.' and nothing about what it had looked at."""
    monkeypatch.setattr("closedform.sweeping.sweep.sweep", lambda *_, **__: nothing_verified)
    monkeypatch.setattr("closedform.networks.model_files.load_network", lambda *_, **__: None)
    monkeypatch.setattr("closedform.networks.model_files.load_inputs", lambda _: (None, None))
    files = [tmp_path / name for name in ("net.pt2", "data.npz")]
    for file in files:
        file.write_bytes(b"")
    said = CliRunner().invoke(
        app,
        ["sweep", *map(str, files), "--layer", "hidden", "--store", "memory://nothing-verified"],
    )
    assert said.exit_code == 1, said.exception
    assert all(f"hidden:{place}" in said.stdout for place in range(3))
    assert "0.12346*x" in said.stdout
