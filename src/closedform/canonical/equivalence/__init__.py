"""Equivalence: whether two formulas are the same concept."""
