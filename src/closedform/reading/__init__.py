"""Readings: search, select and verify, one after the other.

`one_field` reads one field, `network` a neuron, `several_latents` and `several_networks` several at
once; `alike` reads sums over inputs that are alike, `laws` finds what motions conserve, `theories`
holds contests of stated formulas, `curve_reading` reads a curve, `replacing` puts a formula back
into its network, and `estimator` speaks scikit-learn. The three steps are composed here, and
nothing is added to the method. Start with `one_field`.
"""
