"""Equivalence: whether two formulas are the same concept.

In come two formulas and a domain, points or constraints; out comes whether one is an invertible
function of the other there, with the reason and a point that shows a difference. SymPy proves it
(`proof`), and 90 digits at random points decide what it cannot (`precision`). Start with
`same_concept`.
"""
