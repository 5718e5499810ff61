"""Sweeps: a whole layer or model, neuron by neuron.

Fields are extracted in blocks (`layer_extraction`), each neuron is a task (`neuron_task`), and
results go to a store that may be killed at any moment. `execution` runs tasks in processes, on Dask
or on Ray, and knows nothing of networks; `family` looks for formulas that neurons share. Start with
`sweep`.
"""
