"""The network that README and pictures show."""

import numpy as np

import closedform as cf
from closedform.example import load_example
from closedform.field.alignment.comparison import field_misalignment


def test_the_network_follows_the_energy_and_not_a_similar_formula():
    network, inputs, names = load_example(500)
    field = cf.extract_field(network, inputs, "latent:0", names=names)
    energy, similar = (
        cf.parse(text, names=list(names))
        for text in ("v**2 + x**2 + x**4/2", "v**2 + 0.954*exp(x**2)")
    )
    assert np.mean(field_misalignment(energy, field)) < 1e-4
    assert np.mean(field_misalignment(similar, field)) > 3e-4
