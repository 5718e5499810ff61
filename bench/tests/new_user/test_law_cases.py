"""The networks of a new user: truths that hold for the data they are trained on."""

import numpy as np
import pytest

import closedform as cf
from closedform_bench.new_user import laws


@pytest.fixture
def targets(monkeypatch):
    """What networks would be trained on; nothing is trained."""
    seen = []

    def remember(inputs, values, seed):
        seen.append((inputs, values))

    monkeypatch.setattr(laws, "regression", remember)
    return seen


@pytest.mark.parametrize("name", [name for name in laws.LAW_CASES if name != "exact period"])
def test_the_truth_is_what_the_network_is_trained_on(name, targets) -> None:
    case = laws.LAW_CASES[name](0)
    assert case.truth is not None
    inputs, values = targets[0]
    truth = cf.parse(case.truth, names=list(case.names))(inputs)
    ranks = [np.argsort(np.argsort(one)) for one in (truth, values)]
    # The pressure drops have 3% of noise.
    assert abs(np.corrcoef(ranks)[0, 1]) > 0.99


def test_the_pressure_drop_of_logarithms_has_ten_inputs_of_which_five_matter(targets) -> None:
    case = laws.pipe_of_logarithms(0)
    assert len(case.names) == 10
    assert case.truth is not None
    assert sum(name in case.truth for name in case.names) == 5
