"""Formulas that are read from exact and noisy fields and from small networks: the Feynman
equations, and fresh ones.
"""
