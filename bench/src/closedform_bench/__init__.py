"""Reproduce the paper with closedform, and measure it: ``closedform reproduce`` and ``closedform
bench``.
"""
