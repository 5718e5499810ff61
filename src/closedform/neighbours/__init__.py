"""Neighbours: forms that differ from a formula in one part.

In comes a formula, out come others: a part exchanged, left out or added (`made_forms`,
`factor_forms`), a number made plain or dropped (`variants`). Nothing is judged here. `same_form`
says when two formulas are one but for their numbers.
"""
