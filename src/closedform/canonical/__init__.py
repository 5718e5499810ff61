"""Canonical: one plain spelling for all formulas of one concept.

In comes a formula, out comes the plainest of its invertible functions, with numbers as people write
them. `form` applies the moves of `peel` to sums of products (`algebra`) until nothing changes;
`proposals` makes plainer variants for others to judge. `same_concept` says whether two formulas are
one concept: whether their gradients are `parallel` all over a `domain`. Start with `form`.
"""
