import numpy as np
import pytest
from typer.testing import CliRunner

import closedform as cf
from closedform.basics.keywords import KeywordError
from closedform.cli.app import app
from closedform.errors import StorageError
from closedform.sweeping.execution.store import ResultStore
from closedform.sweeping.sweep_result import stored_readings

POINTS = np.random.default_rng(0).uniform(0.5, 1.5, (200, 2))
EFFORT = cf.Effort(terms=100, evaluations=0)


def layer(*coefficients):
    def network(x):
        return np.stack([x[:, 1] + c * x[:, 0] for c in coefficients], axis=1)

    return network


def swept(store, *coefficients, **options):
    return cf.sweep(
        layer(*coefficients),
        POINTS,
        "output",
        names=["n", "a"],
        store=store,
        kind="function",
        effort=EFFORT,
        **options,
    )


def test_a_sweep_gives_families_with_their_constants(tmp_path):
    index = np.geomspace(0.01, 1, 9)
    families = swept(tmp_path / "store", *np.log(index / 0.05)).families(index)
    assert [len(family.labels) for family in families] == [9]
    (curve,) = families[0].curves().values()
    assert curve is not None
    assert curve.verdict.status == "verified"
    assert curve.concept(np.array([[0.1]])) == pytest.approx([np.log(2)], abs=1e-4)


def test_two_stores_are_compared(tmp_path):
    swept(tmp_path / "a", 1.31, 0.47)
    swept(tmp_path / "b", 1.31, 0.58)
    found = cf.compare(tmp_path / "a", tmp_path / "b")
    assert [change.status for change in found.changes] == ["kept", "moved"]
    # print(found) said '1 kept, 1 moved', and not what.
    assert any("moved" in line and "0.47 -> 0.58" in line for line in str(found).splitlines())
    assert str(found).splitlines()[-1] == "1 kept, 1 moved"
    result = CliRunner().invoke(app, ["compare", str(tmp_path / "a"), str(tmp_path / "b")])
    assert result.exit_code == 1
    assert "0.47 -> 0.58" in result.output
    assert "1 kept, 1 moved" in result.output


def test_what_is_the_same_exits_with_0(tmp_path):
    swept(tmp_path / "a", 1.31)
    result = CliRunner().invoke(app, ["compare", str(tmp_path / "a"), str(tmp_path / "a")])
    assert result.exit_code == 0


def test_a_store_without_fields_says_so(tmp_path):
    swept(tmp_path / "a", 1.31, keep_fields=False)
    with pytest.raises(StorageError, match=r"missing|no fields"):
        stored_readings(ResultStore(tmp_path / "a"))


def test_networks_need_a_layer():
    with pytest.raises(KeywordError, match="pass layer="):
        cf.compare(layer(1.0), layer(2.0), POINTS)
