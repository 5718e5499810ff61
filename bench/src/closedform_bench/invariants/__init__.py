"""InvariantBench: systems with known invariants, controls without any, and the score of what is
read.
"""
