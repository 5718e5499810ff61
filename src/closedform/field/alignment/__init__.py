"""Alignment: how well the gradient of a candidate points where the network's gradient points.

In come a field and formulas, out come misalignments, fitted constants (`constant_fit`, `refit`) and
the coefficients of sums (`eigen`). `comparison` judges thousands of formulas at once, compiled.
Every room compares through this one, so that 'perfect' and 'same' mean one thing (`tolerances`).
Start with `misalignment`.
"""
