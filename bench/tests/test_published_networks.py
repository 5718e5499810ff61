"""Inputs are tested everywhere, networks where their packages are installed."""

from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest
import torch

import closedform as cf
from closedform_bench.published_networks import PUBLISHED


@pytest.mark.parametrize("network", PUBLISHED.values(), ids=PUBLISHED)
def test_inputs_lie_in_their_ranges(network):
    low, high = np.array(network.low), np.array(network.high)
    inputs = network.inputs()
    assert inputs.shape[1] == len(network.names) == len(low) == len(high)
    assert (inputs >= low).all()
    assert (inputs <= high).all()
    np.testing.assert_array_equal(inputs, network.inputs())


def test_the_lift_follows_incidence_and_camber():
    foil = PUBLISHED["NeuralFoil, lift"]
    try:
        assert foil.version
    except PackageNotFoundError:
        pytest.skip("needs neuralfoil")
    inputs = torch.tensor(foil.inputs()[:200])
    field = cf.extract_field(foil.load(), inputs, 0, names=foil.names, tangent="none", rng=0)
    assert (field.directions[:, 0] > 0).all()
    assert np.median(field.directions[:, 1]) > 0.8
