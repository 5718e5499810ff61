"""Neighbours: forms that differ from a formula in one part.

In comes a formula, out come others: a term left out or added (`made_forms`), a part exchanged
(`places` finds the parts, `exchanged` the functions), a number made plain or dropped (`variants`).
Nothing is judged here. `same_form` says when two formulas are one but for their numbers.
"""
