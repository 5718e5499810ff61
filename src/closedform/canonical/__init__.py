"""Canonical: one plain spelling for all formulas of one concept.

In comes a formula, out comes the plainest of its invertible functions, with numbers as people write
them. `form` applies the moves (`peel`, `roots_of_sums`) to sums of products (`algebra`) until
nothing changes; `snap` proposes plainer numbers. `equivalence` says whether two formulas are one
concept, by proof or at many digits. Start with `form`.
"""
