import json

import numpy as np
import pytest
from typer.testing import CliRunner

import closedform as cf
from closedform.cli.app import app
from closedform.errors import ClosedformError


@pytest.fixture
def field(tmp_path):
    points = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    file = tmp_path / "field.npz"
    cf.GradientField.from_arrays(points, points, names=["x", "y"]).save(file)
    return file


def test_symmetries_are_printed_kept_and_drawn(field, tmp_path):
    out, picture = tmp_path / "s.json", tmp_path / "flow.png"
    asked = ["--json", "--out", str(out), "--picture", str(picture), "--stated", "d_x"]
    result = CliRunner().invoke(app, ["symmetries", str(field), *asked])
    assert result.exit_code == 0
    printed = json.loads(result.stdout)
    assert (printed["dimension"], printed["algebra"]) == (1, "so(2)")
    assert printed["stated"][0]["generator"] == "d_x"
    assert json.loads(out.read_text()) == printed
    assert picture.stat().st_size > 1000


def test_no_symmetry_is_a_no(tmp_path):
    points = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    gradients = np.column_stack([np.cos(points[:, 0]) + points[:, 1], 3 * points[:, 1] ** 2])
    file = tmp_path / "field.npz"
    cf.GradientField.from_arrays(points, gradients).save(file)
    result = CliRunner().invoke(app, ["symmetries", str(file)])
    assert result.exit_code == 1
    assert "No affine symmetry." in result.stdout


def test_a_group_without_inputs_is_refused(field):
    with pytest.raises(ClosedformError, match="a=ax,ay,az"):
        CliRunner().invoke(app, ["symmetries", str(field), "--group", "x"], catch_exceptions=False)
