"""Alignment: how well the gradient of a candidate points where the network's gradient points."""
