"""Formulas that are read from exact and noisy fields and from small networks: the Feynman
equations, fresh ones, fresh ones of other forms, and those of textbooks.
"""
