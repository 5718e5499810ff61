"""A whole layer or model: its neurons' fields are extracted in blocks, each neuron is a task, and
results go to a store.
"""
