"""Execution: many tasks on many machines; knows nothing about neurons.

In come tasks, which are names of functions and plain data (`task`); out come records in a store
that any number of processes may write (`store`, `parts`), and a table of them (`table`). `workers`
are where tasks run, `supervisor` and `child` end those that go too far, and `tally` tells how far
it is. Start with `coordinator`.
"""
