"""Expressions: the language in which concepts are written.

A formula is a `tree` in postfix order; `expression` gives its inputs names. `parse` and `printing`
lead from text and back, `tape` and `kernel` compute values and gradients of many formulas at once,
`operators` is the table of what there is. `legality` says what units allow, `sympy_bridge` makes
LaTeX, and `evaluate` functions and modules of other libraries. Start with `expression`.
"""
