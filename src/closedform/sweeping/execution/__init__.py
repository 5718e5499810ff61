"""Many tasks on many machines: keys, a store of results, workers and their faults. Knows nothing
about neurons.
"""
