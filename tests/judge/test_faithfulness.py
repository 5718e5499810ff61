import numpy as np
import pytest

from closedform.judge.phi import compare_outputs

OUTPUTS = np.array([[0.0], [1.0], [2.0], [5.0]])
MEAN = np.full((4, 1), 2.0)


def test_changes_are_told_in_units_of_the_outputs_spread():
    found = compare_outputs(OUTPUTS, OUTPUTS + 0.5, MEAN)
    assert found is not None
    # The squares around the mean, 4 + 1 + 0 + 9, are 3.5 each.
    assert found.change == pytest.approx(0.5 / np.sqrt(3.5))
    assert found.change_by_mean == pytest.approx(1.0)
    assert found.explained == pytest.approx(1 - 0.25 / 3.5)
    assert found.n_points == 4


def test_outputs_that_the_neuron_does_not_reach_say_nothing():
    assert compare_outputs(OUTPUTS, OUTPUTS, OUTPUTS) is None
    assert compare_outputs(OUTPUTS, OUTPUTS, OUTPUTS + 1e-12) is None
    assert compare_outputs(np.ones((4, 1)), np.ones((4, 1)), MEAN) is None
