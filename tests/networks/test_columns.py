"""Reading some columns of a table, which stopped new users: wrt=["A", "dT"] was refused."""

import numpy as np
import pandas as pd
import pytest

import closedform as cf
from closedform.errors import ExtractionError
from closedform.networks.samples import HELD_VARY

NAMES = ["steel", "A", "dT", "d"]


def inputs() -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.column_stack([rng.integers(0, 2, 300), rng.uniform(1, 2, (300, 3))]).astype(float)


def heat(x: np.ndarray) -> np.ndarray:
    return (1 + 3 * x[:, 0]) * x[:, 1] * x[:, 2] / x[:, 3]


@pytest.mark.parametrize("wrt", [["A", "dT", "d"], [1, 2, 3], np.s_[1:], np.array([1, 2, 3])])
@pytest.mark.parametrize("is_table", [True, False])
def test_columns_by_name_place_or_slice(wrt, is_table) -> None:
    data = pd.DataFrame(inputs(), columns=NAMES) if is_table else inputs()
    names = None if is_table else NAMES
    field = cf.extract_field(heat, data, 0, names=names, wrt=wrt, batched=True)
    assert field.names == ("A", "dT", "d")
    assert np.allclose(field.points, inputs()[:, 1:])
    ratio = field.directions[:, 0, 0] / field.directions[:, 1, 0]
    assert np.allclose(ratio, field.points[:, 1] / field.points[:, 0])


def test_a_column_that_does_not_exist_gets_a_suggestion() -> None:
    with pytest.raises(ExtractionError, match="did you mean 'steel'"):
        cf.extract_field(heat, pd.DataFrame(inputs(), columns=NAMES), 0, wrt=["stele"])
    with pytest.raises(ExtractionError, match=r"did you mean 'steel'\? The columns are steel, A"):
        cf.extract_field(heat, inputs(), 0, names=NAMES, wrt=["A", "stele"])
    with pytest.raises(ExtractionError, match=r"the inputs are 0\. .* as names="):
        cf.extract_field(heat, inputs(), 0, wrt=["steel"])
    with pytest.raises(ExtractionError, match="there is no column 7"):
        cf.extract_field(heat, inputs(), 0, wrt=[1, 7])


def test_phi_is_tested_within_each_held_value() -> None:
    """An exact law was called approximate because its latent depends on a held category too."""
    field = cf.extract_field(heat, inputs(), 0, names=NAMES, wrt=["A", "dT", "d"])
    assert field.latents is not None
    assert field.held is not None
    assert set(field.held.tolist()) == {0.0, 1.0}
    assert "2 different values" in field.notes[-1]
    answer = cf.verify("A*dT/d", field, rivals=None, rng=0)
    assert answer.verdict.status == "verified"
    assert "by values" in answer.explain()
    assert answer.phi is None  # there are two


def test_a_text_column_is_named() -> None:
    """A table with one gave 'Input 0 holds object'."""
    table = pd.DataFrame(inputs(), columns=NAMES).assign(material="brass")
    with pytest.raises(ExtractionError, match="Column 'material' of the table holds 'brass'"):
        cf.extract_field(heat, table, 0)
    numbers = pd.DataFrame(inputs(), columns=NAMES).astype({"A": object})
    assert cf.extract_field(heat, numbers, 0).names == tuple(NAMES)


def test_held_inputs_that_do_not_vary_cost_nothing() -> None:
    data = inputs()
    data[:, 0] = 1
    field = cf.extract_field(heat, data, 0, names=NAMES, wrt=["A", "dT", "d"])
    assert field.latents is not None
    assert HELD_VARY not in field.notes


def test_units_of_held_columns_are_left_out() -> None:
    units = {"steel": "1", "A": "m**2", "dT": "K", "d": "m"}
    field = cf.extract_field(heat, inputs(), 0, names=NAMES, wrt=["A", "dT", "d"], units=units)
    assert field.units is not None
    assert list(field.units.inputs) == ["A", "dT", "d"]
