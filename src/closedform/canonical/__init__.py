"""Canonical forms: one plain spelling for all formulas of the same concept, and proposals of
plainer numbers.
"""
