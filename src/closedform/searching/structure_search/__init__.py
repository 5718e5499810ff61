"""The engine ``structure``: inputs that enter through one combination are read as a field of their
own and replaced by one quantity, until one formula is left.

In comes a field of one latent, out come formulas, and which inputs enter through which
combination. `structure_run` is one search, `decomposition_beam` follows states of fewer and fewer
quantities, and `kinds` is the table of what merges them. Start with `quantities`, then `kinds`.
"""
