"""Replacing: the formula back in the network, which is what an answer's `replace_in` does.

In come an answer and its network, out comes a copy with phi(formula) in the neurons' place, whose
numbers can be trained, and what that costs. `phi_fit` fits phi as a formula, a spline or
polynomials. Start with `replace_stage`.
"""

from closedform.reading.replacing import replace_stage

__all__ = ["replace_stage"]
