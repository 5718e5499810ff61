import json

import numpy as np
import pytest
from typer.testing import CliRunner

from closedform.cli.app import app
from closedform.errors import ClosedformError


@pytest.fixture
def pairs(tmp_path):
    rng = np.random.default_rng(0)
    radius, angle = rng.uniform(1, 2, (400, 1)), rng.uniform(0, 6.3, (400, 2))
    file = tmp_path / "pairs.npz"
    array = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=2)
    np.savez(file, pairs=array, names=["x", "y"])
    return file


def test_a_law_is_printed_and_kept(pairs, tmp_path):
    out = tmp_path / "laws.json"
    result = CliRunner().invoke(
        app, ["conserved", str(pairs), "--json", "--out", str(out), "--budget", "600"]
    )
    assert result.exit_code == 0
    printed = json.loads(result.stdout)
    assert printed["laws"][0]["concept"] == "x**2 + y**2"
    assert (printed["lower"], printed["names"]) == (1, ["x", "y"])
    assert json.loads(out.read_text()) == printed


def test_a_file_without_a_motion_is_refused(tmp_path):
    file = tmp_path / "no.npz"
    np.savez(file, inputs=np.zeros(3))
    with pytest.raises(ClosedformError, match="save trajectories"):
        CliRunner().invoke(app, ["conserved", str(file)], catch_exceptions=False)
