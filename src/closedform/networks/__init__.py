"""Networks: from a neuron of a trained network to points and gradients.

Importing this package imports neither torch nor jax; each source loads its own framework when it is
used.
"""
