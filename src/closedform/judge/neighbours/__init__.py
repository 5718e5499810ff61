"""Neighbours: forms that differ from a formula in one part.

In comes a formula, out come others: a term left out or added, a number made plain or dropped
(`made_forms`), a part exchanged for other functions of the same quantity (`exchanged`). Nothing is
judged here. `same_form` says when two formulas are one but for their numbers.
"""
