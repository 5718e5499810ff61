"""Write the field of a known concept: ``python .ci/saved_field.py FIELD.npz``."""

import sys

import numpy as np

import closedform as cf

points = np.random.default_rng(0).uniform(-1.5, 1.5, (800, 2))
energy = cf.parse("v**2/2 + sin(x)", names=["x", "v"])
field = cf.GradientField.from_arrays(
    points, energy.gradient(points), latents=np.tanh(energy(points)), names=["x", "v"]
)
field.save(sys.argv[1])
