"""Networks: from a neuron of a trained network to points and gradients.

In come a network of any framework and data, out comes a field. `extract` finds out what the network
is, and `torch_source`, `jax_source`, `function_source` and `onnx_network` compute its values and
gradients; `picking` and `options` say which neuron, and with respect to what. Importing this
package imports neither torch nor jax. Start with `extract`.
"""
