"""Expressions: the language in which concepts are written.

A formula is a `tree` in postfix order; `expression` gives its inputs names. `parse` and `printing`
lead from text and back, `tape` and `kernel` compute values and gradients of many formulas at once,
`operators` is the table of what there is. `units` says what may be added to what, and
`sympy_bridge` and `export_functions` make LaTeX, functions and modules. Start with `expression`.
"""
