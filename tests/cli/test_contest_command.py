import json

import numpy as np
import pytest
from typer.testing import CliRunner

import closedform as cf
from closedform.cli.app import app
from closedform.errors import ClosedformError

THEORIES = """
given = ["q"]

[theories]
"total" = "s1 + s2/q**2"
"mixed" = "s1*(1 + a/q) + s2*(1/q**2 + a/q)"

[free]
a = [0.9, 0, 2]
"""


@pytest.fixture
def field(tmp_path):
    points = np.random.default_rng(0).uniform([1, -0.5, -0.5], [4, 0.5, 0.5], (400, 3))
    truth = cf.parse("(s1*(1 + 0.6/q) + s2*(1/q**2 + 0.6/q))*q", names=["q", "s1", "s2"])
    file = tmp_path / "field.npz"
    cf.GradientField.from_arrays(
        points, truth.gradient(points), names=list(truth.names), tangent="none"
    ).save(file)
    return file


def test_theories_in_a_file_are_put_in_order(field, tmp_path):
    theories, out, page = (tmp_path / name for name in ("t.toml", "c.json", "c.html"))
    theories.write_text(THEORIES)
    call = [
        "contest",
        str(field),
        str(theories),
        "--json",
        "--out",
        str(out),
        "--report",
        str(page),
    ]
    result = CliRunner().invoke(app, call)
    assert result.exit_code == 0
    printed = json.loads(result.stdout)
    assert (printed["winner"], printed["given"]) == ("mixed", ["q"])
    assert printed["theories"][0]["constants"]["a"]["value"] == pytest.approx(0.6, abs=1e-4)
    assert json.loads(out.read_text()) == printed
    assert "mixed" in page.read_text()


def test_exit_code_1_says_that_none_is_right(field, tmp_path):
    theories = tmp_path / "t.toml"
    theories.write_text('given = ["q"]\n[theories]\n"total" = "s1 + s2/q**2"\n')
    result = CliRunner().invoke(app, ["contest", str(field), str(theories)])
    assert result.exit_code == 1
    assert "None of them" in result.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[theories", "is not a TOML file"),
        ("free = ['a']", "has no table"),
        ("[theories]\na = 'x'\n[fre]\nb = 1", "has 'fre'"),
    ],
)
def test_a_file_without_theories_is_refused(field, tmp_path, text, message):
    theories = tmp_path / "t.toml"
    theories.write_text(text)
    with pytest.raises(ClosedformError, match=message):
        CliRunner().invoke(app, ["contest", str(field), str(theories)], catch_exceptions=False)
