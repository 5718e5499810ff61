"""Trials that try to break the package, each kind in a module of its own, and the page of what came
of them.
"""
