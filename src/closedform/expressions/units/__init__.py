"""Units of inputs: which formulas they allow, and which units fitted constants carry.

In come the units of a field's inputs, read by pint (`units`), and a formula; out comes whether it
is possible, the unit of each constant, and what to say of them (`legality`). `analysis` has the
rules: sums need equal units, functions pure numbers, and an invertible function of the whole is
free. Start with `legality`.
"""
